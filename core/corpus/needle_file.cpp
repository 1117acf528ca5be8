#include "core/corpus/needle_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/checkpoint/sha256.h"
#include "core/run/provenance.h"
#include "core/run/run_layout.h"

namespace headroom {
namespace {

constexpr std::string_view kSampleGroup = "samples", kOverallGroup = "overall";

constexpr std::array<NeedleQuantity, 5> kNeedleQuantities = {{
    {"mass", "1", "attention to a span", "Σ_{j in span} w_j on the row that predicts the answer's first token",
     &NeedleMeasures::mass},
    {"absolute", "1", "absolute attention to a span",
     "Σ_{j in span} |w_j| on the row that predicts the answer's first token", &NeedleMeasures::absolute},
    {"energy", "1", "squared attention to a span",
     "Σ_{j in span} w_j² on the row that predicts the answer's first token", &NeedleMeasures::energy},
    {"output", "1", "size of what a span gives to the context",
     "‖Σ_{j in span} w_j v_j‖/‖c‖ on the row that predicts the answer's first token, c the head's context before norm, "
     "gate and W_O",
     &NeedleMeasures::output},
    {"share", "1", "share of a span in the absolute attention", "absolute/Σ_spans absolute", nullptr},
}};

constexpr const char* kOfMap =
    "(1/|A|) · number of the answer's tokens m where the largest weight of the map, on the row that predicts m, lies in "
    "the span answer, and the token there is m; |A| tokens of the answer; net: retrieval_score";

const char* of_both(bool recalled) {
  return recalled ? "the same over samples with recalled > 0.5"
                  : "(1/|A|) · number of the answer's tokens m where j* = argmax_j w_j of the net map, on the row that "
                    "predicts m, lies in the span answer, and the token at j* is m; |A| tokens of the answer";
}

DatasetDef needle_dataset(std::string_view group, std::string name, std::vector<std::string> axes, ElementType type,
                          std::string units, std::string long_name, std::string definition) {
  DatasetDef def;
  def.group = group;
  def.name = std::move(name);
  def.axes = std::move(axes);
  def.type = type;
  def.units = std::move(units);
  def.long_name = std::move(long_name);
  def.definition = std::move(definition);
  return def;
}

std::vector<double> as_doubles(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

std::vector<double> counted(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

std::string hash_of_ids(const std::vector<std::int32_t>& ids) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(ids)));
  return hash.finish_hex();
}

std::string bos_word(BosMode mode) {
  return mode == BosMode::Always ? "always" : mode == BosMode::Never ? "never" : "auto";
}

}  // namespace

std::span<const NeedleQuantity> needle_quantities() { return kNeedleQuantities; }

std::vector<double> needle_values(const NeedleQuantity& quantity, const NeedleMeasures& measures) {
  if (quantity.values != nullptr) return measures.*quantity.values;
  std::vector<double> shares = measures.absolute;
  const std::size_t columns = shares.size() / kNeedleSpans;
  for (std::size_t c = 0; c < columns; ++c) {
    double sum = 0.0;
    for (std::size_t span = 0; span < kNeedleSpans; ++span) sum += measures.absolute[span * columns + c];
    for (std::size_t span = 0; span < kNeedleSpans; ++span) shares[span * columns + c] /= sum;
  }
  return shares;
}

std::vector<double> over_heads(std::span<const double> values) {
  const std::size_t heads = values.size() / (kNeedleSpans * kNeedleMaps);
  std::vector<double> means(kNeedleSpans * kNeedleMaps, kNaN);
  for (std::size_t span = 0; span < kNeedleSpans; ++span)
    for (std::size_t map = 0; map < kNeedleMaps; ++map) {
      double sum = 0.0, count = 0.0;
      for (std::size_t h = 0; h < heads; ++h)
        if (const double value = values[(span * heads + h) * kNeedleMaps + map]; !std::isnan(value))
          sum += value, count += 1.0;
      if (count > 0.0) means[span * kNeedleMaps + map] = sum / count;
    }
  return means;
}

