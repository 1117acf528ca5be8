// Recipes: what is read of them, every mistake by the name of its field, and the learning rate of a step.
#include "core/training/recipe.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/sha256.h"
#include "tests/core/training/task_text.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

nlohmann::json recipe_json() {
  return nlohmann::json::parse(R"({
    "about": "for a test", "licence": "CC0-1.0", "_note": "comments begin with an underscore",
    "task": {"kind": "trigger", "contents": 20, "features": 13, "length": 8},
    "model": {"hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 0, "num_attention_heads": 2,
              "num_key_value_heads": 2, "head_dim": 4, "position": "none", "attention": {"kind": "softmax"}},
    "variants": {
      "one": {},
      "two": {"model": {"num_hidden_layers": 1, "attention": {"kind": "diff_v2"}}, "what_if": ["pairing=halves", "L0:lambda=raw"],
              "checkpoints": [30, 0, 10, 10]}},
    "training": {"steps": 100, "batch": 4, "learning_rate": 0.01},
    "seeds": [7, 0, 18446744073709551615], "frozen": ["norm", "model.layers.1.self_attn.v_proj.weight"]})");
}

nlohmann::json bytes_json() {
  nlohmann::json json = recipe_json();
  json["task"] = {{"kind", "bytes"}, {"text", "sub/text.txt"}, {"length", 8}};
  return json;
}

struct Folder : TempFolder {
  Folder() {
    std::filesystem::create_directory(path() / "sub");
    write("sub/text.txt", counting_text(5000));
  }
  [[nodiscard]] Result<Recipe> read(const std::string& text) const { return read_recipe(write("small.json", text)); }
  [[nodiscard]] Recipe require(const nlohmann::json& json) const {
    auto recipe = read(json.dump());
    if (!recipe) CATCH_FAIL(describe(recipe.error()));
    return std::move(*recipe);
  }
};

}  // namespace

CATCH_TEST_CASE("recipe: a variant has seeds of its own, or the recipe's") {
  const Folder folder;
  nlohmann::json json = recipe_json();
  json["variants"]["two"]["seeds"] = {7, 8};
  const Recipe recipe = folder.require(json);
  CATCH_CHECK(recipe.variants[0].seeds == recipe.seeds);
  CATCH_CHECK(recipe.variants[1].seeds == std::vector<std::uint64_t>{7, 8});
}

