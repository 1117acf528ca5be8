// A capture: a safetensors file of calls of attention that any PyTorch model made, with their queries, keys and values
// (core/checkpoint/FORMATS.md#captures). Each call becomes a layer of a ModelSpec that has head programs and no
// weights. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/model_spec.h"

namespace headroom {

// A tensor of the chosen sequence: its shape without the batch axis, and where the sequence begins.
struct CapturedTensor {
  const TensorInfo* info = nullptr;  // null: the call has none
  std::vector<std::int64_t> shape;
  std::int64_t first = 0;  // element

  [[nodiscard]] bool present() const { return info != nullptr; }
  [[nodiscard]] std::int64_t element_count() const;
};

// A layer of an encoder-decoder is described as a call without tensors, once its prompt is known.
struct CaptureCall {
  std::string name;                                  // "encoder.layers.3.self_attn"
  std::vector<std::string> head_names;               // empty: numbers
  std::int64_t queries = 0, keys = 0;                // n, m
  std::int64_t first_query = 0;                      // position of query 0 among the keys
  bool other_keys = false;                           // known to be of another sequence, even where they are as many
  CapturedTensor q, k, v;                            // [query heads, n, d], [key heads, m, d], [value heads, m, d_v]
  CapturedTensor lambda, gate, sink, mask, context;  // those that the call has

  // Queries and keys are places in one sequence: distances, the row's own key and the key before it have a meaning.
  [[nodiscard]] bool positional(bool causal) const { return !other_keys && (causal || queries == keys); }
};

// One of the two sequences that a capture may name: of its queries, and of keys of another sequence.
struct CaptureTokens {
  std::vector<std::int32_t> ids;   // empty: not given
  std::vector<std::string> texts;  // bytes; empty: not given

  [[nodiscard]] std::int64_t length() const;
};

struct Capture {
  std::int64_t sequences = 0;  // of the batch; 0: the tensors have no batch axis
  std::int64_t sequence = 0;   // the chosen one
  std::int64_t length = 0;     // the most rows or keys of a call
  CaptureTokens tokens, key_tokens;
  std::string source;  // "PyTorch 2.11, transformers 5.23: …", where the file says so
};

// The file says that it is one: `__metadata__` has format = "headroom-capture".
[[nodiscard]] bool is_capture(const Checkpoint& checkpoint);

// Corrupt with one sentence for what is missing or does not fit; Unsupported for another version, a kind or a key that
// this program does not know; InvalidArgument for a sequence that is not there. Reads no tensor but token ids.
[[nodiscard]] Result<ModelSpec> describe_capture(const Checkpoint& checkpoint, std::int64_t sequence = 0);

}  // namespace headroom
