#include "core/model/capture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "core/base/format.h"
#include "core/checkpoint/strict_json.h"
#include "core/model/capture_heads.h"

namespace headroom {
namespace {

using nlohmann::json;

constexpr std::size_t kMostCalls = 65'536;
constexpr std::array<std::string_view, 9> kKeys = {"name",    "kind",    "scale",       "causal", "window",
                                                   "softcap", "pairing", "first_query", "heads"};
constexpr std::array<std::string_view, 8> kTensors = {"q", "k", "v", "lambda", "gate", "sink", "mask", "context"};

std::string metadata_text(const Checkpoint& checkpoint, const char* key) {
  const json& metadata = checkpoint.metadata();
  if (!metadata.is_object() || !metadata.contains(key) || !metadata.at(key).is_string()) return "";
  return metadata.at(key).get<std::string>();
}

class CaptureReader {
 public:
  CaptureReader(const Checkpoint& checkpoint, std::int64_t sequence) : checkpoint_(checkpoint) {
    capture_->sequence = sequence;
  }

  Result<ModelSpec> read() {
    const std::string version = metadata_text(checkpoint_, "version");
    if (version != "1")
      return at("version", ErrorCode::Unsupported, "the capture is of another version").wanted("1", version);
    HEADROOM_TRY(const json calls, list("calls"));
    if (calls.empty()) return at("calls", ErrorCode::Corrupt, "the capture has no call");
    if (calls.size() > kMostCalls)
      return at("calls", ErrorCode::Corrupt, "the capture has too many calls")
          .wanted(format("at most %zu", kMostCalls), std::to_string(calls.size()));
    HEADROOM_TRY_VOID(find_batch());
    model_.model_type = "capture";
    for (std::size_t i = 0; i < calls.size(); ++i) HEADROOM_TRY_VOID(read_call(i, calls[i]));
    HEADROOM_TRY_VOID(check_names(calls.size()));
    HEADROOM_TRY_VOID(read_tokens("token_ids", "token_texts", capture_->tokens));
    HEADROOM_TRY_VOID(read_tokens("key_token_ids", "key_token_texts", capture_->key_tokens));
    capture_->source = metadata_text(checkpoint_, "source");
    model_.capture = capture_;
    return std::move(model_);
  }

 private:
  [[nodiscard]] Error at(std::string_view field, ErrorCode code, const std::string& message) const {
    Error error(code, message);
    return error.at_tensor(field).in_file(checkpoint_.path().string());
  }
  [[nodiscard]] Error bad(std::string_view field, const std::string& message) const {
    return at(field, ErrorCode::Corrupt, message);
  }

  // A JSON array of `__metadata__`; Corrupt where it is none or not there.
  Result<json> list(const char* key) const {
    const std::string text = metadata_text(checkpoint_, key);
    auto parsed = parse_json(text, JsonLimits{});
    if (!parsed)
      return at(key, parsed.error().code, "the capture's list is no JSON: " + parsed.error().message)
          .wanted("a JSON array", text.empty() ? "nothing" : "");
    if (!parsed->is_array()) return bad(key, "the capture's list is no JSON array");
    return parsed;
  }

  // Whether the tensors have a batch axis: the first call's queries say it.
  Result<void> find_batch() {
    const TensorInfo* q = checkpoint_.find("calls.0.q");
    if (!q) return bad("calls.0.q", "the capture lacks the queries of a call");
    const std::int64_t sequences = q->shape.size() == 4 ? q->shape.front() : 0;
    const std::int64_t count = std::max<std::int64_t>(sequences, 1);
    if (q->shape.size() == 4 && sequences == 0) return bad("calls.0.q", "the batch of the capture is empty");
    if (capture_->sequence < 0 || capture_->sequence >= count)
      return at("::S", ErrorCode::InvalidArgument, "the capture has no such sequence")
          .wanted(format("0 to %lld", static_cast<long long>(count - 1)), std::to_string(capture_->sequence));
    capture_->sequences = sequences;
    if (sequences > 1)
      model_.warnings.push_back(format("sequence %lld of %lld; PATH::S0 to ::S%lld choose one",
                                       static_cast<long long>(capture_->sequence), static_cast<long long>(sequences),
                                       static_cast<long long>(sequences - 1)));
    return {};
  }

