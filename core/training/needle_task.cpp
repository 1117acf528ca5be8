// Needles in a text (assets/recipes/README.md#tasks): numbers of cities between windows of a text, and questions whose
// answers are all that is asked.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/model/config_reader.h"
#include "core/text/needle_words.h"
#include "core/training/byte_vocabulary.h"
#include "core/training/random_stream.h"
#include "core/training/task.h"

namespace headroom {
namespace {

constexpr std::int64_t kNeedleBos = 256;
constexpr std::int64_t kLeastText = 16;       // tokens of a sequence that are of the text
constexpr std::int32_t kNothingAsked = -100;  // what LibTorch's cross_entropy_loss leaves out
constexpr std::int64_t kAnswerToNumber = 2;   // from the token of kAnswerBeforeCity to the first digit

// Tokens beside the bytes: what every sentence and question says, cities, cities with their verb, digits behind a
// blank. In the text, too, the longest counts. That sentences are short leaves room for many questions in a sequence,
// which are all that is learned from; that a city with its verb is one token, for a number to be found by one step back
// from it.
std::vector<std::string> needle_vocabulary() {
  std::vector<std::string> words = {std::string(kNeedleBeforeCity), std::string(kQuestionBeforeCity),
                                    std::string(kAnswerBeforeCity)};
  for (const std::string_view city : kNeedleCities)
    for (const std::string_view verb : {std::string_view(), kBehindCity})
      words.push_back(std::string(" ").append(city).append(verb));
  for (char digit = '0'; digit <= '9'; ++digit) words.push_back(std::string(" ") + digit);
  return words;
}

std::vector<std::int32_t> encode_words(std::string_view text, const std::vector<std::string>& words) {
  std::vector<std::int32_t> ids;
  while (!text.empty()) {
    std::size_t longest = 1;
    std::int32_t id = static_cast<unsigned char>(text.front());
    for (std::size_t w = 0; w < words.size(); ++w)
      if (words[w].size() > longest && text.starts_with(words[w])) {
        longest = words[w].size();
        id = static_cast<std::int32_t>(kNeedleBos + 1 + static_cast<std::int64_t>(w));
      }
    ids.push_back(id);
    text.remove_prefix(longest);
  }
  return ids;
}

struct NeedleSettings {
  std::int64_t length = 0, needles = 0, digits = 0;
};

class NeedleTask final : public Task {
 public:
  NeedleTask(const std::string& text, const NeedleSettings& settings, double validation_share)
      : settings_(settings), words_(needle_vocabulary()), text_(encode_words(text, words_)) {
    trained_ = static_cast<std::int64_t>(static_cast<double>(text_.size()) * (1.0 - validation_share));
    for (const std::string_view city : kNeedleCities) {
      openings_.push_back(encode_words(needle_opening(city), words_));
      questions_.push_back(encode_words(needle_question(city), words_));
    }
    end_ = encode_words(kNeedleEnd, words_);
    answer_ = encode_words(kAnswerBeforeCity, words_).front();
  }

  std::string_view kind() const override { return "needle"; }
  Objective objective() const override { return Objective::NextToken; }
  std::int64_t vocab_size() const override { return kNeedleBos + 1 + std::ssize(words_); }
  std::int64_t length() const override { return settings_.length; }
  std::int64_t bos() const override { return kNeedleBos; }

  // Tokens of a needle, and of a question with its answer: every city is one token.
  [[nodiscard]] std::int64_t needle_tokens() const {
    return std::ssize(openings_.front()) + settings_.digits + std::ssize(end_);
  }
  [[nodiscard]] std::int64_t question_tokens() const { return std::ssize(questions_.front()) + settings_.digits; }
  // What the longest sequence of one question takes.
  [[nodiscard]] std::int64_t least_length() const {
    return settings_.needles * needle_tokens() + question_tokens() + kLeastText;
  }
  [[nodiscard]] std::int64_t text_tokens(Split split) const {
    return split == Split::Validation ? std::ssize(text_) - trained_ : trained_;
  }

  Batch batch(Split split, std::uint64_t seed, std::uint64_t index, std::int64_t sequences) const override {
    const bool validation = split == Split::Validation;
    RandomStream random(validation ? 0 : seed, validation ? "needle validation" : "needle", index);
    Batch batch;
    batch.sequences = sequences;
    batch.length = settings_.length;
    for (std::int64_t s = 0; s < sequences; ++s) add_sequence(split, random, batch);
    return batch;
  }

  bool asks(std::span<const std::int32_t> tokens, std::int64_t row) const override {
    for (std::int64_t at = row; at >= 0; --at)
      if (tokens[static_cast<std::size_t>(at)] == answer_)
        return row >= at + kAnswerToNumber - 1 && row < at + kAnswerToNumber - 1 + settings_.digits;
    return false;
  }

  std::string tokenizer_json() const override {
    std::vector<unsigned char> bytes(256);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    return byte_tokenizer_json(bytes, 0, kNeedleBos, false, words_);
  }

