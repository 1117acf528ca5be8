#include "core/training/recipe.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/checkpoint/sha256.h"
#include "core/checkpoint/strict_json.h"
#include "core/model/config_reader.h"
#include "core/model/family.h"

namespace headroom {
namespace {

constexpr std::uint64_t kRecipeLimit = 1 << 20;
constexpr std::int64_t kAny = std::int64_t{1} << 40;

Error wrong(const std::string& field, const std::string& message, const std::string& expected,
            const std::string& found) {
  Error error(ErrorCode::Corrupt, message);
  return error.at_tensor(field).wanted(expected, found);
}

Result<double> number_within(ConfigReader& settings, const char* key, double fallback, double least, double most) {
  HEADROOM_TRY(const double value, settings.number(key, fallback));
  if (value >= least && value <= most) return value;
  return wrong(std::string("training.") + key, "a number is out of range",
               std::to_string(least) + " to " + std::to_string(most), std::to_string(value));
}

Result<TrainingSettings> read_training(const nlohmann::json& object, Objective objective) {
  if (!object.is_object())
    return wrong("training", "the recipe does not say how to train", "an object", object.type_name());
  ConfigReader settings(object, "training.");
  TrainingSettings training;
  HEADROOM_TRY(training.steps, settings.integer("steps", std::nullopt, 1, kAny));
  HEADROOM_TRY(training.batch, settings.integer("batch", std::nullopt, 1, 1 << 20));
  HEADROOM_TRY(training.learning_rate, settings.number("learning_rate", std::nullopt));
  if (!(training.learning_rate > 0.0))
    return wrong("training.learning_rate", "a number is out of range", "above 0",
                 std::to_string(training.learning_rate));
  HEADROOM_TRY(training.beta1, number_within(settings, "beta1", training.beta1, 0.0, 0.999999));
  HEADROOM_TRY(training.beta2, number_within(settings, "beta2", training.beta2, 0.0, 0.999999));
  HEADROOM_TRY(training.epsilon, number_within(settings, "epsilon", training.epsilon, 1e-20, 1.0));
  HEADROOM_TRY(training.weight_decay, number_within(settings, "weight_decay", 0.0, 0.0, 100.0));
  HEADROOM_TRY(training.warmup_steps, settings.integer("warmup_steps", 0, 0, kAny));
  HEADROOM_TRY(training.final_learning_rate, number_within(settings, "final_learning_rate", 1.0, 0.0, 1.0));
  HEADROOM_TRY(training.gradient_clip, number_within(settings, "gradient_clip", 0.0, 0.0, 1e9));
  if (settings.has("initial_std")) {
    HEADROOM_TRY(training.initial_std, number_within(settings, "initial_std", 0.0, 0.0, 10.0));
  }
  HEADROOM_TRY(training.statistics_every, settings.integer("statistics_every", training.statistics_every, 1, kAny));
  HEADROOM_TRY(training.validate_every, settings.integer("validate_every", training.validate_every, 1, kAny));
  HEADROOM_TRY(training.validation_batches,
               settings.integer("validation_batches", training.validation_batches, 1, 1 << 20));
  HEADROOM_TRY(training.stop_below_error, number_within(settings, "stop_below_error", 0.0, 0.0, 1e9));
  if (training.stop_below_error > 0.0 && objective != Objective::Residual)
    return wrong("training.stop_below_error", "only tasks with a target on the residual stream have a largest error",
                 "nothing", std::to_string(training.stop_below_error));
  HEADROOM_TRY_VOID(settings.refuse_unread());
  return training;
}

// Keys of config.json that the task decides.
Result<void> complete_config(const Task& task, nlohmann::json& config) {
  for (const char* key : {"model_type", "vocab_size", "bos_token_id", "lm_head"})
    if (config.contains(key))
      return wrong(std::string("model.") + key, "the task decides this key of the model", "nothing",
                   config[key].dump());
  config["model_type"] = "headroom";
  config["vocab_size"] = task.vocab_size();
  if (task.bos() >= 0) config["bos_token_id"] = task.bos();
  if (!config.contains("max_position_embeddings")) config["max_position_embeddings"] = task.length();
  if (task.objective() == Objective::Residual) config["lm_head"] = false;
  return {};
}

Error what_if_error(const std::string& place, Error error) { return std::move(error.at_tensor(place + ".what_if")); }

std::string sha256_of(const std::string& text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text.data(), text.size())));
  return hash.finish_hex();
}