  // The tensor without its batch axis; absent where the file has none of that name.
  Result<CapturedTensor> tensor(const std::string& name) const {
    CapturedTensor found;
    found.info = checkpoint_.find(name);
    if (!found.info) return found;
    found.shape = found.info->shape;
    if (capture_->sequences == 0) return found;
    if (found.shape.empty() || found.shape.front() != capture_->sequences)
      return bad(name, "a tensor has not the batch axis of the others")
          .wanted(format("%lld sequences", static_cast<long long>(capture_->sequences)), shape_text(found.shape));
    found.shape.erase(found.shape.begin());
    found.first = capture_->sequence * found.element_count();
    return found;
  }

  Result<CapturedTensor> numbers(const std::string& name, bool may_be_bool = false) const {
    HEADROOM_TRY(CapturedTensor found, tensor(name));
    if (!found.present()) return found;
    const DType type = found.info->dtype;
    const bool fits = type == DType::F64 || type == DType::F32 || type == DType::F16 || type == DType::BF16 ||
                      (may_be_bool && type == DType::BOOL);
    if (!fits)
      return at(name, ErrorCode::Unsupported, "a tensor of the capture has a type that it cannot have")
          .wanted(may_be_bool ? "F64, F32, F16, BF16 or BOOL" : "F64, F32, F16 or BF16", found.info->dtype_name);
    return found;
  }

  Result<void> read_call(std::size_t index, const json& given) {
    const std::string prefix = format("calls.%zu", index);
    if (!given.is_object()) return bad(prefix, "a call is described by no JSON object");
    for (const auto& [key, value] : given.items())
      if (std::ranges::find(kKeys, key) == kKeys.end())
        return at(prefix + "." + key, ErrorCode::Unsupported, "a call has a key that this program does not know");
    auto call = std::make_shared<CaptureCall>();
    BlockSpec block;
    AttentionSpec& attention = block.attention;
    HEADROOM_TRY(call->name, text_of(given, "name", format("call %zu", index), prefix));
    HEADROOM_TRY(attention.kind, text_of(given, "kind", "softmax", prefix));
    HEADROOM_TRY(attention.causal, flag_of(given, "causal", prefix));
    HEADROOM_TRY(attention.window, count_of(given, "window", prefix));
    HEADROOM_TRY(attention.softcap, number_of(given, "softcap", 0.0, prefix));
    HEADROOM_TRY_VOID(read_products(prefix, *call));
    attention.head_dim = call->q.shape[2];
    attention.value_dim = call->v.shape[2];
    attention.num_query_blocks = call->q.shape[0];
    attention.num_key_blocks = call->k.shape[0];
    attention.num_value_blocks = call->v.shape[0];
    HEADROOM_TRY(attention.scale,
                 number_of(given, "scale", 1.0 / std::sqrt(static_cast<double>(attention.head_dim)), prefix));
    HEADROOM_TRY_VOID(read_first_query(given, prefix, attention, *call));
    HEADROOM_TRY(const std::string pairing, text_of(given, "pairing", "adjacent", prefix));
    HEADROOM_TRY_VOID(read_others(prefix, *call));
    if (auto heads = make_capture_heads(*call, pairing, attention); !heads)
      return heads.error()
          .in_file(checkpoint_.path().string())
          .at_tensor(heads.error().tensor.empty() ? prefix : prefix + "." + heads.error().tensor);
    HEADROOM_TRY_VOID(read_head_names(given, prefix, attention.heads.size(), *call));
    model_.num_heads = std::max(model_.num_heads, static_cast<std::int64_t>(attention.heads.size()));
    model_.num_kv_heads = std::max(model_.num_kv_heads, attention.num_key_blocks);
    capture_->length = std::max({capture_->length, call->queries, call->keys});
    attention.call = std::move(call);
    model_.blocks.push_back(std::move(block));
    return {};
  }

