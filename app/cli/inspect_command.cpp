#include "app/cli/inspect_command.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/address.h"
#include "app/cli/fact_lines.h"
#include "app/cli/inspect_run.h"
#include "app/cli/layer_json.h"
#include "app/process/report_error.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/checkpoint/adapter_folder.h"
#include "core/io/run_file.h"
#include "core/model/capture.h"
#include "core/model/layer_facts.h"
#include "core/run/open_model.h"
#include "core/run/run_layout.h"

namespace headroom {
namespace {

// What inspect knows: the checkpoint always; the model where a family describes it, else the reason why not.
struct Inspection {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::optional<ModelSpec> model;
  std::optional<Error> model_error;
  std::string tokenizer;
  std::vector<std::string> warnings;
  std::int64_t parameters = 0;
  std::uint64_t size_bytes = 0;
  std::map<std::string, std::int64_t> dtypes;                             // name → tensors
  std::map<std::string, std::int64_t, std::less<>> attention_parameters;  // over all layers
  std::vector<std::int64_t> layers, heads;  // the places that the address names; empty without one
  std::vector<LowRank> changes;             // of an adapter, one for each matrix that it adds to
  std::vector<std::string> replaced;        // tensors that it brings whole
};

// "8" or "4, 8": the values that there are.
template <typename Value>
std::string values_text(const std::vector<LowRank>& changes, Value value) {
  std::set<double> values;
  for (const LowRank& change : changes) values.insert(static_cast<double>(value(change)));
  std::string text;
  for (const double one : values) text += (text.empty() ? "" : ", ") + format("%.6g", one);
  return text;
}

Inspection look(std::shared_ptr<const Checkpoint> checkpoint, std::int64_t sequence) {
  Inspection found;
  found.checkpoint = std::move(checkpoint);
  found.warnings.assign(found.checkpoint->warnings().begin(), found.checkpoint->warnings().end());
  for (const TensorInfo& tensor : found.checkpoint->tensors()) {
    found.parameters += tensor.element_count();
    ++found.dtypes[tensor.dtype_name];
  }
  for (const InputFile& file : found.checkpoint->files()) found.size_bytes += file.size_bytes();
  auto source = ModelSource::create(found.checkpoint, sequence);
  auto model = source ? describe_model(*source) : Result<ModelSpec>(source.error());
  if (source && found.checkpoint->adapter()) {
    for (const auto& [name, tensor] : source->tensors()) {
      if (tensor.low_rank.present()) found.changes.push_back(tensor.low_rank);
      if (tensor.of_adapter) found.replaced.push_back(name);
    }
  }
  if (model) {
    found.model = std::move(*model);
    found.warnings.insert(found.warnings.end(), found.model->warnings.begin(), found.model->warnings.end());
    for (const BlockSpec& block : found.model->blocks)
      for (const auto& [account, count] : attention_parameters(block)) found.attention_parameters[account] += count;
  } else {
    found.model_error = model.error();
  }
  if (found.model && found.model->capture) return found;  // it names its tokens itself
  auto tokenizer = open_tokenizer(*found.checkpoint);
  if (tokenizer) {
    found.tokenizer = (*tokenizer)->description();
    if (found.model && (*tokenizer)->vocab_size() != found.model->vocab_size)
      found.warnings.push_back(format("the tokenizer has %lld ids, the embedding %lld rows",
                                      static_cast<long long>((*tokenizer)->vocab_size()),
                                      static_cast<long long>(found.model->vocab_size)));
  } else if (tokenizer.error().code != ErrorCode::NotFound) {
    found.warnings.push_back("the tokenizer cannot be used: " + describe(tokenizer.error()));
  }
  return found;
}

std::string count_text(std::int64_t count) {
  const double value = static_cast<double>(count);
  if (value >= 1e9) return format("%.3g B", value / 1e9);
  if (value >= 1e6) return format("%.4g M", value / 1e6);
  return std::to_string(count);
}

std::string map_text(const HeadProgram::Map& map) {
  std::string values;
  for (const std::int64_t block : map.value_blocks) values += (values.empty() ? "v" : "+v") + std::to_string(block);
  return format("q%lld k%lld ", static_cast<long long>(map.query_block), static_cast<long long>(map.key_block)) +
         values;
}

// "H0: q0 k0 v0 − λ·(q1 k0 v0), λ from the input"
std::string program_text(const HeadProgram& head) {
  std::string text = map_text(head.first);
  if (head.has_second()) text += " − λ·(" + map_text(head.second) + ")";
  if (head.lambda == LambdaSource::LayerScalar) text += ", λ one number per layer";
  if (head.lambda == LambdaSource::Recorded) text += ", λ recorded";
  if (head.lambda == LambdaSource::Projection) text += ", λ = σ(projection) per token";
  if (head.sink == SinkSource::Zero) text += ", implicit key with logit 0";
  if (head.sink == SinkSource::Learned) text += ", learned sink logit";
  if (head.normalizer == Normalizer::Softpick) text += ", softpick";
  if (head.post_norm) text += ", RMSNorm";
  if (head.post_scale != 1.0) text += format(", × %.4g", head.post_scale);
  if (head.gated) text += ", gated";
  return text;
}

std::string program_of(const ModelSpec& model, std::int64_t layer, std::int64_t head) {
  const AttentionSpec& attention = model.blocks[static_cast<std::size_t>(layer)].attention;
  return attention.kind + ": " + program_text(attention.heads[static_cast<std::size_t>(head)]);
}

// What the layers have, a line for each thing that some of them have otherwise; layers without it have no text.
void print_by_layer(const char* name, const std::vector<LayerFacts>& layers, std::string LayerFacts::* of) {
  std::vector<LikeLayers> found = like_layers(layers, of);
  std::erase_if(found, [](const LikeLayers& like) { return like.text.empty(); });
  for (const LikeLayers& like : found)
    print_fact(std::exchange(name, ""), found.size() == 1 && like.layers.size() < layers.size()
                                            ? like.text + " in all of these"
                                            : layers_phrase(like, layers.size()));
}

std::string logits_text(const ModelSpec& model) {
  if (!model.lm_head.weight.present()) return "none";
  std::string text = model.tied ? "by the embedding" : "by lm_head";
  if (model.logit_scale != 1.0) text += format(", × %g", model.logit_scale);
  if (model.logit_softcap > 0.0) text += format(", capped at %g", model.logit_softcap);
  return text;
}

std::string heads_line(const ModelSpec& model) {
  const AttentionSpec& attention = model.first_attention();
  return format("%lld output heads, %lld query blocks, %lld key blocks, %lld value blocks of %lld channels",
                static_cast<long long>(model.num_heads), static_cast<long long>(attention.num_query_blocks),
                static_cast<long long>(attention.num_key_blocks), static_cast<long long>(attention.num_value_blocks),
                static_cast<long long>(attention.head_dim));
}

void print_model(const ModelSpec& model) {
  const std::vector<LayerFacts> layers = layer_facts(model);
  print_fact("model", model.model_type);
  std::string count = std::to_string(model.blocks.size());
  if (model.encoder) {
    const auto encoder = static_cast<std::size_t>(model.encoder->blocks);
    count += format(": %zu of the encoder, %zu times self and cross of the decoder", encoder,
                    (model.blocks.size() - encoder) / 2);
  }
  print_fact("layers", count);
  print_fact("heads", heads_line(model));
  print_fact("sizes", format("hidden %lld, vocabulary %lld, positions %lld", static_cast<long long>(model.hidden_size),
                             static_cast<long long>(model.vocab_size), static_cast<long long>(model.max_positions)));
  print_by_layer("attention", layers, &LayerFacts::kind);
  print_by_layer("mask", layers, &LayerFacts::mask);
  print_by_layer("rotation", layers, &LayerFacts::rotation);
  print_by_layer("block", layers, &LayerFacts::block);
  print_by_layer("keys, values", layers, &LayerFacts::keys);
  print_by_layer("stream", layers, &LayerFacts::stream);
  print_fact("logits", logits_text(model));
}

std::string call_text(const AttentionSpec& attention) {
  const CaptureCall& call = *attention.call;
  std::string text = format("%s, %zu heads, %lld queries, %lld keys of %lld channels", attention.kind.c_str(),
                            attention.heads.size(), static_cast<long long>(call.queries),
                            static_cast<long long>(call.keys), static_cast<long long>(attention.head_dim));
  if (attention.value_dim != attention.head_dim)
    text += format(", values of %lld", static_cast<long long>(attention.value_dim));
  text += attention.causal ? ", causal" : ", bidirectional";
  if (attention.causal && call.first_query != 0)
    text += format(" from position %lld on", static_cast<long long>(call.first_query));
  text += reach_text(attention.window, attention.chunk, attention.always_visible);
  if (attention.softcap > 0.0) text += format(", logits capped at %g", attention.softcap);
  if (call.mask.present()) text += call.mask.info->dtype == DType::BOOL ? ", a mask of its own" : ", an additive mask";
  if (call.context.present()) text += ", with the model's context";
  return text;
}

// A line for each call; of many the first ones.
void print_capture(const ModelSpec& model) {
  constexpr std::size_t kShown = 200;
  const Capture& capture = *model.capture;
  const auto tokens = [](const CaptureTokens& of) {
    if (of.length() == 0) return std::string("not named");
    return format("%lld%s%s", static_cast<long long>(of.length()), of.ids.empty() ? "" : ", ids",
                  of.texts.empty() ? "" : ", texts");
  };
  print_fact("capture",
             format("%zu calls", model.blocks.size()) + (capture.source.empty() ? "" : ", " + capture.source));
  print_fact("tokens", tokens(capture.tokens));
  if (capture.key_tokens.length() > 0) print_fact("key tokens", tokens(capture.key_tokens));
  for (std::size_t layer = 0; layer < std::min(model.blocks.size(), kShown); ++layer) {
    const AttentionSpec& attention = model.blocks[layer].attention;
    print_fact(format("L%zu", layer).c_str(), attention.call->name + ": " + call_text(attention));
  }
  if (model.blocks.size() > kShown) print_fact("", format("… %zu calls in all", model.blocks.size()));
}

nlohmann::json calls_json(const ModelSpec& model) {
  nlohmann::json calls = nlohmann::json::array();
  for (const BlockSpec& block : model.blocks) {
    const AttentionSpec& attention = block.attention;
    const CaptureCall& call = *attention.call;
    calls.push_back({{"name", call.name},
                     {"kind", attention.kind},
                     {"heads", attention.heads.size()},
                     {"queries", call.queries},
                     {"keys", call.keys},
                     {"first_query", call.first_query},
                     {"head_dim", attention.head_dim},
                     {"value_dim", attention.value_dim},
                     {"causal", attention.causal},
                     {"window", attention.window},
                     {"scale", attention.scale},
                     {"softcap", attention.softcap},
                     {"mask", call.mask.present()},
                     {"context", call.context.present()}});
  }
  return calls;
}

// The first layer's first heads, or the heads that were asked for.
void print_programs(const Inspection& found) {
  for (const std::int64_t layer : found.layers)
    for (const std::int64_t head : found.heads)
      print_fact(format("L%lld.H%lld", static_cast<long long>(layer), static_cast<long long>(head)).c_str(),
                 program_of(*found.model, layer, head));
  if (!found.layers.empty()) return;
  const AttentionSpec& attention = found.model->first_attention();
  const std::size_t shown = std::min<std::size_t>(attention.heads.size(), 3);
  for (std::size_t h = 0; h < shown; ++h)
    print_fact(h == 0 ? "head program" : "", "H" + std::to_string(h) + ": " + program_text(attention.heads[h]));
  if (shown < attention.heads.size()) print_fact("", format("… %zu heads in all", attention.heads.size()));
}

void print_adapter(const Adapter& adapter, const Inspection& found) {
  if (!found.changes.empty())
    print_fact("adapter", "LoRA of rank " + values_text(found.changes, [](const LowRank& c) { return c.rank(); }) +
                              ", scale " + values_text(found.changes, [](const LowRank& c) { return c.scale; }) +
                              format(", of %zu matrices", found.changes.size()));
  if (!found.replaced.empty())
    print_fact(
        found.changes.empty() ? "adapter" : "",
        format("%zu tensors in place of the base's, the first is ", found.replaced.size()) + found.replaced.front());
  print_fact("base", adapter.base.string());
}

void print_text(const Inspection& found, bool all_tensors) {
  const Checkpoint& checkpoint = *found.checkpoint;
  print_fact("checkpoint", checkpoint.path().string());
  print_fact("format",
             std::string(checkpoint.format_name()) +
                 format(", %zu file%s, ", checkpoint.files().size(), checkpoint.files().size() == 1 ? "" : "s") +
                 size_text(static_cast<double>(found.size_bytes)));
  std::string dtypes;
  for (const auto& [name, count] : found.dtypes)
    dtypes += (dtypes.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  print_fact("tensors", format("%zu (%s), %s values", checkpoint.tensors().size(), dtypes.c_str(),
                               count_text(found.parameters).c_str()));
  if (const Adapter* adapter = checkpoint.adapter()) print_adapter(*adapter, found);
  if (found.model && found.model->capture) {
    print_capture(*found.model);
    print_programs(found);
  } else if (found.model) {
    print_model(*found.model);
    if (const std::string aside = set_aside_text(*found.model, checkpoint); !aside.empty())
      print_fact("not run", aside);
    print_programs(found);
    std::string accounts;
    for (const auto& [account, count] : found.attention_parameters)
      if (count > 0) accounts += (accounts.empty() ? "" : ", ") + account + " " + count_text(count);
    print_fact("parameters", "attention: " + accounts);
  } else {
    print_fact("model", "none: " + describe(*found.model_error));
  }
  if (!found.model || !found.model->capture)
    print_fact("tokenizer", found.tokenizer.empty() ? "none (token ids work)" : found.tokenizer);
  for (const std::string& warning : found.warnings) print_fact("warning", warning);
  if (!all_tensors && found.model) return;
  for (const TensorInfo& tensor : checkpoint.tensors())
    std::printf("  %-60s %-8s %s\n", escape_for_terminal(tensor.name).c_str(), tensor.dtype_name.c_str(),
                shape_text(tensor.shape).c_str());
}

nlohmann::json adapter_json(const Adapter& adapter, const Inspection& found) {
  nlohmann::json changes = nlohmann::json::array();
  for (const LowRank& change : found.changes)
    changes.push_back({{"a", change.a->name}, {"b", change.b->name}, {"rank", change.rank()}, {"scale", change.scale}});
  return {{"base", adapter.base.string()},
          {"peft_type", adapter.config.value("peft_type", nlohmann::json())},
          {"changes", std::move(changes)},
          {"replaced", found.replaced}};
}

nlohmann::json to_json(const Inspection& found) {
  nlohmann::json json;
  json["path"] = found.checkpoint->path().string();
  json["format"] = found.checkpoint->format_name();
  json["parameters"] = found.parameters;
  json["size_bytes"] = found.size_bytes;
  json["dtypes"] = found.dtypes;
  json["tokenizer"] = found.tokenizer.empty() ? nlohmann::json() : nlohmann::json(found.tokenizer);
  json["warnings"] = found.warnings;
  if (const Adapter* adapter = found.checkpoint->adapter()) json["adapter"] = adapter_json(*adapter, found);
  json["missing_tensors"] =
      std::vector<std::string>(found.checkpoint->missing_tensors().begin(), found.checkpoint->missing_tensors().end());
  for (const char* key : {"model_type", "layers", "heads", "kv_heads", "head_dim", "hidden_size", "vocab_size",
                          "attention", "attention_parameters", "by_layer", "logits"})
    json[key] = nullptr;
  if (!found.model) {
    json["model_error"] = describe(*found.model_error);
    return json;
  }
  const ModelSpec& model = *found.model;
  json["model_type"] = model.model_type;
  json["layers"] = model.blocks.size();
  json["heads"] = model.num_heads;
  json["kv_heads"] = model.num_kv_heads;
  json["head_dim"] = model.first_attention().head_dim;
  json["hidden_size"] = model.hidden_size;
  json["vocab_size"] = model.vocab_size;
  json["attention"] = nlohmann::json::array();
  for (const BlockSpec& block : model.blocks) json["attention"].push_back(std::string(block.kind()));
  json["attention_parameters"] = found.attention_parameters;
  if (model.encoder)
    for (std::size_t layer = 0; layer < model.blocks.size(); ++layer)
      json["layer_names"].push_back(model.layer_name(static_cast<std::int64_t>(layer)));
  json["by_layer"] = layers_json(model);
  json["logits"] = logits_json(model);
  if (model.capture) json["calls"] = calls_json(model);
  for (const std::int64_t layer : found.layers)
    for (const std::int64_t head : found.heads)
      json["head_programs"].push_back({{"layer", layer}, {"head", head}, {"program", program_of(model, layer, head)}});
  return json;
}

Result<void> find_places(const Address& address, Inspection& found) {
  if (address.layers.empty() || !found.model) return {};
  const auto layers = static_cast<std::int64_t>(found.model->blocks.size());
  HEADROOM_TRY(found.layers, parse_index_list(address.layers, "::L", layers));
  HEADROOM_TRY_VOID(found.model->check_attends(found.layers));
  const std::string all = "0-" + std::to_string(found.model->num_heads - 1);
  HEADROOM_TRY(found.heads,
               parse_index_list(address.heads.empty() ? all : address.heads, ".H", found.model->num_heads));
  return {};
}

}  // namespace

int run_inspect(const InspectArguments& arguments) {
  if (claims_to_be_run_file(arguments.path)) {
    const Result<void> told = inspect_run_file(arguments.path, arguments.tensors, arguments.json);
    return told ? 0 : report_error(told.error(), arguments.json);
  }
  const auto address = parse_address(arguments.path);
  if (!address) return report_error(address.error(), arguments.json);
  auto checkpoint = Checkpoint::open(address->path, arguments.options);
  if (!checkpoint) return report_error(checkpoint.error(), arguments.json);
  Inspection found = look(std::move(*checkpoint), address->sequence);
  if (auto places = find_places(*address, found); !places) return report_error(places.error(), arguments.json);
  const bool partial = !found.checkpoint->missing_tensors().empty();
  // Tensors without any config are a fine thing to list; a config that is wrong or unknown is said with its code.
  const bool described = !found.checkpoint->config().is_null() || found.checkpoint->format() == ContainerFormat::Gguf ||
                         is_capture(*found.checkpoint);
  const bool failed = found.model_error && described && !partial;
  if (arguments.json) {
    nlohmann::json json = to_json(found);
    if (failed) json["error"] = error_object(*found.model_error);
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    print_text(found, arguments.tensors);
  }
  if (failed) return report_error(*found.model_error, false);
  if (auto complete = check_complete(*found.checkpoint); !complete) {
    (void)report_error(complete.error(), false);
    return kPartialResult;
  }
  return 0;
}

}  // namespace headroom
