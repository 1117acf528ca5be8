// What a study refuses before anything is trained, and how the models of two variants begin.
#include "core/reproduce/study.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/reproduce/empty_study.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

nlohmann::json recipe_json() {
  return nlohmann::json::parse(R"({
    "about": "for a test", "licence": "CC0-1.0",
    "task": {"kind": "trigger", "contents": 20, "features": 13, "length": 8},
    "model": {"hidden_size": 16, "num_hidden_layers": 1, "intermediate_size": 0, "num_attention_heads": 2,
              "num_key_value_heads": 2, "head_dim": 8, "position": "none"},
    "variants": {
      "diff_v2": {"model": {"attention": {"kind": "diff_v2"}}},
      "raw": {"model": {"attention": {"kind": "diff_v2"}}, "what_if": ["lambda=raw"]},
      "wrong": {"model": {"attention": {"kind": "diff_v2"}}, "what_if": ["pairing=halves"]},
      "softmax": {"model": {"attention": {"kind": "softmax"}}}},
    "training": {"steps": 100, "batch": 4, "learning_rate": 0.01}, "seeds": [1, 2, 3]})");
}

// A study of two recipes of these contents, whose variants are compared.
struct TwoRecipes {
  StudyFolder folder;
  std::unique_ptr<Study> study;

  TwoRecipes(const nlohmann::json& first, const nlohmann::json& second) {
    std::ofstream(folder.options.assets / "recipes" / "first.json") << first.dump();
    std::ofstream(folder.options.assets / "recipes" / "second.json") << second.dump();
    study = folder.created();
  }
  [[nodiscard]] Start start(const char* variant, const char* other) const {
    return common_start(*find_variant(study->recipe("first"), variant), *find_variant(study->recipe("second"), other));
  }
};

}  // namespace

CATCH_TEST_CASE("study: models begin alike where seeds, task, batch and every weight's name and shape are the same") {
  const TwoRecipes same(recipe_json(), recipe_json());
  for (const char* other : {"diff_v2", "raw", "wrong"}) {
    CATCH_INFO(other);
    CATCH_CHECK(same.start("diff_v2", other).paired());
  }
  // Half as many queries, no λ: the data alone.
  CATCH_CHECK(same.start("diff_v2", "softmax").data);
  CATCH_CHECK_FALSE(same.start("diff_v2", "softmax").weights);

  const auto changed = [](const char* pointer, const nlohmann::json& value) {
    nlohmann::json json = recipe_json();
    json[nlohmann::json::json_pointer(pointer)] = value;
    return TwoRecipes(recipe_json(), json).start("diff_v2", "diff_v2");
  };
  // Another learning rate changes what is learnt, not how it begins.
  CATCH_CHECK(changed("/training/learning_rate", 0.1).paired());
  // Fewer seeds, in the same order: those are pairs.
  CATCH_CHECK(changed("/seeds", {1, 2}).paired());
  CATCH_CHECK(changed("/variants/diff_v2/seeds", {1, 2, 3, 4}).paired());
  for (const auto& [pointer, value] : {std::pair<const char*, nlohmann::json>{"/seeds", {2, 1, 3}},
                                       {"/seeds", {1, 3}},
                                       {"/task/contents", 19},
                                       {"/task/length", 7}}) {
    CATCH_INFO(pointer << " " << value.dump());
    CATCH_CHECK_FALSE(changed(pointer, value).data);
    CATCH_CHECK_FALSE(changed(pointer, value).weights);
  }
  CATCH_CHECK_FALSE(changed("/training/batch", 8).data);
  CATCH_CHECK(changed("/training/batch", 8).weights);
  for (const char* pointer : {"/training/initial_std", "/model/intermediate_size"}) {
    CATCH_CHECK(changed(pointer, pointer[1] == 't' ? nlohmann::json(0.5) : nlohmann::json(8)).data);
    CATCH_CHECK_FALSE(changed(pointer, pointer[1] == 't' ? nlohmann::json(0.5) : nlohmann::json(8)).weights);
  }
}

CATCH_TEST_CASE("study: given seeds are taken in place of the recipe's and the variants' own") {
  nlohmann::json json = recipe_json();
  json["variants"]["raw"]["seeds"] = {4, 5};
  StudyFolder folder;
  std::ofstream(folder.options.assets / "recipes" / "first.json") << json.dump();
  CATCH_CHECK(find_variant(folder.created()->recipe("first"), "raw")->seeds == std::vector<std::uint64_t>{4, 5});
  folder.options.seeds = {9};
  const std::unique_ptr<Study> study = folder.created();
  for (const Variant& variant : study->recipe("first").variants)
    CATCH_CHECK(variant.seeds == std::vector<std::uint64_t>{9});
}

CATCH_TEST_CASE("study: assets without recipes are not assets") {
  StudyFolder folder;
  folder.options.assets = folder.folder.path() / "nowhere";
  const auto study = folder.create();
  CATCH_REQUIRE_FALSE(study.has_value());
  CATCH_CHECK(study.error().code == ErrorCode::NotFound);
  CATCH_CHECK(study.error().file == (folder.options.assets / "recipes").string());
  CATCH_CHECK(study.error().hint.find("--assets") != std::string::npos);
}

CATCH_TEST_CASE("study: a recipe that is not there is said, with its name") {
  StudyFolder folder;
  const std::unique_ptr<Study> study = folder.created();
  CATCH_CHECK(study->recipes().empty());
  CATCH_CHECK(study->train_models({}).has_value());
  const auto trained = study->train_models({"bytes"});
  CATCH_REQUIRE_FALSE(trained.has_value());
  CATCH_CHECK(trained.error().code == ErrorCode::NotFound);
  CATCH_CHECK(trained.error().file == (folder.options.assets / "recipes" / "bytes.json").string());
  CATCH_CHECK_FALSE(study->make_initial_models({"bytes"}).has_value());
}

CATCH_TEST_CASE("study: a seed given twice would count as two") {
  StudyFolder folder;
  folder.options.seeds = {1, 2, 1};
  const auto study = folder.create();
  CATCH_REQUIRE_FALSE(study.has_value());
  CATCH_CHECK(study.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(study.error().found == "1");
  folder.options.seeds = {2, 1};
  CATCH_CHECK(folder.create().has_value());
}

CATCH_TEST_CASE("study: a damaged recipe is refused with its file") {
  StudyFolder folder;
  std::ofstream(folder.options.assets / "recipes" / "bytes.json") << "{}";
  const auto study = folder.create();
  CATCH_REQUIRE_FALSE(study.has_value());
  CATCH_CHECK(study.error().file.find("bytes.json") != std::string::npos);
}

}  // namespace headroom::test