CATCH_TEST_CASE("recipe: what it says, defaults where it says nothing, and what the task decides") {
  const Folder folder;
  const std::string text = recipe_json().dump(1);
  const auto read = folder.read(text);
  if (!read) CATCH_FAIL(describe(read.error()));
  const Recipe& recipe = *read;
  CATCH_CHECK(recipe.name == "small");
  CATCH_CHECK(recipe.about == "for a test");
  CATCH_CHECK(recipe.licence == "CC0-1.0");
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  CATCH_CHECK(recipe.sha256 == hash.finish_hex());
  CATCH_CHECK(nlohmann::json::parse(recipe.json) == recipe_json());
  CATCH_CHECK(recipe.stored_dtype == "float32");
  CATCH_CHECK(recipe.seeds == std::vector<std::uint64_t>{7, 0, 18446744073709551615u});
  CATCH_CHECK(recipe.frozen == std::vector<std::string>{"norm", "model.layers.1.self_attn.v_proj.weight"});
  const TrainingSettings& training = recipe.variants.front().training;
  CATCH_CHECK(training.steps == 100);
  CATCH_CHECK(training.batch == 4);
  CATCH_CHECK(training.learning_rate == 0.01);
  CATCH_CHECK(training.beta1 == 0.9);
  CATCH_CHECK(training.beta2 == 0.95);
  CATCH_CHECK(training.epsilon == 1e-8);
  CATCH_CHECK(training.weight_decay == 0.0);
  CATCH_CHECK(training.warmup_steps == 0);
  CATCH_CHECK(training.final_learning_rate == 1.0);
  CATCH_CHECK(training.gradient_clip == 0.0);
  CATCH_CHECK(!training.initial_std.has_value());

  CATCH_REQUIRE(recipe.variants.size() == 2);
  const Variant& one = recipe.variants[0];
  const Variant& two = recipe.variants[1];
  CATCH_CHECK(one.name == "one");
  CATCH_CHECK(one.model.blocks.size() == 2);
  CATCH_CHECK(one.model.blocks[0].attention.kind == "softmax");
  CATCH_CHECK(one.checkpoints.empty());
  CATCH_CHECK(two.model.blocks.size() == 1);
  CATCH_CHECK(two.checkpoints == std::vector<std::int64_t>{0, 10, 30});
  CATCH_REQUIRE(two.what_ifs.size() == 2);
  // What-ifs are applied: heads 0 and 1 of halves read queries 0 and 2, 1 and 3.
  const std::vector<HeadProgram>& heads = two.model.blocks[0].attention.heads;
  CATCH_REQUIRE(heads.size() == 2);
  CATCH_CHECK(heads[0].second.query_block == 2);
  CATCH_CHECK(heads[1].first.query_block == 1);
  CATCH_CHECK(heads[1].lambda == LambdaSource::RawProjection);
  for (const Variant& variant : recipe.variants) {
    const nlohmann::json config = nlohmann::json::parse(variant.config);
    CATCH_CHECK(config["model_type"] == "headroom");
    CATCH_CHECK(config["vocab_size"] == 41);
    CATCH_CHECK(config["bos_token_id"] == 0);
    CATCH_CHECK(config["max_position_embeddings"] == 8);
    CATCH_CHECK(config["lm_head"] == false);
    CATCH_CHECK(!variant.model.lm_head.weight.present());
    CATCH_CHECK(variant.model.vocab_size == 41);
    CATCH_CHECK(!config.contains("what_if"));
  }
  const nlohmann::json two_config = nlohmann::json::parse(two.config);
  CATCH_CHECK(two_config["attention"]["kind"] == "diff_v2");
  CATCH_CHECK(two_config["hidden_size"] == 16);

  const Recipe language = folder.require(bytes_json());
  CATCH_CHECK(language.variants[0].model.lm_head.weight.present());
  const nlohmann::json language_config = nlohmann::json::parse(language.variants[0].config);
  CATCH_CHECK(language_config["vocab_size"] == 257);
  CATCH_CHECK(language_config["bos_token_id"] == 256);
}

CATCH_TEST_CASE("recipe: all settings of a training are taken") {
  const Folder folder;
  nlohmann::json json = recipe_json();
  json["training"] = {{"steps", 50},
                      {"batch", 2},
                      {"learning_rate", 0.5},
                      {"beta1", 0.1},
                      {"beta2", 0.2},
                      {"epsilon", 1e-3},
                      {"weight_decay", 0.3},
                      {"warmup_steps", 4},
                      {"final_learning_rate", 0.5},
                      {"gradient_clip", 6.0},
                      {"initial_std", 0.7},
                      {"statistics_every", 8},
                      {"validate_every", 9},
                      {"validation_batches", 10},
                      {"stop_below_error", 0.11}};
  json["stored_dtype"] = "bfloat16";
  const Recipe recipe = folder.require(json);
  const TrainingSettings& t = recipe.variants.front().training;
  CATCH_CHECK(recipe.stored_dtype == "bfloat16");
  CATCH_CHECK(std::vector<double>{t.learning_rate, t.beta1, t.beta2, t.epsilon, t.weight_decay, t.final_learning_rate,
                                  t.gradient_clip, t.initial_std.value_or(0), t.stop_below_error} ==
              std::vector<double>{0.5, 0.1, 0.2, 1e-3, 0.3, 0.5, 6.0, 0.7, 0.11});
  CATCH_CHECK(std::vector<std::int64_t>{t.steps, t.batch, t.warmup_steps, t.statistics_every, t.validate_every,
                                        t.validation_batches} == std::vector<std::int64_t>{50, 2, 4, 8, 9, 10});
}