Result<void> NeedleFile::define_axes() {
  const NeedleOptions& options = haystack_.options();
  HEADROOM_TRY_VOID(writer_.add_axis(
      label_axis("statistic", statistic_names(), "what is said of a number over samples, which are independent")));
  HEADROOM_TRY_VOID(writer_.add_axis(index_axis("length", as_doubles(options.lengths), "tokens of a prompt")));
  AxisDef depth = index_axis("depth", options.depths, "where the answer's needle stands, of the haystack");
  depth.type = ElementType::Float64;
  depth.units = "percent";
  HEADROOM_TRY_VOID(writer_.add_axis(depth));
  HEADROOM_TRY_VOID(writer_.add_axis(label_axis(
      "span", needle_span_names(),
      "part of the keys: position 0, the number that is asked for, the rest of its sentence, the sentences of other "
      "cities, the documents, the question")));
  HEADROOM_TRY_VOID(writer_.add_axis(index_axis("layer", as_doubles(heads_.layers), "layer of the model, from 0")));
  HEADROOM_TRY_VOID(writer_.add_axis(index_axis("head", as_doubles(heads_.heads), "output head, from 0")));
  HEADROOM_TRY_VOID(writer_.add_axis(
      label_axis("map", needle_map_names(), "first and second map; net: first − λ second, or the only map")));
  HEADROOM_TRY_VOID(writer_.add_axis(
      index_axis("sample", counted(options.samples), "draw of cities, numbers, places and documents, from 0")));
  if (!with_ids_) return {};
  return writer_.add_axis(
      index_axis("position", counted(*std::ranges::max_element(options.lengths)), "token position, from 0", "samples"));
}

Result<void> NeedleFile::define() {
  HEADROOM_TRY_VOID(define_axes());
  const auto add = [&](const DatasetDef& def) { return writer_.add_dataset(def); };
  for (const NeedleQuantity& quantity : needle_quantities()) {
    const std::string name(quantity.name), units(quantity.units), long_name(quantity.long_name),
        formula(quantity.formula);
    HEADROOM_TRY_VOID(add(needle_dataset("", name, {"statistic", "length", "depth", "span", "layer", "head", "map"},
                                         ElementType::Float64, units, long_name, formula)));
    HEADROOM_TRY_VOID(add(needle_dataset("", name + "_over_heads", {"statistic", "length", "depth", "span", "map"},
                                         ElementType::Float64, units, long_name + ", mean over heads",
                                         "mean of " + formula + " over the heads of a sample that have the map")));
  }
  for (const bool recalled : {false, true}) {
    const std::string name = recalled ? "retrieval_score_recalled" : "retrieval_score";
    const std::string long_name = recalled ? "copies of the answer where it is recalled" : "copies of the answer";
    HEADROOM_TRY_VOID(add(needle_dataset("", name, {"statistic", "length", "depth", "layer", "head"},
                                         ElementType::Float64, "1", long_name, of_both(recalled))));
    HEADROOM_TRY_VOID(add(needle_dataset(kOverallGroup, name, {"statistic", "layer", "head"}, ElementType::Float64, "1",
                                         long_name, std::string(of_both(recalled)) + "; of all lengths and depths")));
  }
  HEADROOM_TRY_VOID(
      add(needle_dataset("", "retrieval_score_of_map", {"statistic", "length", "depth", "layer", "head", "map"},
                         ElementType::Float64, "1", "copies of the answer, of each map", kOfMap)));
  HEADROOM_TRY_VOID(add(needle_dataset(kOverallGroup, "retrieval_score_of_map", {"statistic", "layer", "head", "map"},
                                       ElementType::Float64, "1", "copies of the answer, of each map",
                                       std::string(kOfMap) + "; of all lengths and depths")));
  const char* recalled =
      "share of the answer's tokens that the model finds likeliest, each behind the true ones before it";
  HEADROOM_TRY_VOID(add(needle_dataset("", "recalled", {"statistic", "length", "depth"}, ElementType::Float64, "1",
                                       "recall of the answer", recalled)));
  HEADROOM_TRY_VOID(add(needle_dataset(kOverallGroup, "recalled", {"statistic"}, ElementType::Float64, "1",
                                       "recall of the answer", std::string(recalled) + "; of all lengths and depths")));
  HEADROOM_TRY_VOID(
      add(needle_dataset("", "answer_loss", {"statistic", "length", "depth"}, ElementType::Float64, "nat",
                         "loss of the answer", "mean over the answer's tokens of −ln of the model's probability")));
  return define_samples();
}

