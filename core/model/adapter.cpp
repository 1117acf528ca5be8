#include "core/model/adapter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/model/config_reader.h"

namespace headroom {
namespace {

using nlohmann::json;

constexpr const char* kMerge =
    "merge it into its base with peft and open that: model.merge_and_unload().save_pretrained(FOLDER)";
constexpr std::int64_t kMostRank = 65536;

// Keys that make another sum of it where they say anything.
constexpr std::array kOtherSums = {"use_dora",
                                   "use_qalora",
                                   "use_bdlora",
                                   "layer_replication",
                                   "target_parameters",
                                   "lora_bias",
                                   "trainable_token_indices",
                                   "alora_invocation_tokens",
                                   "arrow_config",
                                   "monteclora_config",
                                   "velora_config"};
// Beginnings that take a part of W away from the base before anything is trained.
constexpr std::array<std::string_view, 5> kChangesBase = {"pissa", "olora", "corda", "loftq", "lora_ga"};

bool says_something(const json& value) {
  return !(value.is_null() || value == false || value == 0 || (value.is_structured() && value.empty()));
}

Error refused(std::string message, std::string_view field, std::string_view expected, std::string_view found) {
  Error error(ErrorCode::Unsupported, std::move(message));
  error.at_tensor(field).wanted(expected, found);
  return error.advise(kMerge);
}

Error wrong(std::string message, std::string_view tensor, std::string_view expected, std::string_view found) {
  Error error(ErrorCode::Corrupt, std::move(message));
  return error.at_tensor(tensor).wanted(expected, found);
}

struct Settings {
  std::int64_t rank = 0;
  double alpha = 0.0;
  bool root_of_rank = false;  // rank-stabilised: α/√r (arXiv 2312.03732)
  json ranks, alphas;         // by patterns of modules
  json targets;
};

Result<Settings> read_settings(const json& config) {
  ConfigReader reader(config);
  HEADROOM_TRY(const std::string type, reader.text("peft_type", std::nullopt));
  if (type != "LORA") return refused("this adapter is not of a method that is read", "peft_type", "LORA", type);
  for (const char* key : kOtherSums)
    if (const json& value = reader.raw(key); says_something(value))
      return refused("this adapter is more than W + scale · B A", key, "absent or false", value.dump());
  if (const json& begun = reader.raw("init_lora_weights"); begun.is_string())
    for (const std::string_view name : kChangesBase)
      if (begun.get_ref<const std::string&>().starts_with(name))
        return refused("this adapter's training began by changing the base", "init_lora_weights", "true or gaussian",
                       begun.get_ref<const std::string&>());
  Settings settings;
  HEADROOM_TRY(settings.rank, reader.integer("r", 8, 1, kMostRank));
  HEADROOM_TRY(const double alpha, reader.number("lora_alpha", 8.0));
  settings.alpha = alpha;
  HEADROOM_TRY(settings.root_of_rank, reader.boolean("use_rslora", false));
  for (const auto& [key, target] :
       {std::pair("rank_pattern", &settings.ranks), std::pair("alpha_pattern", &settings.alphas)}) {
    *target = reader.raw(key);
    if (!target->is_null() && !target->is_object())
      return wrong("config field has an unusable value", key, "an object of numbers", target->dump());
    for (const auto& [pattern, value] : target->items())
      if (!value.is_number()) return wrong("config field has an unusable value", key, "numbers", value.dump());
  }
  settings.targets = reader.raw("target_modules");
  return settings;
}

// What the pattern that means the module says of it.
Result<double> by_pattern(const json& patterns, const char* field, const std::string& module, double otherwise) {
  std::optional<double> found;
  for (const auto& [pattern, value] : patterns.items()) {
    HEADROOM_TRY(const bool means, pattern_means(pattern, module));
    if (!means) continue;
    if (found && *found != value.get<double>())
      return wrong("two patterns mean the same module, and say different things of it", field, module, patterns.dump());
    found = value.get<double>();
  }
  return found.value_or(otherwise);
}

bool is_target(const json& targets, const std::string& module) {
  if (!targets.is_array()) return true;  // a pattern, or all linear layers
  return std::ranges::any_of(targets, [&](const json& target) {
    if (!target.is_string()) return false;
    const auto name = target.get<std::string>();
    return module == name || module.ends_with("." + name);
  });
}

// The two factors of one module.
struct Factors {
  const TensorInfo* a = nullptr;
  const TensorInfo* b = nullptr;
  bool embedding = false;
};

bool is_float(DType dtype) {
  return dtype == DType::F64 || dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

Result<LowRank> fit_factors(const Factors& factors, const std::string& module, const Settings& settings) {
  const TensorInfo& either = factors.a ? *factors.a : *factors.b;
  if (!factors.a || !factors.b)
    return wrong("the adapter has one of two factors", either.name, "lora_A and lora_B",
                 factors.a ? "lora_A" : "lora_B");
  for (const TensorInfo* factor : {factors.a, factors.b}) {
    if (!is_float(factor->dtype))
      return refused("the factors of an adapter are not of a floating-point type", factor->name,
                     "F32, F16, BF16 or F64", factor->dtype_name);
    if (factor->shape.size() != 2)
      return refused("the factors of an adapter are no matrices", factor->name, "two axes", shape_text(factor->shape));
  }
  LowRank change{factors.a, factors.b, 1.0, factors.embedding};
  if (factors.b->shape[1] != change.rank())
    return wrong("the factors of an adapter do not fit each other", factors.b->name,
                 format("[…, %lld]", static_cast<long long>(change.rank())), shape_text(factors.b->shape));
  HEADROOM_TRY(const double rank,
               by_pattern(settings.ranks, "rank_pattern", module, static_cast<double>(settings.rank)));
  if (rank != static_cast<double>(change.rank()))
    return wrong("the rank of an adapter's tensor is not that of its config", factors.a->name, format("%g rows", rank),
                 shape_text(factors.a->shape));
  HEADROOM_TRY(const double alpha, by_pattern(settings.alphas, "alpha_pattern", module, settings.alpha));
  change.scale = alpha / (settings.root_of_rank ? std::sqrt(rank) : rank);
  return change;
}

// The base's name of `name`, which the model that was trained may have had one part more or less in front of.
std::string name_in_base(const SourceTensors& tensors, const std::string& name) {
  if (tensors.contains(name)) return name;
  const std::size_t dot = name.find('.');
  if (dot != std::string::npos && tensors.contains(std::string_view(name).substr(dot + 1))) return name.substr(dot + 1);
  std::string found;
  for (const auto& [base, tensor] : tensors) {
    if (!base.ends_with("." + name) || base.find('.') + 1 + name.size() != base.size()) continue;
    if (!found.empty()) return "";
    found = base;
  }
  return found;
}

// Without the adapter's own name, which a state dict has behind the factor's and a saved adapter has not.
std::string without(std::string name, std::string_view part) {
  if (const std::size_t at = name.find(part); at != std::string::npos) name.erase(at, part.size());
  return name;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string text = std::to_string(names.size()) + ": ";
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i ? ", " : "") + names[i];
  return text + (names.size() > kShown ? " …" : "");
}

class Applier {
 public:
  Applier(const Adapter& adapter, SourceTensors& tensors, const ContainerNotes& notes)
      : adapter_(adapter), tensors_(tensors), notes_(notes) {}