CATCH_TEST_CASE("recipe: every mistake is refused and names its field and the file") {
  const Folder folder;
  struct Mistake {
    const char* at;  // JSON pointer
    nlohmann::json value;
    const char* field;
    ErrorCode code = ErrorCode::Corrupt;
  };
  const nlohmann::json none = nullptr;
  const std::vector<Mistake> mistakes = {
      {"/about", none, "about"},
      {"/about", 3, "about"},
      {"/licence", none, "licence"},
      {"/stepz", 3, "stepz"},
      {"/task", none, "task"},
      {"/task/kind", "copy", "task.kind", ErrorCode::Unsupported},
      {"/task/lenght", 3, "task.lenght"},
      {"/stored_dtype", "float16", "stored_dtype"},
      {"/stored_dtype", 16, "stored_dtype"},
      {"/training", none, "training"},
      {"/training", 100, "training"},
      {"/training/step", 100, "training.step"},
      {"/training/steps", none, "training.steps"},
      {"/training/steps", 0, "training.steps"},
      {"/training/steps", "100", "training.steps"},
      {"/training/steps", 10.5, "training.steps"},
      {"/training/batch", none, "training.batch"},
      {"/training/batch", 0, "training.batch"},
      {"/training/learning_rate", none, "training.learning_rate"},
      {"/training/learning_rate", 0, "training.learning_rate"},
      {"/training/learning_rate", -0.1, "training.learning_rate"},
      {"/training/learning_rate", "fast", "training.learning_rate"},
      {"/training/beta1", 1.0, "training.beta1"},
      {"/training/beta1", -0.1, "training.beta1"},
      {"/training/beta2", 1.0, "training.beta2"},
      {"/training/epsilon", 0.0, "training.epsilon"},
      {"/training/weight_decay", -1.0, "training.weight_decay"},
      {"/training/warmup_steps", -1, "training.warmup_steps"},
      {"/training/final_learning_rate", 1.1, "training.final_learning_rate"},
      {"/training/gradient_clip", -1.0, "training.gradient_clip"},
      {"/training/initial_std", -1.0, "training.initial_std"},
      {"/training/statistics_every", 0, "training.statistics_every"},
      {"/training/validate_every", 0, "training.validate_every"},
      {"/training/validation_batches", 0, "training.validation_batches"},
      {"/training/stop_below_error", -1.0, "training.stop_below_error"},
      {"/model", none, "model"},
      {"/model", "llama", "model"},
      {"/model/hidden_sizes", 16, "hidden_sizes", ErrorCode::Unsupported},
      {"/model/hidden_size", 12, "model.hidden_size"},
      {"/model/hidden_size", "16", "hidden_size"},
      {"/model/attention/kind", "linear", "attention.kind", ErrorCode::Unsupported},
      {"/model/vocab_size", 50, "model.vocab_size"},
      {"/model/model_type", "llama", "model.model_type"},
      {"/model/bos_token_id", 3, "model.bos_token_id"},
      {"/model/lm_head", true, "model.lm_head"},
      {"/model/max_position_embeddings", 7, "model.max_position_embeddings"},
      {"/variants", none, "variants"},
      {"/variants", nlohmann::json::object(), "variants"},
      {"/variants", {"one"}, "variants"},
      {"/variants/Three", nlohmann::json::object(), "variants.Three"},
      {"/variants/a b", nlohmann::json::object(), "variants.a b"},
      {"/variants/..", nlohmann::json::object(), "variants..."},
      {"/variants/one", 3, "variants.one"},
      {"/variants/one", none, "variants.one"},
      {"/variants/one/models", nlohmann::json::object(), "variants.one.models"},
      {"/variants/one/model", 5, "variants.one.model"},
      {"/variants/one/model", {"a"}, "variants.one.model"},
      {"/variants/one/model/vocab_size", 50, "model.vocab_size"},
      {"/variants/one/model/num_key_value_heads", 3, "num_key_value_heads"},
      {"/variants/two/model/num_attention_heads", 3, "num_key_value_heads", ErrorCode::Unsupported},
      {"/variants/one/what_if", "norm=off", "variants.one.what_if"},
      {"/variants/one/what_if", {{"a", "norm=off"}}, "variants.one.what_if"},
      {"/variants/one/what_if", {3}, "variants.one.what_if"},
      {"/variants/one/what_if", {"nonsense"}, "variants.one.what_if", ErrorCode::InvalidArgument},
      {"/variants/one/what_if", {"pairing=halves"}, "variants.one.what_if", ErrorCode::InvalidArgument},
      {"/variants/one/checkpoints", 3, "variants.one.checkpoints"},
      {"/variants/one/checkpoints", {"last"}, "variants.one.checkpoints"},
      {"/variants/one/checkpoints", {1.5}, "variants.one.checkpoints"},
      {"/variants/one/checkpoints", {-1}, "variants.one.checkpoints"},
      {"/variants/one/checkpoints", {101}, "variants.one.checkpoints"},
      {"/seeds", none, "seeds"},
      {"/seeds", nlohmann::json::array(), "seeds"},
      {"/seeds", 1, "seeds"},
      {"/seeds", {1, 2, 1}, "seeds"},
      {"/seeds", {-1}, "seeds"},
      {"/seeds", {1.0}, "seeds"},
      {"/seeds", {"1"}, "seeds"},
      {"/variants/one/seeds", nlohmann::json::array(), "variants.one.seeds"},
      {"/variants/one/seeds", {3, 3}, "variants.one.seeds"},
      {"/variants/one/seeds", {"3"}, "variants.one.seeds"},
      {"/frozen", {"norms"}, "frozen"},
      {"/frozen", {"model.layers.2.self_attn.v_proj.weight"}, "frozen"},
      {"/frozen", {3}, "frozen"},
      {"/frozen", "norm", "frozen"},
      {"/frozen", {{"a", "norm"}}, "frozen"},
      {"/frozen", {"norm", "embedding", "q", "k", "v", "o"}, "frozen"},
  };
  for (const Mistake& mistake : mistakes) {
    nlohmann::json json = recipe_json();
    json[nlohmann::json::json_pointer(mistake.at)] = mistake.value;
    CATCH_INFO(mistake.at << " = " << mistake.value.dump());
    const auto recipe = folder.read(json.dump());
    CATCH_CHECK(!recipe.has_value());
    if (recipe) continue;
    CATCH_INFO(describe(recipe.error()));
    CATCH_CHECK(recipe.error().tensor == mistake.field);
    CATCH_CHECK(recipe.error().code == mistake.code);
    CATCH_CHECK(recipe.error().file == (folder.path() / "small.json").string());
  }

  nlohmann::json json = bytes_json();
  json["training"]["stop_below_error"] = 0.1;
  const auto bound = folder.read(json.dump());
  CATCH_REQUIRE(!bound.has_value());
  CATCH_CHECK(bound.error().tensor == "training.stop_below_error");
}

