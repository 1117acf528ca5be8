// The trigger task (after Ran-Milo, arXiv 2603.11487; assets/recipes/README.md#tasks) as a token model: at the trigger
// token the block adds the mean of the tokens' features to the residual stream, elsewhere nothing.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/config_reader.h"
#include "core/training/random_stream.h"
#include "core/training/task.h"

namespace headroom {
namespace {

// Channels of the embedding: BOS flag, trigger flag, content flag, features.
constexpr std::int64_t kFlags = 3;

class TriggerTask final : public Task {
 public:
  TriggerTask(bool with_bos, std::int64_t contents, std::int64_t features, std::int64_t length)
      : with_bos_(with_bos), contents_(contents), features_(features), length_(length), embedding_(make_embedding()) {}

  std::string_view kind() const override { return "trigger"; }
  Objective objective() const override { return Objective::Residual; }
  // Token 0 is BOS, 1 … contents are plain tokens, and the same ones as triggers follow.
  std::int64_t vocab_size() const override { return 1 + 2 * contents_; }
  std::int64_t length() const override { return length_; }
  std::int64_t bos() const override { return with_bos_ ? 0 : -1; }
  bool asks(std::span<const std::int32_t> tokens, std::int64_t row) const override {
    return tokens[static_cast<std::size_t>(row)] > contents_;
  }
  std::vector<float> embedding() const override { return embedding_; }
  std::int64_t embedding_width() const override { return kFlags + features_; }

  Batch batch(Split split, std::uint64_t seed, std::uint64_t index, std::int64_t sequences) const override {
    const bool validation = split == Split::Validation;
    RandomStream random(validation ? 0 : seed, validation ? "trigger validation" : "trigger", index);
    const std::int64_t first = with_bos_ ? 1 : 0;
    const auto width = static_cast<std::size_t>(embedding_width());
    Batch batch;
    batch.sequences = sequences;
    batch.length = length_;
    for (std::int64_t s = 0; s < sequences; ++s) {
      const std::int64_t trigger = first + random.below(length_ - first);
      std::vector<float> target(width, 0.0f);
      for (std::int64_t i = 0; i < length_; ++i) {
        std::int64_t token = 0;
        if (i >= first) token = 1 + random.below(contents_) + (i == trigger ? contents_ : 0);
        batch.tokens.push_back(static_cast<std::int32_t>(token));
        if (i < first || i > trigger) continue;
        for (std::size_t c = kFlags; c < width; ++c)
          target[c] +=
              embedding_[static_cast<std::size_t>(token) * width + c] / static_cast<float>(trigger - first + 1);
      }
      for (std::int64_t i = 0; i < length_; ++i)
        for (const float value : target) batch.residual.push_back(i == trigger ? value : 0.0f);
    }
    return batch;
  }

 private:
  // Features are uniform in [−1, 1], then scaled so that every token has the same norm: RMSNorm multiplies all of them
  // by the same number, and what the model reads is what the task says.
  [[nodiscard]] std::vector<float> make_embedding() const {
    const auto width = static_cast<std::size_t>(embedding_width());
    std::vector<float> table(static_cast<std::size_t>(vocab_size()) * width, 0.0f);
    const double square = static_cast<double>(features_) / 3.0;  // of U(−1, 1)
    table[0] = static_cast<float>(std::sqrt(square + 1.0));
    for (std::int64_t content = 0; content < contents_; ++content) {
      RandomStream random(0, "trigger embedding", static_cast<std::uint64_t>(content));
      std::vector<double> features(static_cast<std::size_t>(features_));
      double sum = 0.0;
      for (double& value : features) {
        value = 2.0 * random.uniform() - 1.0;
        sum += value * value;
      }
      for (const bool trigger : {false, true}) {
        float* row = table.data() + static_cast<std::size_t>(1 + content + (trigger ? contents_ : 0)) * width;
        row[trigger ? 1 : 2] = 1.0f;
        for (std::size_t c = 0; c < features.size(); ++c)
          row[kFlags + c] = static_cast<float>(features[c] * std::sqrt(square / sum));
      }
    }
    return table;
  }

  bool with_bos_;
  std::int64_t contents_, features_, length_;
  std::vector<float> embedding_;
};

}  // namespace

Result<std::unique_ptr<Task>> create_trigger_task(ConfigReader& settings) {
  HEADROOM_TRY(const bool bos, settings.boolean("bos", true));
  HEADROOM_TRY(const std::int64_t contents, settings.integer("contents", std::nullopt, 1, 1 << 20));
  HEADROOM_TRY(const std::int64_t features, settings.integer("features", std::nullopt, 1, 1 << 16));
  HEADROOM_TRY(const std::int64_t length, settings.integer("length", std::nullopt, 2, 1 << 20));
  return std::unique_ptr<Task>(std::make_unique<TriggerTask>(bos, contents, features, length));
}

}  // namespace headroom