Result<void> NeedleFile::define_samples() {
  const std::vector<std::string> cell = {"length", "depth", "sample"};
  const auto add = [&](const char* name, std::vector<std::string> axes, ElementType type, const char* units,
                       const char* long_name, const char* definition) {
    return writer_.add_dataset(needle_dataset(kSampleGroup, name, std::move(axes), type, units, long_name, definition));
  };
  HEADROOM_TRY_VOID(add("recalled", cell, ElementType::Float64, "1", "recall of the answer",
                        "share of the answer's tokens that the model finds likeliest"));
  HEADROOM_TRY_VOID(add("answer_loss", cell, ElementType::Float64, "nat", "loss of the answer",
                        "mean over the answer's tokens of −ln of the model's probability"));
  HEADROOM_TRY_VOID(add("city", {"sample"}, ElementType::String, "1", "city that is asked for", "of the answer"));
  HEADROOM_TRY_VOID(add("number", {"sample"}, ElementType::Int64, "1", "number of that city", "the answer"));
  HEADROOM_TRY_VOID(add("answer_tokens", {"sample"}, ElementType::Int32, "1", "tokens of the answer", "their number"));
  HEADROOM_TRY_VOID(
      add("answer_first", cell, ElementType::Int32, "1", "first token of the span answer", "position in the prompt"));
  HEADROOM_TRY_VOID(add("haystack_tokens", {"length", "sample"}, ElementType::Int32, "1", "tokens of the haystack",
                        "those of a prompt that are of the documents"));
  HEADROOM_TRY_VOID(add("haystack_start", {"length", "sample"}, ElementType::Int64, "1", "first token of the haystack",
                        "index in the joined documents"));
  HEADROOM_TRY_VOID(add("needle_place", cell, ElementType::Int32, "1", "tokens of the haystack before the needle",
                        "of the answer's sentence, moved back to behind a full stop or a line feed"));
  HEADROOM_TRY_VOID(add("ids_sha256", cell, ElementType::String, "1", "SHA-256 of the prompt",
                        "of its ids, the answer's among them, as little-endian int32"));
  if (with_ids_) {
    DatasetDef ids =
        needle_dataset(kSampleGroup, "token_id", {"length", "depth", "sample", "position"}, ElementType::Int32, "1",
                       "token ids of the prompts", "with the answer; no value behind the end of a shorter prompt");
    ids.missing_values = true;
    HEADROOM_TRY_VOID(writer_.add_dataset(ids));
  }
  if (!by_sample_) return {};
  for (const NeedleQuantity& quantity : needle_quantities())
    HEADROOM_TRY_VOID(writer_.add_dataset(
        needle_dataset(kSampleGroup, std::string(quantity.name),
                       {"length", "depth", "sample", "span", "layer", "head", "map"}, ElementType::Float64,
                       std::string(quantity.units), std::string(quantity.long_name), std::string(quantity.formula))));
  HEADROOM_TRY_VOID(writer_.add_dataset(
      needle_dataset(kSampleGroup, "retrieval_score_of_map", {"length", "depth", "sample", "layer", "head", "map"},
                     ElementType::Float64, "1", "copies of the answer, of each map", kOfMap)));
  return writer_.add_dataset(needle_dataset(kSampleGroup, "retrieval_score",
                                            {"length", "depth", "sample", "layer", "head"}, ElementType::Float64, "1",
                                            "copies of the answer", of_both(false)));
}