 private:
  // The first `count` of 0 … all − 1 in an order that is drawn.
  static std::vector<std::int64_t> drawn(std::int64_t count, std::int64_t all, RandomStream& random) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(all));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (std::int64_t k = 0; k < count; ++k)
      std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(k + random.below(all - k))]);
    order.resize(static_cast<std::size_t>(count));
    return order;
  }

  [[nodiscard]] std::vector<std::int32_t> number(RandomStream& random) const {
    std::int64_t least = 1;
    for (std::int64_t d = 1; d < settings_.digits; ++d) least *= 10;
    return encode_words(needle_number(least + random.below(9 * least)), words_);
  }

  void add_sequence(Split split, RandomStream& random, Batch& batch) const {
    const std::int64_t needles = 1 + random.below(settings_.needles);
    const std::vector<std::int64_t> cities = drawn(needles, std::ssize(kNeedleCities), random);
    std::vector<std::vector<std::int32_t>> numbers;
    for (std::int64_t k = 0; k < needles; ++k) numbers.push_back(number(random));
    const std::int64_t room = settings_.length - needles * needle_tokens();
    const std::int64_t questions = std::min(needles, (room - kLeastText) / question_tokens());
    const std::vector<std::int64_t> asked = drawn(questions, needles, random);
    const std::int64_t filler = room - questions * question_tokens();
    const std::int64_t begin =
        (split == Split::Validation ? trained_ : 0) + random.below(text_tokens(split) - filler + 1);
    std::vector<std::int64_t> places;
    for (std::int64_t k = 0; k < needles; ++k) places.push_back(random.below(filler + 1));
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return places[k]; });

    std::vector<std::int32_t> ids = {static_cast<std::int32_t>(kNeedleBos)};
    std::vector<bool> is_answer = {false};
    const auto put = [&](std::span<const std::int32_t> part, bool answer) {
      ids.insert(ids.end(), part.begin(), part.end());
      is_answer.insert(is_answer.end(), part.size(), answer);
    };
    std::int64_t written = 0;
    const auto put_text = [&](std::int64_t to) {
      put(std::span(text_).subspan(static_cast<std::size_t>(begin + written), static_cast<std::size_t>(to - written)),
          false);
      written = to;
    };
    const auto city_of = [&](std::size_t k) { return static_cast<std::size_t>(cities[k]); };
    for (const std::size_t k : order) {
      put_text(places[k]);
      put(openings_[city_of(k)], false);
      put(numbers[k], false);
      put(end_, false);
    }
    put_text(filler);
    for (const std::int64_t k : asked) {
      put(questions_[city_of(static_cast<std::size_t>(k))], false);
      put(numbers[static_cast<std::size_t>(k)], true);
    }
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      batch.tokens.push_back(ids[i]);
      batch.targets.push_back(is_answer[i + 1] ? ids[i + 1] : kNothingAsked);
    }
  }

  NeedleSettings settings_;
  std::vector<std::string> words_;
  std::vector<std::int32_t> text_;
  std::int64_t trained_ = 0;                                     // of the text; the rest is for validation
  std::vector<std::vector<std::int32_t>> openings_, questions_;  // by city
  std::vector<std::int32_t> end_;
  std::int32_t answer_ = 0;
};

}  // namespace

Result<std::unique_ptr<Task>> create_needle_task(ConfigReader& given, const std::string& text) {
  NeedleSettings settings;
  HEADROOM_TRY(settings.length, given.integer("length", std::nullopt, 2, 1 << 20));
  HEADROOM_TRY(settings.needles, given.integer("needles", std::nullopt, 1, std::ssize(kNeedleCities)));
  HEADROOM_TRY(settings.digits, given.integer("digits", 7, 1, 15));
  HEADROOM_TRY(const double share, given.number("validation_share", 0.1));
  const auto wrong = [](const char* field, const char* message, const std::string& expected, const std::string& found) {
    Error error(ErrorCode::InvalidArgument, message);
    return error.at_tensor(field).wanted(expected, found);
  };
  if (!(share > 0.0 && share < 1.0))
    return wrong("task.validation_share", "the text cannot be divided into a part to train on and one to validate on",
                 "between 0 and 1", std::to_string(share));
  auto task = std::make_unique<NeedleTask>(text, settings, share);
  if (settings.length < task->least_length())
    return wrong("task.length", "the needles and a question do not fit into a sequence",
                 format("at least %lld for task.needles %lld", static_cast<long long>(task->least_length()),
                        static_cast<long long>(settings.needles)),
                 std::to_string(settings.length));
  if (std::min(task->text_tokens(Split::Training), task->text_tokens(Split::Validation)) < settings.length)
    return wrong("task.validation_share", "the text cannot be divided into a part to train on and one to validate on",
                 "both longer than task.length", std::to_string(share) + " of it");
  return std::unique_ptr<Task>(std::move(task));
}

}  // namespace headroom