// A point of a sweep: values by key of `training`.
using SweepPoint = std::map<std::string, nlohmann::json>;

// Every combination of the values of `sweep`; one empty point where there is no sweep.
std::vector<SweepPoint> sweep_points(const nlohmann::json& sweep) {
  std::vector<SweepPoint> points = {{}};
  for (const auto& [key, values] : sweep.items()) {
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points)
      for (const nlohmann::json& value : values) {
        longer.push_back(point);
        longer.back()[key] = value;
      }
    points = std::move(longer);
  }
  return points;
}

Result<void> check_sweep(const nlohmann::json& sweep, const nlohmann::json& training) {
  if (sweep.is_null()) return {};
  if (!sweep.is_object() || sweep.empty())
    return wrong("sweep", "a sweep names keys of the training", "an object of lists of numbers", sweep.dump());
  for (const auto& [key, values] : sweep.items()) {
    const std::string place = "sweep." + key;
    if (!values.is_array() || values.empty() ||
        !std::ranges::all_of(values, [](const nlohmann::json& value) { return value.is_number(); }))
      return wrong(place, "a sweep goes through numbers", "a list of numbers", values.dump());
    for (const nlohmann::json& value : values)
      if (std::ranges::count(values, value) > 1)
        return wrong(place, "a value of the sweep is there twice", "different numbers", value.dump());
    if (training.is_object() && training.contains(key))
      return wrong("training." + key, "the sweep decides this key", "nothing", training[key].dump());
  }
  return {};
}

// "_learning_rate_0p01_gradient_clip_0"
std::string sweep_suffix(const SweepPoint& point) {
  std::string suffix;
  for (const auto& [key, value] : point) {
    std::string number = format("%.9g", value.get<double>());
    std::ranges::replace(number, '.', 'p');
    std::ranges::replace(number, '-', 'm');
    std::erase(number, '+');
    suffix += "_" + key + "_" + number;
  }
  return suffix;
}

// Objects without their comments, at every depth.
nlohmann::json without_comments(const nlohmann::json& value) {
  if (!value.is_object()) return value;
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [key, item] : value.items())
    if (!key.starts_with('_')) result[key] = without_comments(item);
  return result;
}

nlohmann::json definition_at(const nlohmann::json& recipe, const nlohmann::json& variant, const SweepPoint& point) {
  const auto part = [](const nlohmann::json& object, const char* key) {
    return object.is_object() && object.contains(key) ? object[key] : nlohmann::json();
  };
  nlohmann::json config = part(recipe, "model"), training = part(recipe, "training");
  if (const nlohmann::json changes = part(variant, "model"); changes.is_object()) config.merge_patch(changes);
  for (const auto& [key, value] : point) training[key] = value;
  return without_comments({{"task", part(recipe, "task")},
                           {"model", config},
                           {"what_if", part(variant, "what_if")},
                           {"training", training},
                           {"frozen", part(recipe, "frozen")},
                           {"stored_dtype", part(recipe, "stored_dtype")}});
}

Result<std::vector<std::uint64_t>> read_seeds(const std::string& place, const nlohmann::json& list) {
  if (!list.is_array() || list.empty())
    return wrong(place, "the recipe has no seeds", "a list of numbers", list.dump());
  std::vector<std::uint64_t> seeds;
  for (const nlohmann::json& seed : list) {
    if (!seed.is_number_unsigned())
      return wrong(place, "a seed is a whole number from 0", "a whole number", seed.dump());
    if (std::ranges::count(seeds, seed.get<std::uint64_t>()) > 0)
      return wrong(place, "a seed is there twice", "different numbers", seed.dump());
    seeds.push_back(seed.get<std::uint64_t>());
  }
  return seeds;
}