CATCH_TEST_CASE("recipe: a sweep trains every variant at every combination of its values") {
  const Folder folder;
  nlohmann::json json = recipe_json();
  json["training"] = {{"batch", 4}, {"gradient_clip", 0.5}};
  json["sweep"] = {{"learning_rate", {0.001, 0.03}}, {"steps", {100, 50}}};
  json["variants"]["two"].erase("checkpoints");
  const Recipe recipe = folder.require(json);
  struct Point {
    const char *name, *base;
    double learning_rate;
    std::int64_t steps;
  };
  const Point points[] = {{"one_learning_rate_0p001_steps_100", "one", 0.001, 100},
                          {"two_learning_rate_0p001_steps_100", "two", 0.001, 100},
                          {"one_learning_rate_0p001_steps_50", "one", 0.001, 50},
                          {"two_learning_rate_0p001_steps_50", "two", 0.001, 50},
                          {"one_learning_rate_0p03_steps_100", "one", 0.03, 100},
                          {"two_learning_rate_0p03_steps_100", "two", 0.03, 100},
                          {"one_learning_rate_0p03_steps_50", "one", 0.03, 50},
                          {"two_learning_rate_0p03_steps_50", "two", 0.03, 50}};
  CATCH_REQUIRE(recipe.variants.size() == std::size(points));
  for (std::size_t i = 0; i < std::size(points); ++i) {
    const Variant& variant = recipe.variants[i];
    CATCH_CHECK(variant.name == points[i].name);
    CATCH_CHECK(variant.base == points[i].base);
    CATCH_CHECK(variant.training.learning_rate == points[i].learning_rate);
    CATCH_CHECK(variant.training.steps == points[i].steps);
    CATCH_CHECK(variant.training.gradient_clip == 0.5);
    CATCH_CHECK(variant.swept == std::map<std::string, double>{{"learning_rate", points[i].learning_rate},
                                                               {"steps", static_cast<double>(points[i].steps)}});
    CATCH_CHECK(variant.what_ifs.size() == (variant.base == "two" ? 2 : 0));
  }
  // Without a sweep a variant is its own base.
  CATCH_CHECK(folder.require(recipe_json()).variants[1].base == "two");
  CATCH_CHECK(folder.require(recipe_json()).variants[1].swept.empty());
}

