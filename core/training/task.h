// What a small model is trained on: sequences of token ids and what is asked of the model at each position. A task is
// its recipe's text made concrete; batches depend on (split, seed, index) alone. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace headroom {

enum class Objective {
  NextToken,  // cross-entropy of the logits with a target id
  Residual,   // mean square of (residual stream after the blocks − embedding) − target
};

// Training batches differ by seed and index; validation batches by index, so that all seeds meet the same ones.
enum class Split { Training, Validation };

struct Batch {
  std::int64_t sequences = 0, length = 0;
  std::vector<std::int32_t> tokens;   // [sequences, length]
  std::vector<std::int32_t> targets;  // NextToken: [sequences, length]; −100 where nothing is asked
  std::vector<float> residual;        // Residual: [sequences, length, hidden]
};

class Task {
 public:
  virtual ~Task() = default;
  [[nodiscard]] virtual std::string_view kind() const = 0;
  [[nodiscard]] virtual Objective objective() const = 0;
  [[nodiscard]] virtual std::int64_t vocab_size() const = 0;
  [[nodiscard]] virtual std::int64_t length() const = 0;  // of its sequences
  // The id that begins every sequence; −1 where sequences begin with an ordinary token.
  [[nodiscard]] virtual std::int64_t bos() const = 0;
  [[nodiscard]] virtual Batch batch(Split split, std::uint64_t seed, std::uint64_t index,
                                    std::int64_t sequences) const = 0;
  // Whether the task needs attention at this row of a sequence of its own: at a trigger. Everywhere in a text.
  [[nodiscard]] virtual bool asks(std::span<const std::int32_t> tokens, std::int64_t row) const;
  // [vocab, hidden]: the embedding that the task is stated in; empty where it is learned.
  [[nodiscard]] virtual std::vector<float> embedding() const { return {}; }
  [[nodiscard]] virtual std::int64_t embedding_width() const { return 0; }
  // tokenizer.json for checkpoints of this task; empty where tokens have no text.
  [[nodiscard]] virtual std::string tokenizer_json() const { return {}; }
};

// Sequences of the task that neither training nor validation draws.
[[nodiscard]] std::vector<std::vector<std::int32_t>> evaluation_sequences(const Task& task, std::int64_t count = 64);

// What lies beside a checkpoint of this task, by file name: its tokenizer, and the first evaluation sequence as the
// prompt that shows what the model is for.
[[nodiscard]] std::map<std::string, std::string> task_siblings(const Task& task);

// From a recipe's `task` object; relative paths in it start at `folder`. Errors name the field.
[[nodiscard]] Result<std::unique_ptr<Task>> create_task(const nlohmann::json& settings,
                                                        const std::filesystem::path& folder);

// One per kind, in a file of its own.
class ConfigReader;
[[nodiscard]] Result<std::unique_ptr<Task>> create_trigger_task(ConfigReader& settings);
[[nodiscard]] Result<std::unique_ptr<Task>> create_backcopy_task(ConfigReader& settings, const std::string& text);
[[nodiscard]] Result<std::unique_ptr<Task>> create_bytes_task(ConfigReader& settings, std::string text);
[[nodiscard]] Result<std::unique_ptr<Task>> create_needle_task(ConfigReader& settings, const std::string& text);

}  // namespace headroom