  // q, k and v with shapes that fit each other.
  Result<void> read_products(const std::string& prefix, CaptureCall& call) const {
    const std::pair<const char*, CapturedTensor*> parts[] = {{".q", &call.q}, {".k", &call.k}, {".v", &call.v}};
    for (const auto& [name, part] : parts) {
      HEADROOM_TRY(*part, numbers(prefix + name));
      if (!part->present()) return bad(prefix + name, "the capture lacks a tensor of a call");
      if (part->shape.size() != 3)
        return bad(prefix + name, "a tensor has not three axes")
            .wanted("[heads, tokens, channels]", shape_text(part->shape));
      if (std::ranges::any_of(part->shape, [](std::int64_t extent) { return extent < 1; }))
        return bad(prefix + name, "a tensor has no elements")
            .wanted("[heads, tokens, channels]", shape_text(part->shape));
    }
    call.queries = call.q.shape[1];
    call.keys = call.k.shape[1];
    if (call.k.shape[2] != call.q.shape[2])
      return bad(prefix + ".k", "keys and queries have not as many channels")
          .wanted(std::to_string(call.q.shape[2]), std::to_string(call.k.shape[2]));
    if (call.v.shape[1] != call.keys)
      return bad(prefix + ".v", "there are not as many values as keys")
          .wanted(std::to_string(call.keys), std::to_string(call.v.shape[1]));
    if (call.q.shape[0] % call.k.shape[0] != 0)
      return bad(prefix + ".k", "the query heads do not divide among the key heads")
          .wanted("a divisor of " + std::to_string(call.q.shape[0]), std::to_string(call.k.shape[0]));
    return {};
  }

  Result<void> read_others(const std::string& prefix, CaptureCall& call) const {
    HEADROOM_TRY(call.lambda, numbers(prefix + ".lambda"));
    HEADROOM_TRY(call.gate, numbers(prefix + ".gate"));
    HEADROOM_TRY(call.sink, numbers(prefix + ".sink"));
    HEADROOM_TRY(call.mask, numbers(prefix + ".mask", true));
    HEADROOM_TRY(call.context, numbers(prefix + ".context"));
    return {};
  }

  Result<void> read_first_query(const json& given, const std::string& prefix, const AttentionSpec& attention,
                                CaptureCall& call) const {
    call.first_query = attention.causal ? call.keys - call.queries : 0;
    if (!given.contains("first_query") || given["first_query"].is_null()) return {};
    const json& value = given["first_query"];
    constexpr std::int64_t kFurthest = std::int64_t{1} << 40;
    if (!value.is_number_integer() || value.get<std::int64_t>() < -kFurthest || value.get<std::int64_t>() > kFurthest)
      return bad(prefix + ".first_query", "the position of query 0 is no whole number").wanted("", value.dump());
    call.first_query = value.get<std::int64_t>();
    if (!attention.causal && call.first_query < 0)
      return bad(prefix + ".first_query", "a call that is not causal begins before its first key")
          .wanted("0 or more", std::to_string(call.first_query));
    return {};
  }

  Result<void> read_head_names(const json& given, const std::string& prefix, std::size_t heads,
                               CaptureCall& call) const {
    if (!given.contains("heads") || given["heads"].is_null()) return {};
    const json& names = given["heads"];
    const bool fits = names.is_array() && names.size() == heads &&
                      std::ranges::all_of(names, [](const json& name) { return name.is_string(); });
    if (!fits)
      return bad(prefix + ".heads", "the names of a call's heads are no list of as many texts")
          .wanted(std::to_string(heads), names.is_array() ? std::to_string(names.size()) : names.type_name());
    call.head_names = names.get<std::vector<std::string>>();
    return {};
  }

  // Every tensor of the file belongs to a call.
  Result<void> check_names(std::size_t calls) {
    std::size_t unused = 0;
    std::string first;
    for (const TensorInfo& tensor : checkpoint_.tensors()) {
      if (tensor.name == "token_ids" || tensor.name == "key_token_ids") continue;
      const std::string& name = tensor.name;
      const std::size_t begin = std::string_view("calls.").size(), dot = name.find('.', begin);
      bool known = name.starts_with("calls.") && dot != std::string::npos &&
                   std::ranges::find(kTensors, std::string_view(name).substr(dot + 1)) != kTensors.end();
      std::size_t index = 0;
      for (std::size_t c = begin; known && c < dot; ++c) {
        known = name[c] >= '0' && name[c] <= '9' && index < calls;
        index = 10 * index + static_cast<std::size_t>(name[c] - '0');
      }
      if (known && index < calls) continue;
      if (unused++ == 0) first = name;
    }
    if (unused > 0) model_.warnings.push_back(format("%zu tensors belong to no call, the first is ", unused) + first);
    return {};
  }