Result<Variant> read_variant(const std::string& name, const nlohmann::json& object, const nlohmann::json& model_config,
                             const Task& task, std::int64_t steps) {
  const std::string place = "variants." + name;
  const bool named =
      !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  if (!named)
    return wrong(place, "a variant's name becomes a folder's", "lower-case letters, digits and underscores", name);
  if (!object.is_object()) return wrong(place, "a variant is an object", "an object", object.type_name());
  ConfigReader settings(object, place + ".");
  Variant variant;
  variant.name = variant.base = name;
  nlohmann::json config = model_config;
  const nlohmann::json& changes = settings.raw("model");
  if (!changes.is_null() && !changes.is_object())
    return wrong(place + ".model", "a variant changes keys of the model", "an object", changes.dump());
  if (changes.is_object()) config.merge_patch(changes);
  HEADROOM_TRY_VOID(complete_config(task, config));
  variant.config = config.dump();
  const nlohmann::json& what_ifs = settings.raw("what_if");
  if (!what_ifs.is_null() && !what_ifs.is_array())
    return wrong(place + ".what_if", "what-ifs are a list", "a list of texts", what_ifs.dump());
  for (const nlohmann::json& text : what_ifs) {
    if (!text.is_string()) return wrong(place + ".what_if", "a what-if is a text", "a text", text.dump());
    auto what_if = parse_what_if(text.get<std::string>());
    if (!what_if) return what_if_error(place, what_if.error());
    variant.what_ifs.push_back(std::move(*what_if));
  }
  HEADROOM_TRY(const std::vector<double> checkpoints, settings.numbers("checkpoints"));
  std::set<std::int64_t> unique;
  for (const double step : checkpoints) {
    if (step != std::floor(step) || step < 0 || step > static_cast<double>(steps))
      return wrong(place + ".checkpoints", "a checkpoint is a step", "0 to " + std::to_string(steps),
                   std::to_string(step));
    unique.insert(static_cast<std::int64_t>(step));
  }
  variant.checkpoints.assign(unique.begin(), unique.end());
  if (const nlohmann::json& seeds = settings.raw("seeds"); !seeds.is_null()) {
    HEADROOM_TRY(variant.seeds, read_seeds(place + ".seeds", seeds));
  }
  HEADROOM_TRY_VOID(settings.refuse_unread());

  auto model = design_model(config);
  if (!model) {
    model.error().message += " (variant " + name + ")";
    return model.error();
  }
  if (task.embedding_width() > 0 && task.embedding_width() != model->hidden_size)
    return wrong("model.hidden_size", "the task is stated in embeddings of another width",
                 std::to_string(task.embedding_width()), std::to_string(model->hidden_size));
  if (model->max_positions > 0 && model->max_positions < task.length())
    return wrong("model.max_position_embeddings", "the task's sequences are longer than the model's positions",
                 "at least " + std::to_string(task.length()), std::to_string(model->max_positions));
  auto changed = apply_what_ifs(*model, variant.what_ifs);
  if (!changed) return what_if_error(place, changed.error());
  variant.model = std::move(changed->model);
  return variant;
}

Result<void> read_frozen(Recipe& recipe, const nlohmann::json& list) {
  if (!list.is_null() && !list.is_array())
    return wrong("frozen", "frozen weights are a list", "a list of texts", list.dump());
  for (const nlohmann::json& item : list) {
    const std::string name = item.is_string() ? item.get<std::string>() : item.dump();
    bool known = false;
    for (const Variant& variant : recipe.variants)
      for_each_weight(variant.model, [&](const WeightRef& weight, std::string_view account, std::int64_t) {
        known = known || weight.tensor == name || account == name;
      });
    if (!known)
      return wrong("frozen", "no variant has such weights", "a tensor's name or an account such as norm", name);
    recipe.frozen.push_back(name);
  }
  for (const Variant& variant : recipe.variants) {
    bool trained = false;
    for_each_weight(variant.model, [&](const WeightRef& weight, std::string_view account, std::int64_t) {
      trained = trained || std::ranges::none_of(recipe.frozen, [&](const std::string& name) {
                  return name == weight.tensor || name == account;
                });
    });
    if (!trained)
      return wrong("frozen", "nothing is left to train", "weights of variant " + variant.name + " that are trained",
                   list.dump());
  }
  return {};
}

