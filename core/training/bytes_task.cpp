// Next byte of a natural text (assets/recipes/README.md#tasks): windows of the text behind a BOS.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config_reader.h"
#include "core/training/byte_vocabulary.h"
#include "core/training/random_stream.h"
#include "core/training/task.h"

namespace headroom {
namespace {

constexpr std::int64_t kBos = 256;

// The last `validation_share` of the text is never trained on.
class BytesTask final : public Task {
 public:
  BytesTask(std::string text, std::int64_t length, double validation_share)
      : text_(std::move(text)),
        length_(length),
        trained_(static_cast<std::int64_t>(static_cast<double>(text_.size()) * (1.0 - validation_share))) {}

  std::string_view kind() const override { return "bytes"; }
  Objective objective() const override { return Objective::NextToken; }
  std::int64_t vocab_size() const override { return 257; }
  std::int64_t length() const override { return length_; }
  std::int64_t bos() const override { return kBos; }

  Batch batch(Split split, std::uint64_t seed, std::uint64_t index, std::int64_t sequences) const override {
    const bool validation = split == Split::Validation;
    RandomStream random(validation ? 0 : seed, validation ? "bytes validation" : "bytes", index);
    const std::int64_t begin = validation ? trained_ : 0;
    const std::int64_t end = validation ? static_cast<std::int64_t>(text_.size()) : trained_;
    Batch batch;
    batch.sequences = sequences;
    batch.length = length_;
    for (std::int64_t s = 0; s < sequences; ++s) {
      const std::int64_t at = begin + random.below(end - begin - length_ + 1);
      for (std::int64_t i = 0; i < length_; ++i) {
        batch.tokens.push_back(i == 0 ? static_cast<std::int32_t>(kBos) : byte(at + i - 1));
        batch.targets.push_back(byte(at + i));
      }
    }
    return batch;
  }

  std::string tokenizer_json() const override {
    std::vector<unsigned char> bytes(256);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    return byte_tokenizer_json(bytes, 0, kBos, false);
  }

 private:
  [[nodiscard]] std::int32_t byte(std::int64_t at) const {
    return static_cast<unsigned char>(text_[static_cast<std::size_t>(at)]);
  }

  std::string text_;
  std::int64_t length_;
  std::int64_t trained_;
};

}  // namespace

Result<std::unique_ptr<Task>> create_bytes_task(ConfigReader& settings, std::string text) {
  HEADROOM_TRY(const std::int64_t length, settings.integer("length", std::nullopt, 2, 1 << 20));
  HEADROOM_TRY(const double share, settings.number("validation_share", 0.1));
  const auto size = static_cast<double>(text.size());
  const double smaller = std::min(size * share, size * (1.0 - share));
  if (!(share > 0.0 && share < 1.0) || smaller < static_cast<double>(length) + 2.0) {
    Error error(ErrorCode::InvalidArgument,
                "the text cannot be divided into a part to train on and one to validate on");
    return error.at_tensor("task.validation_share")
        .wanted("both longer than task.length",
                std::to_string(share) + " of " + std::to_string(text.size()) + " bytes");
  }
  return std::unique_ptr<Task>(std::make_unique<BytesTask>(std::move(text), length, share));
}

}  // namespace headroom
