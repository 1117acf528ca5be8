#include "core/corpus/needle_prompts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/format.h"
#include "core/checkpoint/sha256.h"
#include "core/corpus/selection.h"
#include "core/run/provenance.h"
#include "core/text/needle_words.h"

namespace headroom {
namespace {

// Keys are of 1000 + sample, 2000 + sample …
constexpr std::int64_t kMostSamples = 1000;
constexpr std::uint64_t kCityKeys = 1000, kNumberKeys = 2000, kPlaceKeys = 3000, kStartKeys = 4000;
constexpr std::size_t kMostHaystackTokens = std::size_t{1} << 28;

Result<void> check_needle_options(const NeedleOptions& options) {
  const auto wrong = [](const char* option, const char* message, const std::string& expected,
                        const std::string& found) {
    Error error(ErrorCode::InvalidArgument, message);
    return error.at_tensor(option).wanted(expected, found);
  };
  if (options.lengths.empty()) return wrong("--lengths", "no length of a prompt is given", "1024,4096", "none");
  if (options.depths.empty()) return wrong("--depths", "no depth of the needle is given", "0,50,100", "none");
  for (const std::int64_t length : options.lengths)
    if (length < 1 || length > std::int64_t{1} << 24)
      return wrong("--lengths", "prompts cannot be of this length", "1 to 16777216", std::to_string(length));
  for (const double depth : options.depths)
    if (!(depth >= 0.0 && depth <= 100.0))
      return wrong("--depths", "a depth is a share of the haystack", "0 to 100 per cent", format("%g", depth));
  const auto most = std::ssize(kNeedleCities);
  if (options.needles < 1 || options.needles > most)
    return wrong("--needles", "there is a needle for each of some cities",
                 format("1 to %lld", static_cast<long long>(most)), std::to_string(options.needles));
  if (options.samples < 1 || options.samples > kMostSamples)
    return wrong("--samples", "samples are told apart by their keys",
                 format("1 to %lld", static_cast<long long>(kMostSamples)), std::to_string(options.samples));
  return {};
}

std::uint64_t of_sample(std::uint64_t keys, std::int64_t sample) { return keys + static_cast<std::uint64_t>(sample); }

Result<std::vector<std::int32_t>> encoded(const PlanModel& model, std::string_view text, const std::string& where) {
  auto ids = model.encode(text);
  if (!ids) return std::move(ids.error()).at_tensor(where);
  for (const std::int32_t id : *ids)
    if (id < 0 || id >= model.vocab_size) {
      Error error(ErrorCode::Corrupt, "the tokenizer makes a token that is not in the model's vocabulary");
      error.at_tensor(where);
      return error.wanted(format("0 to %lld", static_cast<long long>(model.vocab_size - 1)), std::to_string(id));
    }
  return ids;
}

}  // namespace

const std::vector<std::string>& needle_span_names() {
  static const std::vector<std::string> names = {"first", "answer", "needle", "distractor", "haystack", "question"};
  return names;
}

Result<NeedleHaystack> NeedleHaystack::create(std::span<const std::filesystem::path> data, const NeedleOptions& options,
                                              const PlanModel& model, const std::function<void(std::int64_t)>& progress,
                                              const std::function<bool()>& stop) {
  HEADROOM_TRY_VOID(check_needle_options(options));
  NeedleHaystack haystack(options);
  haystack.options_.documents.vocab_size = model.vocab_size;
  // The sentences are text, whatever the documents are.
  HEADROOM_TRY_VOID(haystack.encode_parts(model));
  HEADROOM_TRY_VOID(haystack.make_samples(model));
  HEADROOM_TRY_VOID(haystack.read(data, model, progress, stop));
  HEADROOM_TRY_VOID(haystack.mark_ends(model));
  HEADROOM_TRY_VOID(haystack.check_lengths());
  return haystack;
}

Result<void> NeedleHaystack::encode_parts(const PlanModel& model) {
  // Documents of ids need no tokenizer; the sentences do.
  if (auto end = encoded(model, kNeedleEnd, "needle"); !end)
    return std::move(end.error()).advise("needles and questions are sentences, whatever the documents are");
  for (const std::string_view city : kNeedleCities) {
    HEADROOM_TRY(Ids opening, encoded(model, needle_opening(city), "needle"));
    HEADROOM_TRY(Ids question, encoded(model, needle_question(city), "question"));
    openings_.push_back(std::move(opening));
    questions_.push_back(std::move(question));
  }
  HEADROOM_TRY(end_, encoded(model, kNeedleEnd, "needle"));
  tokenizer_ = model.tokenizer();
  tokenizer_sha256_ = model.tokenizer_sha256();
  bool bos = options_.bos == BosMode::Always;
  if (options_.bos == BosMode::Auto) {
    HEADROOM_TRY(bos, model.adds_bos());
  }
  if (bos) {
    HEADROOM_TRY(bos_id_, model.bos_id());
  }
  return {};
}

Result<void> NeedleHaystack::make_samples(const PlanModel& model) {
  const std::uint64_t seed = options_.seed;
  for (std::int64_t s = 0; s < options_.samples; ++s) {
    Sample sample;
    sample.cities.resize(kNeedleCities.size());
    std::iota(sample.cities.begin(), sample.cities.end(), std::size_t{0});
    std::ranges::stable_sort(sample.cities, {},
                             [&](std::size_t city) { return corpus_key(seed, of_sample(kCityKeys, s), city); });
    sample.cities.resize(static_cast<std::size_t>(options_.needles));
    sample.others = bos_id_ ? 1 : 0;
    for (std::size_t k = 0; k < sample.cities.size(); ++k) {
      const std::uint64_t drawn = corpus_key(seed, of_sample(kNumberKeys, s), k) % 9'000'000;
      sample.numbers.push_back(1'000'000 + static_cast<std::int64_t>(drawn));
      HEADROOM_TRY(Ids number, encoded(model, needle_number(sample.numbers.back()), "needle"));
      sample.others += std::ssize(openings_[sample.cities[k]]) + std::ssize(number) + std::ssize(end_);
      sample.numbers_ids.push_back(std::move(number));
    }
    sample.others += std::ssize(questions_[sample.cities.front()]) + std::ssize(sample.numbers_ids.front());
    if (sample.numbers_ids.front().empty())
      return Error(ErrorCode::Unsupported, "the tokenizer makes no tokens of a number").at_tensor("needle");
    samples_.push_back(std::move(sample));
  }
  return {};
}

Result<void> NeedleHaystack::read(std::span<const std::filesystem::path> data, const PlanModel& model,
                                  const std::function<void(std::int64_t)>& progress,
                                  const std::function<bool()>& stop) {
  HEADROOM_TRY(std::vector<CorpusFile> files, find_corpus_files(data));
  CorpusDocuments documents(std::move(files), options_.documents);
  CorpusDocument document;
  while (true) {
    if (stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
    HEADROOM_TRY(const bool more, documents.next(document));
    if (!more) break;
    ++documents_;
    if (!document.has_ids && !document.text.empty()) {
      HEADROOM_TRY(document.ids, encoded(model, document.text, document.name));
    }
    if (ids_.size() + document.ids.size() > kMostHaystackTokens) {
      Error error(ErrorCode::OutOfMemory, "the documents are longer than a haystack can be");
      error.at_tensor("--data");
      return error.wanted(format("at most %zu tokens", kMostHaystackTokens), "more")
          .advise("give fewer of the documents");
    }
    ids_.insert(ids_.end(), document.ids.begin(), document.ids.end());
    document = {};
    if (progress) progress(documents_);
  }
  HEADROOM_TRY(files_, documents.finish());
  std::string lines;
  for (const CorpusFile& file : files_)
    lines += file.sha256 + " " + std::to_string(file.bytes) + " " + escape_for_terminal(file.name) + "\n";
  corpus_sha256_ = text_hash(lines);
  if (documents.raw_ids_seen())
    warnings_.push_back("files of ids without a header: each id is taken as " +
                        std::string(ids_type_name(options_.documents.ids_type)) + " (--ids-dtype)");
  return {};
}

// What a needle may follow: a token with a full stop or a line feed.
Result<void> NeedleHaystack::mark_ends(const PlanModel& model) {
  constexpr std::uint8_t kUnknown = 2;
  ends_.assign(static_cast<std::size_t>(model.vocab_size), kUnknown);
  for (const std::int32_t id : ids_) {
    std::uint8_t& ends = ends_[static_cast<std::size_t>(id)];
    if (ends != kUnknown) continue;
    HEADROOM_TRY(const std::string bytes, model.token_bytes(id));
    ends = bytes.find_first_of(".\n") == std::string::npos ? 0 : 1;
  }
  return {};
}

Result<void> NeedleHaystack::check_lengths() const {
  for (const std::int64_t length : options_.lengths) {
    std::int64_t most = 0, shortest = length;
    for (const Sample& sample : samples_) {
      most = std::max(most, sample.others);
      shortest = std::min(shortest, sample.others);
    }
    if (length <= most) {
      Error error(ErrorCode::InvalidArgument, "the needles and the question leave no token to the haystack");
      error.at_tensor("--lengths");
      return error
          .wanted(format("more than %lld tokens for %lld needles", static_cast<long long>(most),
                         static_cast<long long>(options_.needles)),
                  std::to_string(length))
          .advise("choose longer prompts, or fewer --needles");
    }
    if (tokens() < length - shortest) {
      Error error(ErrorCode::Corrupt, "the documents are shorter than a haystack");
      error.at_tensor("--data");
      if (!files_.empty()) error.in_file(files_.front().path.string());
      return error
          .wanted(
              format("at least %lld tokens for a prompt of %lld", static_cast<long long>(length - shortest),
                     static_cast<long long>(length)),
              format("%lld in %lld documents", static_cast<long long>(tokens()), static_cast<long long>(documents_)))
          .advise("give more documents, or choose shorter --lengths");
    }
  }
  return {};
}

std::int64_t NeedleHaystack::moved_back(std::int64_t place, std::int64_t start) const {
  while (place > 0 && ends_[static_cast<std::size_t>(ids_[static_cast<std::size_t>(start + place - 1)])] == 0) --place;
  return place;
}

NeedlePrompt NeedleHaystack::prompt(std::size_t length, std::size_t depth, std::int64_t number) const {
  const Sample& sample = samples_[static_cast<std::size_t>(number)];
  NeedlePrompt prompt;
  const std::int64_t haystack = options_.lengths[length] - sample.others;
  prompt.haystack_tokens = haystack;
  prompt.haystack_start = static_cast<std::int64_t>(
      static_cast<unsigned __int128>(corpus_key(options_.seed, of_sample(kStartKeys, number))) *
          static_cast<unsigned __int128>(tokens() - haystack + 1) >>
      64);
  std::vector<std::int64_t> places;
  for (std::size_t k = 0; k < sample.cities.size(); ++k) {
    const auto anywhere = static_cast<std::int64_t>(corpus_key(options_.seed, of_sample(kPlaceKeys, number), k) %
                                                    static_cast<std::uint64_t>(haystack + 1));
    const auto at_depth =
        static_cast<std::int64_t>(std::floor(static_cast<double>(haystack) * options_.depths[depth] / 100.0));
    places.push_back(moved_back(k == 0 ? at_depth : anywhere, prompt.haystack_start));
  }
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return places[k]; });