Result<Recipe> parse(const nlohmann::json& json, const std::filesystem::path& folder) {
  if (!json.is_object()) return wrong("", "a recipe is an object", "an object", json.type_name());
  ConfigReader reader(json);
  Recipe recipe;
  recipe.json = json.dump();
  HEADROOM_TRY(recipe.about, reader.text("about", std::nullopt));
  HEADROOM_TRY(recipe.licence, reader.text("licence", std::nullopt));
  HEADROOM_TRY(std::unique_ptr<Task> task, create_task(reader.raw("task"), folder));
  recipe.task = std::move(task);
  const nlohmann::json &training = reader.raw("training"), &sweep = reader.raw("sweep");
  HEADROOM_TRY_VOID(check_sweep(sweep, training));
  HEADROOM_TRY(recipe.stored_dtype, reader.text("stored_dtype", "float32"));
  if (recipe.stored_dtype != "float32" && recipe.stored_dtype != "bfloat16")
    return wrong("stored_dtype", "unknown dtype", "float32 or bfloat16", recipe.stored_dtype);
  const nlohmann::json& config = reader.raw("model");
  if (!config.is_object()) return wrong("model", "the recipe has no model", "an object", config.type_name());
  const nlohmann::json& variants = reader.raw("variants");
  if (!variants.is_object() || variants.empty())
    return wrong("variants", "the recipe has no variants", "an object of objects", variants.type_name());
  for (const SweepPoint& point : sweep_points(sweep)) {
    nlohmann::json at_point = training;
    if (training.is_object())
      for (const auto& [key, value] : point) at_point[key] = value;
    HEADROOM_TRY(const TrainingSettings settings, read_training(at_point, recipe.task->objective()));
    for (const auto& [name, object] : variants.items()) {
      HEADROOM_TRY(Variant variant, read_variant(name, object, config, *recipe.task, settings.steps));
      variant.name += sweep_suffix(point);
      for (const auto& [key, value] : point) variant.swept[key] = value.get<double>();
      variant.training = settings;
      set_definition(json, variant);
      if (std::ranges::count(recipe.variants, variant.name, &Variant::name) > 0)
        return wrong("sweep", "two points of the sweep have the same name", "different names", variant.name);
      recipe.variants.push_back(std::move(variant));
    }
  }
  HEADROOM_TRY(recipe.seeds, read_seeds("seeds", reader.raw("seeds")));
  for (Variant& variant : recipe.variants)
    if (variant.seeds.empty()) variant.seeds = recipe.seeds;
  HEADROOM_TRY_VOID(read_frozen(recipe, reader.raw("frozen")));
  HEADROOM_TRY_VOID(reader.refuse_unread());
  return recipe;
}

}  // namespace

Result<Recipe> read_recipe(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::string text, read_text_file(path, kRecipeLimit));
  auto json = parse_json(text);
  if (!json) return std::move(json.error().in_file(path.string()));
  auto recipe = parse(*json, path.parent_path());
  if (!recipe) {
    if (recipe.error().file.empty()) recipe.error().in_file(path.string());
    return recipe;
  }
  recipe->name = path.stem().string();
  recipe->sha256 = sha256_of(text);
  return recipe;
}

nlohmann::json training_definition(const nlohmann::json& recipe, std::string_view variant) {
  if (!recipe.is_object() || !recipe.contains("variants")) return {};
  for (const SweepPoint& point : sweep_points(recipe.value("sweep", nlohmann::json())))
    for (const auto& [name, object] : recipe["variants"].items())
      if (name + sweep_suffix(point) == variant) return definition_at(recipe, object, point);
  return {};
}

void set_definition(const nlohmann::json& recipe, Variant& variant) {
  variant.definition = training_definition(recipe, variant.name).dump();
  variant.definition_sha256 = sha256_of(variant.definition);
}

double learning_rate_at(const TrainingSettings& settings, std::int64_t step) {
  if (step < settings.warmup_steps)
    return settings.learning_rate * static_cast<double>(step + 1) / static_cast<double>(settings.warmup_steps);
  const auto span = static_cast<double>(std::max<std::int64_t>(settings.steps - settings.warmup_steps, 1));
  const double progress = std::min(1.0, static_cast<double>(step - settings.warmup_steps) / span);
  const double share = settings.final_learning_rate +
                       (1.0 - settings.final_learning_rate) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  return settings.learning_rate * share;
}

}  // namespace headroom