  Result<void> read_tokens(const char* id_name, const char* text_name, CaptureTokens& tokens) const {
    HEADROOM_TRY(const CapturedTensor ids, tensor(id_name));
    if (ids.present()) {
      if (ids.shape.size() != 1)
        return bad(id_name, "token ids have not one axis").wanted("[tokens]", shape_text(ids.shape));
      if (ids.info->dtype != DType::I64 && ids.info->dtype != DType::I32)
        return bad(id_name, "token ids have another type").wanted("I64", ids.info->dtype_name);
      std::vector<double> values(static_cast<std::size_t>(ids.element_count()));
      HEADROOM_TRY_VOID(checkpoint_.read(*ids.info, ids.first, std::span<double>(values)));
      for (const double value : values) {
        if (value < -1.0 || value > static_cast<double>(std::numeric_limits<std::int32_t>::max()))
          return bad(id_name, "a token id is none").wanted("0 to 2147483647, or -1", format("%.0f", value));
        tokens.ids.push_back(static_cast<std::int32_t>(value));
      }
    }
    if (!metadata_text(checkpoint_, text_name).empty()) {
      HEADROOM_TRY(const json texts, list(text_name));
      HEADROOM_TRY(const json* const chosen, texts_of_sequence(texts, text_name));
      for (const json& text : *chosen) {
        if (!text.is_string()) return bad(text_name, "a token's text is no text").wanted("a string", text.type_name());
        tokens.texts.push_back(text.get<std::string>());
      }
    }
    if (!tokens.ids.empty() && !tokens.texts.empty() && tokens.ids.size() != tokens.texts.size())
      return bad(text_name, "there are not as many texts as token ids")
          .wanted(std::to_string(tokens.ids.size()), std::to_string(tokens.texts.size()));
    return {};
  }

  // A list of texts for all sequences, or one list for each.
  Result<const json*> texts_of_sequence(const json& texts, const char* name) const {
    if (capture_->sequences == 0 || texts.empty() || !texts.front().is_array()) return &texts;
    if (static_cast<std::int64_t>(texts.size()) != capture_->sequences)
      return bad(name, "there are not as many lists of texts as sequences")
          .wanted(std::to_string(capture_->sequences), std::to_string(texts.size()));
    const json& chosen = texts[static_cast<std::size_t>(capture_->sequence)];
    if (!chosen.is_array()) return bad(name, "the texts of a sequence are no list");
    return &chosen;
  }

  Result<std::string> text_of(const json& given, const char* key, std::string otherwise,
                              const std::string& prefix) const {
    if (!given.contains(key) || given[key].is_null()) return otherwise;
    if (!given[key].is_string())
      return bad(prefix + "." + key, "a call's value is no text").wanted("", given[key].dump());
    return given[key].get<std::string>();
  }
  Result<bool> flag_of(const json& given, const char* key, const std::string& prefix) const {
    if (!given.contains(key) || given[key].is_null()) return false;
    if (!given[key].is_boolean())
      return bad(prefix + "." + key, "a call's value is neither true nor false").wanted("", given[key].dump());
    return given[key].get<bool>();
  }
  // 0 where there is none.
  Result<std::int64_t> count_of(const json& given, const char* key, const std::string& prefix) const {
    if (!given.contains(key) || given[key].is_null()) return 0;
    const json& value = given[key];
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1)
      return bad(prefix + "." + key, "a call's value is no whole number above 0").wanted("", value.dump());
    return value.get<std::int64_t>();
  }
  Result<double> number_of(const json& given, const char* key, double otherwise, const std::string& prefix) const {
    if (!given.contains(key) || given[key].is_null()) return otherwise;
    const json& value = given[key];
    if (!value.is_number() || !std::isfinite(value.get<double>()) || !(value.get<double>() > 0.0))
      return bad(prefix + "." + key, "a call's value is no number above 0").wanted("", value.dump());
    return value.get<double>();
  }

  const Checkpoint& checkpoint_;
  ModelSpec model_;
  std::shared_ptr<Capture> capture_ = std::make_shared<Capture>();
};

}  // namespace

std::int64_t CapturedTensor::element_count() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t CaptureTokens::length() const { return static_cast<std::int64_t>(std::max(ids.size(), texts.size())); }

bool is_capture(const Checkpoint& checkpoint) { return metadata_text(checkpoint, "format") == "headroom-capture"; }

Result<ModelSpec> describe_capture(const Checkpoint& checkpoint, std::int64_t sequence) {
  return CaptureReader(checkpoint, sequence).read();
}

}  // namespace headroom
