// Bigram-Backcopy (Guo et al., arXiv 2410.13835, section 2): a Markov chain of characters, but after a trigger
// character the one before it comes again.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config_reader.h"
#include "core/training/byte_vocabulary.h"
#include "core/training/random_stream.h"
#include "core/training/task.h"

namespace headroom {
namespace {

// Token 0 is BOS, token 1 + s the symbol s. A trigger is never drawn after a trigger: the copied symbol is none.
class BackcopyTask final : public Task {
 public:
  BackcopyTask(std::vector<unsigned char> symbols, std::vector<bool> is_trigger,
               std::vector<std::vector<double>> cumulative, std::int64_t length)
      : symbols_(std::move(symbols)),
        is_trigger_(std::move(is_trigger)),
        cumulative_(std::move(cumulative)),
        length_(length) {}

  std::string_view kind() const override { return "bigram_backcopy"; }
  Objective objective() const override { return Objective::NextToken; }
  std::int64_t vocab_size() const override { return 1 + static_cast<std::int64_t>(symbols_.size()); }
  std::int64_t length() const override { return length_; }
  std::int64_t bos() const override { return 0; }

  Batch batch(Split split, std::uint64_t seed, std::uint64_t index, std::int64_t sequences) const override {
    const bool validation = split == Split::Validation;
    RandomStream random(validation ? 0 : seed, validation ? "backcopy validation" : "backcopy", index);
    Batch batch;
    batch.sequences = sequences;
    batch.length = length_;
    for (std::int64_t s = 0; s < sequences; ++s) {
      std::vector<std::size_t> chain;  // the symbols behind BOS
      chain.push_back(draw(cumulative_.back(), random));
      while (static_cast<std::int64_t>(chain.size()) < length_) {
        const std::size_t last = chain.back();
        chain.push_back(is_trigger_[last] ? chain[chain.size() - 2] : draw(cumulative_[last], random));
      }
      batch.tokens.push_back(0);
      for (std::size_t i = 0; i < chain.size(); ++i) {
        if (i + 1 < chain.size()) batch.tokens.push_back(static_cast<std::int32_t>(1 + chain[i]));
        batch.targets.push_back(static_cast<std::int32_t>(1 + chain[i]));
      }
    }
    return batch;
  }

  bool asks(std::span<const std::int32_t> tokens, std::int64_t row) const override {
    const std::int32_t token = tokens[static_cast<std::size_t>(row)];
    return token > 0 && is_trigger_[static_cast<std::size_t>(token - 1)];
  }

  std::string tokenizer_json() const override { return byte_tokenizer_json(symbols_, 1, 0, true); }

 private:
  static std::size_t draw(const std::vector<double>& cumulative, RandomStream& random) {
    const double at = random.uniform() * cumulative.back();
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), at);
    return static_cast<std::size_t>(std::min(found, cumulative.end() - 1) - cumulative.begin());
  }

  std::vector<unsigned char> symbols_;
  std::vector<bool> is_trigger_;
  std::vector<std::vector<double>> cumulative_;  // counts after each symbol; the last entry: of a first symbol
  std::int64_t length_;
};

// The `count` most frequent bytes, most frequent first, then by value.
std::vector<unsigned char> frequent_bytes(const std::string& text, std::int64_t count) {
  std::array<std::int64_t, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  std::vector<unsigned char> bytes;
  for (int b = 0; b < 256; ++b)
    if (counts[static_cast<std::size_t>(b)] > 0) bytes.push_back(static_cast<unsigned char>(b));
  std::stable_sort(bytes.begin(), bytes.end(), [&](unsigned char a, unsigned char b) { return counts[a] > counts[b]; });
  bytes.resize(std::min(bytes.size(), static_cast<std::size_t>(count)));
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Task>> create_backcopy_task(ConfigReader& settings, const std::string& given) {
  HEADROOM_TRY(const std::int64_t length, settings.integer("length", std::nullopt, 3, 1 << 20));
  HEADROOM_TRY(const std::int64_t count, settings.integer("symbols", std::nullopt, 2, 255));
  HEADROOM_TRY(const std::string triggers, settings.text("triggers", std::nullopt));
  std::string text = given;
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::vector<unsigned char> symbols = frequent_bytes(text, count);
  std::vector<bool> is_trigger;
  for (const unsigned char symbol : symbols)
    is_trigger.push_back(triggers.find(static_cast<char>(symbol)) != std::string::npos);
  const auto found = std::count(is_trigger.begin(), is_trigger.end(), true);
  if (found == 0 || found != static_cast<std::ptrdiff_t>(triggers.size()) ||
      found == static_cast<std::ptrdiff_t>(symbols.size())) {
    Error error(ErrorCode::InvalidArgument, "the triggers are not some of the text's frequent symbols");
    return error.at_tensor("task.triggers")
        .wanted("different lower-case characters among the symbols, not all of them", triggers);
  }

  std::array<int, 256> index{};
  index.fill(-1);
  for (std::size_t s = 0; s < symbols.size(); ++s) index[symbols[s]] = static_cast<int>(s);
  const std::size_t n = symbols.size();
  // Pairs of neighbours in the text; the last row counts symbols that are no triggers, for the beginning.
  std::vector<std::vector<double>> counts(n + 1, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int here = index[static_cast<unsigned char>(text[i])];
    const int next = i + 1 < text.size() ? index[static_cast<unsigned char>(text[i + 1])] : -1;
    if (here < 0) continue;
    if (!is_trigger[static_cast<std::size_t>(here)]) counts[n][static_cast<std::size_t>(here)] += 1.0;
    if (next >= 0) counts[static_cast<std::size_t>(here)][static_cast<std::size_t>(next)] += 1.0;
  }
  for (std::vector<double>& row : counts) {
    double sum = 0.0;
    for (double& value : row) value = sum += value;
    if (sum == 0.0) row = counts.back();  // a symbol that only ends the text
  }
  return std::unique_ptr<Task>(std::make_unique<BackcopyTask>(symbols, is_trigger, std::move(counts), length));
}

}  // namespace headroom