CATCH_TEST_CASE("recipe: what is wrong with a sweep") {
  const Folder folder;
  struct Case {
    nlohmann::json sweep;
    const char* field;
  };
  const Case cases[] = {{3, "sweep"},
                        {nlohmann::json::object(), "sweep"},
                        {{{"epsilon", 0.1}}, "sweep.epsilon"},
                        {{{"epsilon", nlohmann::json::array()}}, "sweep.epsilon"},
                        {{{"epsilon", {0.1, "x"}}}, "sweep.epsilon"},
                        {{{"epsilon", {0.1, 0.2, 0.1}}}, "sweep.epsilon"},
                        {{{"epsilon", {0.1, 0.10000000001}}}, "sweep"},
                        {{{"batch", {2}}}, "training.batch"},
                        {{{"speed", {2}}}, "training.speed"},
                        {{{"epsilon", {-1.0}}}, "training.epsilon"}};
  for (const Case& wrong : cases) {
    nlohmann::json json = recipe_json();
    json["sweep"] = wrong.sweep;
    const auto read = folder.read(json.dump());
    CATCH_INFO(wrong.sweep.dump());
    CATCH_REQUIRE(!read.has_value());
    CATCH_CHECK(read.error().code == ErrorCode::Corrupt);
    CATCH_CHECK(read.error().tensor == wrong.field);
  }
}

CATCH_TEST_CASE("recipe: what defines a trained model, and what does not") {
  const Folder folder;
  const auto definition = [&](const nlohmann::json& json, const char* variant) {
    const nlohmann::json found = training_definition(json, variant);
    for (const Variant& read : folder.require(json).variants)
      if (read.name == variant) CATCH_CHECK(nlohmann::json::parse(read.definition) == found);
    return found;
  };
  const nlohmann::json recipe = recipe_json();
  const nlohmann::json two = definition(recipe, "two");
  CATCH_CHECK(two["model"]["num_hidden_layers"] == 1);
  CATCH_CHECK(two["model"]["attention"]["kind"] == "diff_v2");
  CATCH_CHECK(two["training"]["learning_rate"] == 0.01);
  const auto changed = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json json = recipe;
    json[nlohmann::json::json_pointer(pointer)] = value;
    return definition(json, "two");
  };
  // Another seed, words, another variant, kept steps and comments leave it as it is.
  for (const auto& [pointer, value] : {std::pair<const char*, nlohmann::json>{"/seeds", {1, 2, 3, 4}},
                                       {"/about", "other words"},
                                       {"/licence", "other"},
                                       {"/_note", 3},
                                       {"/training/_note", "x"},
                                       {"/variants/three", nlohmann::json::object()},
                                       {"/variants/two/checkpoints", {5}},
                                       {"/variants/two/seeds", {8}},
                                       {"/variants/one/model", {{"head_dim", 8}}}})
    CATCH_CHECK(changed(pointer, value) == two);
  for (const auto& [pointer, value] : {std::pair<const char*, nlohmann::json>{"/training/learning_rate", 0.02},
                                       {"/training/steps", 101},
                                       {"/task/length", 7},
                                       {"/model/head_dim", 8},
                                       {"/variants/two/model/num_hidden_layers", 2},
                                       {"/variants/two/what_if", {"lambda=none"}},
                                       {"/frozen", {"norm"}},
                                       {"/stored_dtype", "bfloat16"}})
    CATCH_CHECK(changed(pointer, value) != two);
  CATCH_CHECK(definition(recipe, "one") != two);
  CATCH_CHECK(training_definition(recipe, "four").is_null());
  CATCH_CHECK(training_definition("text", "one").is_null());

  // A point of a sweep is what a recipe of that point alone would say.
  nlohmann::json sweep = recipe;
  sweep["training"].erase("learning_rate");
  sweep["sweep"] = {{"learning_rate", {0.01, 0.1}}};
  CATCH_CHECK(definition(sweep, "two_learning_rate_0p01") == two);
  CATCH_CHECK(definition(sweep, "two_learning_rate_0p1") == changed("/training/learning_rate", 0.1));
  CATCH_CHECK(training_definition(sweep, "two").is_null());
  const Recipe read = folder.require(sweep);
  CATCH_CHECK(read.variants[1].definition_sha256 == folder.require(recipe).variants[1].definition_sha256);
  CATCH_CHECK(read.variants[3].definition_sha256 != read.variants[1].definition_sha256);
}