  Result<void> apply() {
    HEADROOM_TRY(const Settings settings, read_settings(adapter_.config));
    for (const TensorInfo& tensor : adapter_.tensors) HEADROOM_TRY_VOID(sort(tensor));
    for (const auto& [module, factors] : factors_) {
      if (!is_target(settings.targets, module))
        return wrong("the adapter has factors of a module that its target_modules do not name",
                     (factors.a ? factors.a : factors.b)->name, settings.targets.dump(), module);
      HEADROOM_TRY(const LowRank change, fit_factors(factors, module, settings));
      const std::string name = name_in_base(tensors_, module + ".weight");
      if (name.empty())
        unmatched_.push_back(factors.a->name);
      else
        tensors_.find(name)->second.low_rank = change;
    }
    if (unmatched_.empty()) return {};
    return wrong("the adapter changes modules that the base does not have", unmatched_.front(),
                 "modules of " + adapter_.base.string(), list_of(unmatched_));
  }

 private:
  Result<void> sort(const TensorInfo& tensor) {
    constexpr std::string_view kPrefix = "base_model.model.";
    if (!tensor.name.starts_with(kPrefix))
      return wrong("the name is not that of an adapter's tensor", tensor.name, std::string(kPrefix) + "…", tensor.name);
    const std::string name = tensor.name.substr(kPrefix.size());
    if (name.find(".original_module.") != std::string::npos) return {};
    constexpr std::string_view kFactor = ".lora_", kEmbedding = "embedding_";
    const std::size_t at = name.find(kFactor);
    if (at == std::string::npos) return take_whole(tensor, name);
    const std::string module = name.substr(0, at);
    std::string_view rest = std::string_view(name).substr(at + kFactor.size());
    Factors& factors = factors_[module];
    const bool embedding = rest.starts_with(kEmbedding);
    if (embedding) rest.remove_prefix(kEmbedding.size());
    if ((rest != "A" && rest != "B" && !rest.starts_with("A.") && !rest.starts_with("B.")) || rest.ends_with(".bias"))
      return refused("the adapter has a part beside its two factors", tensor.name, "lora_A and lora_B", rest);
    const TensorInfo*& factor = rest[0] == 'A' ? factors.a : factors.b;
    if (factor || (factors.embedding != embedding && (factors.a || factors.b)))
      return wrong("the adapter has a factor twice", tensor.name, "one adapter", "several");
    factor = &tensor;
    factors.embedding = embedding;
    return {};
  }