  const auto put = [&](std::span<const std::int32_t> part, NeedleSpan span) {
    prompt.ids.insert(prompt.ids.end(), part.begin(), part.end());
    prompt.spans.insert(prompt.spans.end(), part.size(), span);
  };
  std::int64_t written = 0;
  const auto put_haystack = [&](std::int64_t to) {
    put(std::span(ids_).subspan(static_cast<std::size_t>(prompt.haystack_start + written),
                                static_cast<std::size_t>(to - written)),
        NeedleSpan::Haystack);
    written = to;
  };
  if (bos_id_) put(std::span(&*bos_id_, 1), NeedleSpan::First);
  for (const std::size_t k : order) {
    put_haystack(places[k]);
    const NeedleSpan sentence = k == 0 ? NeedleSpan::Needle : NeedleSpan::Distractor;
    put(openings_[sample.cities[k]], sentence);
    if (k == 0) prompt.answer_begin = std::ssize(prompt.ids);
    put(sample.numbers_ids[k], k == 0 ? NeedleSpan::Answer : sentence);
    put(end_, sentence);
  }
  put_haystack(haystack);
  put(questions_[sample.cities.front()], NeedleSpan::Question);
  put(sample.numbers_ids.front(), NeedleSpan::Question);
  prompt.spans.front() = NeedleSpan::First;
  prompt.answer_tokens = std::ssize(sample.numbers_ids.front());
  prompt.needle_place = places.front();
  prompt.city = kNeedleCities[sample.cities.front()];
  prompt.number = sample.numbers.front();
  return prompt;
}

std::string NeedleHaystack::ids_sha256() const {
  Sha256 hash;
  for (std::size_t length = 0; length < options_.lengths.size(); ++length)
    for (std::size_t depth = 0; depth < options_.depths.size(); ++depth)
      for (std::int64_t s = 0; s < options_.samples; ++s) {
        const NeedlePrompt one = prompt(length, depth, s);
        hash.update(std::as_bytes(std::span(one.ids)));
      }
  return hash.finish_hex();
}

std::int64_t NeedleHaystack::most_answer_tokens() const {
  std::int64_t most = 0;
  for (const Sample& sample : samples_) most = std::max(most, std::ssize(sample.numbers_ids.front()));
  return most;
}

}  // namespace headroom