CATCH_TEST_CASE("recipe: a file that is none, and a text that is not there") {
  const Folder folder;
  for (const char* text : {"", "[]", "3", "{", "{\"about\": 1, \"about\": 2}", "not JSON"}) {
    CATCH_INFO(text);
    const auto recipe = folder.read(text);
    CATCH_REQUIRE(!recipe.has_value());
    CATCH_CHECK(recipe.error().code == ErrorCode::Corrupt);
    CATCH_CHECK(recipe.error().file == (folder.path() / "small.json").string());
  }
  const auto missing = read_recipe(folder.path() / "none.json");
  CATCH_REQUIRE(!missing.has_value());
  CATCH_CHECK(missing.error().code == ErrorCode::NotFound);
  nlohmann::json json = bytes_json();
  json["task"]["text"] = "text.txt";
  const auto text = folder.read(json.dump());
  CATCH_REQUIRE(!text.has_value());
  CATCH_CHECK(text.error().code == ErrorCode::NotFound);
  CATCH_CHECK(text.error().file == (folder.path() / "text.txt").string());
}

CATCH_TEST_CASE("recipe: a variant that cannot be built is named") {
  const Folder folder;
  nlohmann::json json = recipe_json();
  json["variants"]["two"]["model"]["attention"]["kind"] = "gated";
  const auto recipe = folder.read(json.dump());
  CATCH_REQUIRE(!recipe.has_value());
  CATCH_CHECK(recipe.error().message.find("(variant two)") != std::string::npos);
  CATCH_CHECK(recipe.error().tensor == "attention.gate");
}

CATCH_TEST_CASE("learning rate: linear to its peak, then half a cosine to its share") {
  TrainingSettings settings;
  settings.learning_rate = 0.1;
  settings.steps = 12;
  settings.warmup_steps = 4;
  settings.final_learning_rate = 0.2;
  const auto check = [&](std::int64_t step, double expected) {
    CATCH_INFO("step " << step);
    CATCH_CHECK(learning_rate_at(settings, step) == near(expected, 1e-14));
  };
  check(0, 0.025);
  check(1, 0.05);
  check(3, 0.1);
  check(4, 0.1);
  check(6, 0.1 * (0.6 + 0.4 * 0.70710678118654752));  // a quarter of the way: cos 45°
  check(8, 0.06);
  check(10, 0.1 * (0.6 - 0.4 * 0.70710678118654752));
  check(12, 0.02);
  check(30, 0.02);
  settings.final_learning_rate = 1.0;
  for (const std::int64_t step : {4, 7, 11}) check(step, 0.1);
  settings.final_learning_rate = 0.0;
  settings.warmup_steps = 0;
  check(0, 0.1);
  check(6, 0.05);
  settings.warmup_steps = 24;  // never at its peak
  check(11, 0.05);
}

}  // namespace headroom::test