  // In place of the base's; one that the base does not have is the model's affair.
  Result<void> take_whole(const TensorInfo& tensor, const std::string& name) {
    const std::string own =
        without(without(without(name, ".modules_to_save.default"), ".modules_to_save"), ".base_layer");
    const std::string found = name_in_base(tensors_, own);
    SourceTensor whole = SourceTensor::whole(tensor);
    whole.of_adapter = true;
    if (notes_.norm_offset != 0.0 && whole.shape.size() == 1)
      return refused("the base's file has norms with an offset, the adapter's without", tensor.name,
                     "a base in safetensors", adapter_.base.string());
    tensors_.insert_or_assign(found.empty() ? own : found, std::move(whole));
    return {};
  }

  const Adapter& adapter_;
  SourceTensors& tensors_;
  const ContainerNotes& notes_;
  std::map<std::string, Factors> factors_;  // by module
  std::vector<std::string> unmatched_;
};

// One part of a pattern and how often it may come.
struct Atom {
  enum Kind { Letter, Any, Digit };
  Kind kind = Letter;
  char letter = 0;
  bool optional = false, repeats = false;

  [[nodiscard]] bool matches(char c) const {
    return kind == Any || (kind == Digit ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == letter);
  }
};

Result<std::vector<Atom>> read_pattern(const std::string& key, bool& from_begin) {
  std::vector<Atom> atoms;
  const auto unreadable = [&](std::string_view found) {
    return refused("a pattern of an adapter's config is not read", key,
                   R"(letters, '.', '\.', '\d', '*', '+', '^', '$')", found);
  };
  from_begin = key.starts_with('^');
  for (std::size_t i = from_begin ? 1 : 0; i < key.size(); ++i) {
    const char c = key[i];
    const bool last = i + 1 == key.size();
    if (c == '$' && last) continue;
    if (c == '*' || c == '+') {
      if (atoms.empty() || atoms.back().repeats) return unreadable(std::string_view(key).substr(i));
      atoms.back().repeats = true;
      atoms.back().optional = c == '*';
    } else if (c == '\\' && !last && (key[i + 1] == '.' || key[i + 1] == 'd')) {
      ++i;
      atoms.push_back({key[i] == 'd' ? Atom::Digit : Atom::Letter, key[i]});
    } else if (c == '.') {
      atoms.push_back({Atom::Any});
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') {
      atoms.push_back({Atom::Letter, c});
    } else {
      return unreadable(std::string_view(key).substr(i));
    }
  }
  return atoms;
}

// All places in the pattern at once, so that no pattern takes longer than its length times that of the text.
bool whole_matches(const std::vector<Atom>& atoms, std::string_view text) {
  std::vector<bool> at(atoms.size() + 1);
  const auto pass_optional = [&](std::vector<bool>& places) {
    for (std::size_t i = 0; i < atoms.size(); ++i)
      if (places[i] && atoms[i].optional) places[i + 1] = true;
  };
  at[0] = true;
  pass_optional(at);
  for (const char c : text) {
    std::vector<bool> next(atoms.size() + 1);
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      if (!at[i] || !atoms[i].matches(c)) continue;
      next[i + 1] = true;
      if (atoms[i].repeats) next[i] = true;
    }
    pass_optional(next);
    at = std::move(next);
  }
  return at.back();
}

}  // namespace