Result<void> NeedleFile::write_prompts(const std::string& ids_sha256) {
  const NeedleOptions& options = haystack_.options();
  std::vector<std::string> cities;
  std::vector<double> numbers, tokens;
  for (std::int64_t s = 0; s < options.samples; ++s) {
    const NeedlePrompt prompt = haystack_.prompt(0, 0, s);
    cities.push_back(prompt.city);
    numbers.push_back(static_cast<double>(prompt.number));
    tokens.push_back(static_cast<double>(prompt.answer_tokens));
  }
  const std::int64_t none[] = {0}, all[] = {options.samples};
  HEADROOM_TRY_VOID(writer_.write_strings("samples/city", none, all, cities));
  HEADROOM_TRY_VOID(writer_.write("samples/number", none, all, numbers));
  HEADROOM_TRY_VOID(writer_.write("samples/answer_tokens", none, all, tokens));
  for (std::size_t l = 0; l < options.lengths.size(); ++l) {
    const auto at_length = static_cast<std::int64_t>(l);
    std::vector<double> haystacks, starts;
    for (std::size_t d = 0; d < options.depths.size(); ++d) {
      const auto at_depth = static_cast<std::int64_t>(d);
      std::vector<double> firsts, places;
      std::vector<std::string> hashes;
      for (std::int64_t s = 0; s < options.samples; ++s) {
        const NeedlePrompt prompt = haystack_.prompt(l, d, s);
        firsts.push_back(static_cast<double>(prompt.answer_begin));
        places.push_back(static_cast<double>(prompt.needle_place));
        hashes.push_back(hash_of_ids(prompt.ids));
        if (d == 0) haystacks.push_back(static_cast<double>(prompt.haystack_tokens));
        if (d == 0) starts.push_back(static_cast<double>(prompt.haystack_start));
        if (!with_ids_) continue;
        const std::int64_t start[] = {at_length, at_depth, s, 0}, count[] = {1, 1, 1, options.lengths[l]};
        HEADROOM_TRY_VOID(
            writer_.write("samples/token_id", start, count, std::vector<double>(prompt.ids.begin(), prompt.ids.end())));
      }
      const std::int64_t start[] = {at_length, at_depth, 0}, count[] = {1, 1, options.samples};
      HEADROOM_TRY_VOID(writer_.write("samples/answer_first", start, count, firsts));
      HEADROOM_TRY_VOID(writer_.write("samples/needle_place", start, count, places));
      HEADROOM_TRY_VOID(writer_.write_strings("samples/ids_sha256", start, count, hashes));
    }
    const std::int64_t start[] = {at_length, 0}, count[] = {1, options.samples};
    HEADROOM_TRY_VOID(writer_.write("samples/haystack_tokens", start, count, haystacks));
    HEADROOM_TRY_VOID(writer_.write("samples/haystack_start", start, count, starts));
  }
  std::string names;
  for (const CorpusFile& file : haystack_.files())
    names += (names.empty() ? "" : ", ") + escape_for_terminal(file.name);
  const std::pair<const char*, AttributeValue> attributes[] = {
      {"needles", options.needles},
      {"samples", options.samples},
      {"seed", std::to_string(options.seed)},
      {"bos", bos_word(options.bos) +
                  (haystack_.bos_id() ? ": " + std::to_string(*haystack_.bos_id()) : std::string(": none"))},
      {"data", names},
      {"split", std::string(text_split_name(options.documents.split))},
      {"field", options.documents.field.empty() ? "text" : escape_for_terminal(options.documents.field)},
      {"documents", haystack_.documents()},
      {"document_tokens", haystack_.tokens()},
      {"corpus_sha256", haystack_.corpus_sha256()},
      {"tokenizer_sha256", haystack_.tokenizer_sha256()},
      {"ids_sha256", ids_sha256},
  };
  for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer_.set_attribute("", name, value));
  return {};
}

Result<void> NeedleFile::write_cell(const std::string& path, std::size_t length, std::size_t depth,
                                    std::vector<std::int64_t> extents, std::span<const StatisticValues> results) {
  std::vector<std::int64_t> start = {0, static_cast<std::int64_t>(length), static_cast<std::int64_t>(depth)};
  std::vector<std::int64_t> count = {static_cast<std::int64_t>(kStatistics), 1, 1};
  start.resize(start.size() + extents.size(), 0);
  count.insert(count.end(), extents.begin(), extents.end());
  return writer_.write(path, start, count, by_statistic(results));
}

Result<void> NeedleFile::write_samples(const std::string& name, std::size_t length, std::size_t depth,
                                       std::vector<std::int64_t> extents, std::span<const double> values) {
  std::vector<std::int64_t> start = {static_cast<std::int64_t>(length), static_cast<std::int64_t>(depth), 0};
  std::vector<std::int64_t> count = {1, 1, haystack_.options().samples};
  start.resize(start.size() + extents.size(), 0);
  count.insert(count.end(), extents.begin(), extents.end());
  return writer_.write(std::string(kSampleGroup) + "/" + name, start, count, values);
}

Result<void> NeedleFile::write_overall(const std::string& name, std::vector<std::int64_t> extents,
                                       std::span<const StatisticValues> results) {
  std::vector<std::int64_t> count = {static_cast<std::int64_t>(kStatistics)};
  count.insert(count.end(), extents.begin(), extents.end());
  const std::vector<std::int64_t> start(count.size(), 0);
  return writer_.write(std::string(kOverallGroup) + "/" + name, start, count, by_statistic(results));
}

}  // namespace headroom