Result<bool> pattern_means(const std::string& key, const std::string& module) {
  bool from_begin = false;
  HEADROOM_TRY(const std::vector<Atom> atoms, read_pattern(key, from_begin));
  for (std::size_t begin = 0;;) {
    if (whole_matches(atoms, std::string_view(module).substr(begin))) return true;
    const std::size_t dot = module.find('.', begin);
    if (from_begin || dot == std::string::npos) return false;
    begin = dot + 1;
  }
}

Result<void> apply_adapter(const Adapter& adapter, SourceTensors& tensors, const ContainerNotes& notes) {
  auto applied = Applier(adapter, tensors, notes).apply();
  if (!applied && applied.error().file.empty()) applied.error().in_file(adapter.config_path.string());
  return applied;
}

Result<void> check_adapter(const SourceTensors& tensors, const ModelSpec& model) {
  const auto is_changed = [](const SourceTensor& tensor) { return tensor.of_adapter || tensor.low_rank.present(); };
  if (model.tied) {
    for (const std::string& name : {model.embedding.tensor, std::string("lm_head.weight")}) {
      const auto found = tensors.find(name);
      if (found != tensors.end() && is_changed(found->second))
        return refused("the adapter changes an embedding that is the output layer too, and adapters train them apart",
                       name, "a model with tie_word_embeddings false", "tied");
    }
  }
  std::vector<std::string_view> used;
  std::optional<Error> misfit;
  for_each_weight(model, [&](const WeightRef& weight, std::string_view, std::int64_t) {
    used.push_back(weight.tensor);
    const auto found = tensors.find(weight.tensor);
    if (misfit || found == tensors.end() || !found->second.low_rank.present()) return;
    const LowRank& change = found->second.low_rank;
    if (weight.is_vector() || weight.slice >= 0 || weight.all_rows() != change.rows() ||
        weight.columns() != change.columns())
      misfit = wrong("the factors of an adapter do not fit the weight", change.a->name, shape_text(weight.stored_shape),
                     shape_text({change.rows(), change.columns()}));
  });
  if (misfit) return *misfit;
  std::ranges::sort(used);
  std::vector<std::string> unused;
  for (const auto& [name, tensor] : tensors) {
    if (!is_changed(tensor) || std::ranges::binary_search(used, std::string_view(name))) continue;
    if (std::ranges::any_of(model.set_aside, [&](const std::string& begin) { return name.starts_with(begin); }))
      continue;
    unused.push_back(tensor.of_adapter ? tensor.info->name : tensor.low_rank.a->name);
  }
  if (unused.empty()) return {};
  return wrong("the adapter changes what the model does not use", unused.front(), "weights of the model",
               list_of(unused));
}

}  // namespace headroom
