// Claim 6: does a trained softmax model learn differences: W_O of one head the negative of another's, and what the two
// add to the residual stream opposed on data?
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/base/numbers.h"
#include "core/reproduce/claims.h"
#include "core/run/make_prompt.h"

namespace headroom {
namespace {

constexpr double kFar = 0.5;
constexpr std::int64_t kTexts = 8, kTextTokens = 256, kTextBytes = 4096;
constexpr std::size_t kShownPairs = 10;

struct HeadPair {
  std::int64_t layer = 0, first = 0, second = 0;
  double cosine = 0.0;  // cos_F of the W_O blocks
  double output = 0.0;  // mean over sequences and rows of the cosine of W_O^p c^p_i and W_O^q c^q_i
};

// Of one model, or of several seeds of one.
struct Pairs {
  std::vector<HeadPair> grouped;     // heads that share their values
  std::vector<HeadPair> apart;       // heads of one layer that do not
  std::vector<double> other_layers;  // cos_F of the W_O blocks of heads in neighbouring layers
  double random_deviation = 0.0;     // 1/√(D·d): of random matrices
};

// The W_O blocks of a layer's heads, each with norm 1: [heads][hidden · channels].
Result<std::vector<std::vector<double>>> output_blocks(const ModelSource& source, const AttentionSpec& attention) {
  const WeightRef& weight = attention.o.weight;
  std::vector<double> values(static_cast<std::size_t>(weight.rows() * weight.columns()));
  HEADROOM_TRY_VOID(source.read(weight, std::span<double>(values)));
  const auto channels = static_cast<std::size_t>(attention.context_dim());
  const std::size_t heads = attention.heads.size(), width = heads * channels;
  std::vector<std::vector<double>> blocks(heads);
  for (std::size_t h = 0; h < heads; ++h) {
    double squares = 0.0;
    for (std::size_t row = 0; row * width < values.size(); ++row)
      for (std::size_t c = 0; c < channels; ++c) {
        const double value = values[row * width + h * channels + c];
        blocks[h].push_back(value);
        squares += value * value;
      }
    for (double& value : blocks[h]) value /= std::sqrt(squares);
  }
  return blocks;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The mean over sequences of LayerRecord::output_cosine, [layers][heads · heads].
Result<std::vector<std::vector<double>>> output_cosines(Study& study, const OpenedModel& opened, const ModelSpec& model,
                                                        std::vector<std::vector<std::int32_t>> sequences) {
  const auto heads = static_cast<std::size_t>(model.num_heads);
  std::vector<std::vector<double>> sums(model.blocks.size(), std::vector<double>(heads * heads, 0.0));
  EvaluationRequest request;
  request.source = &opened.source;
  request.model = &model;
  request.sequences = std::move(sequences);
  request.output_cosines = true;
  const auto count = static_cast<double>(request.sequences.size());
  request.visit = [&](const HeadView& head, std::size_t) {
    const auto row = static_cast<std::size_t>(head.head.head) * heads;
    std::vector<double>& layer = sums[static_cast<std::size_t>(head.layer.layer)];
    for (std::size_t other = 0; other < heads; ++other)
      layer[row + other] += head.layer.output_cosine[row + other] / count;
  };
  HEADROOM_TRY([[maybe_unused]] const Evaluation evaluated, evaluate(study.backend(), request, study.stop()));
  return sums;
}

Result<void> add_pairs(Study& study, const OpenedModel& opened, const ModelSpec& model,
                       std::vector<std::vector<std::int32_t>> sequences, Pairs& pairs) {
  HEADROOM_TRY(const auto outputs, output_cosines(study, opened, model, std::move(sequences)));
  std::vector<std::vector<double>> before;
  for (std::size_t l = 0; l < model.blocks.size(); ++l) {
    const AttentionSpec& attention = model.blocks[l].attention;
    HEADROOM_TRY(auto blocks, output_blocks(opened.source, attention));
    for (std::size_t p = 0; p < blocks.size(); ++p) {
      for (std::size_t q = p + 1; q < blocks.size(); ++q) {
        const bool grouped = attention.heads[p].first.value_blocks == attention.heads[q].first.value_blocks;
        (grouped ? pairs.grouped : pairs.apart)
            .push_back({static_cast<std::int64_t>(l), static_cast<std::int64_t>(p), static_cast<std::int64_t>(q),
                        dot(blocks[p], blocks[q]), outputs[l][p * blocks.size() + q]});
      }
      for (const std::vector<double>& other : before)
        if (other.size() == blocks[p].size()) pairs.other_layers.push_back(dot(blocks[p], other));
    }
    before = std::move(blocks);
  }
  pairs.random_deviation =
      1.0 / std::sqrt(static_cast<double>(model.hidden_size * model.blocks.front().attention.context_dim()));
  return {};
}

std::int64_t below(const std::vector<double>& values, double limit) {
  return std::ranges::count_if(values, [&](double value) { return value < limit; });
}

std::int64_t above(const std::vector<double>& values, double limit) {
  return std::ranges::count_if(values, [&](double value) { return value > limit; });
}

std::vector<double> cosines_of(const std::vector<HeadPair>& pairs, double HeadPair::* number) {
  std::vector<double> values;
  for (const HeadPair& pair : pairs)
    if (!std::isnan(pair.*number)) values.push_back(pair.*number);
  return values;
}

void add_row(ClaimTable& table, const std::string& model, const std::string& which, const std::vector<double>& values) {
  const Spread spread{values};
  table.rows.push_back({model, which, static_cast<double>(values.size()), spread.mean(), spread.deviation(),
                        spread.least(), spread.most(), static_cast<double>(below(values, -kFar)),
                        static_cast<double>(above(values, kFar))});
}

double correlation(const std::vector<HeadPair>& pairs) {
  const Spread a{cosines_of(pairs, &HeadPair::cosine)}, b{cosines_of(pairs, &HeadPair::output)};
  double sum = 0.0;
  for (const HeadPair& pair : pairs) sum += (pair.cosine - a.mean()) * (pair.output - b.mean());
  return sum / (static_cast<double>(pairs.size()) - 1.0) / a.deviation() / b.deviation();
}

std::string of(std::int64_t count, std::size_t all) {
  return format("%lld of %zu", static_cast<long long>(count), all);
}

// The share of `values` below −0.5, of at least one more than there are.
double null_share(const std::vector<double>& values) {
  return static_cast<double>(below(values, -kFar) + 1) / static_cast<double>(values.size() + 1);
}

Sentence share_sentence(const std::string& text, const std::string& found, std::int64_t successes, std::int64_t trials,
                        double expected) {
  Sentence sentence;
  sentence.text = text;
  sentence.found = found;
  sentence.test = test_share(successes, trials, expected);
  return sentence;
}

void add_sentences(const std::string& name, const Pairs& pairs, ClaimReport& report) {
  const std::vector<double> cosines = cosines_of(pairs.grouped, &HeadPair::cosine),
                            outputs = cosines_of(pairs.grouped, &HeadPair::output),
                            apart_outputs = cosines_of(pairs.apart, &HeadPair::output);
  std::vector<double> unrelated = cosines_of(pairs.apart, &HeadPair::cosine);
  unrelated.insert(unrelated.end(), pairs.other_layers.begin(), pairs.other_layers.end());
  const std::int64_t opposed = below(cosines, -kFar), alike = above(cosines, kFar);
  const auto all = static_cast<std::int64_t>(cosines.size());
  const Spread spread{cosines};
  report.sentences.push_back(share_sentence(
      name + ": more pairs of a group have W_O blocks with a cosine below −0.5 than heads that share no values",
      of(opposed, cosines.size()) + " and " + of(below(unrelated, -kFar), unrelated.size()) +
          format(", the smallest %.3f", spread.least()),
      opposed, all, null_share(unrelated)));
  report.sentences.push_back(share_sentence(name + ": beyond ±0.5 more pairs of a group oppose each other than agree",
                                            of(opposed, cosines.size()) + " below −0.5 and " +
                                                of(alike, cosines.size()) +
                                                format(" above +0.5, the largest %.3f", spread.most()),
                                            opposed, opposed + alike, 0.5));
  std::vector<HeadPair> opponents;
  std::ranges::copy_if(pairs.grouped, std::back_inserter(opponents),
                       [](const HeadPair& pair) { return pair.cosine < -kFar; });
  const std::vector<double> opponents_outputs = cosines_of(opponents, &HeadPair::output);
  report.sentences.push_back(share_sentence(
      name + ": pairs whose W_O blocks oppose each other do so on data, too (mean cosine of what they put out below 0)",
      of(below(opponents_outputs, 0.0), opponents_outputs.size()) +
          format(", mean cosine %s", Spread{opponents_outputs}.text().c_str()),
      below(opponents_outputs, 0.0), static_cast<std::int64_t>(opponents_outputs.size()), 0.5));
  report.sentences.push_back(share_sentence(
      name +
          ": on data more pairs of a group oppose each other (mean cosine below −0.5) than heads of different groups",
      of(below(outputs, -kFar), outputs.size()) + " and " + of(below(apart_outputs, -kFar), apart_outputs.size()) +
          format("; correlation of both cosines over the pairs of a group %.2f", correlation(pairs.grouped)),
      below(outputs, -kFar), static_cast<std::int64_t>(outputs.size()), null_share(apart_outputs)));
}

// Windows of the byte models' text, as the checkpoint's own tokenizer reads them.
Result<std::vector<std::vector<std::int32_t>>> text_windows(const Study& study, const OpenedModel& opened) {
  const nlohmann::json task = nlohmann::json::parse(study.recipe("bytes").json).at("task");
  HEADROOM_TRY(const std::string text,
               read_text_file(study.options().assets / "recipes" / task.at("text").get<std::string>(), 1 << 30));
  HEADROOM_TRY(const std::unique_ptr<Tokenizer> tokenizer, open_tokenizer(*opened.checkpoint));
  PromptOptions options;
  options.max_tokens = kTextTokens;
  std::vector<std::vector<std::int32_t>> sequences;
  for (std::int64_t window = 0; window < kTexts; ++window) {
    const std::size_t begin = text.size() / kTexts * static_cast<std::size_t>(window);
    HEADROOM_TRY(Prompt prompt, prompt_of_text(text.substr(begin, kTextBytes), *tokenizer, opened.spec, options));
    sequences.push_back(std::move(prompt.ids));
  }
  return sequences;
}

ClaimTable cosine_table(const std::string& caption) {
  return {caption,
          {"model", "pairs of heads", "pairs", "mean", "standard deviation", "smallest", "largest", "below −0.5",
           "above +0.5"},
          {}};
}

void add_model(const std::string& name, const Pairs& pairs, ClaimTable& weights, ClaimTable& data) {
  add_row(weights, name, "of one group", cosines_of(pairs.grouped, &HeadPair::cosine));
  add_row(weights, name, "shuffled: of other groups", cosines_of(pairs.apart, &HeadPair::cosine));
  add_row(weights, name, "shuffled: of neighbouring layers", pairs.other_layers);
  const auto count = static_cast<double>(std::max<std::size_t>(pairs.grouped.size(), 2));
  // The extremes of `count` draws from the null are about ±σ√(2 ln count).
  const double extreme = pairs.random_deviation * std::sqrt(2.0 * std::log(count));
  weights.rows.push_back({name, std::string("random matrices"), static_cast<double>(pairs.grouped.size()), 0.0,
                          pairs.random_deviation, -extreme, extreme, 0.0, 0.0});
  add_row(data, name, "of one group", cosines_of(pairs.grouped, &HeadPair::output));
  add_row(data, name, "shuffled: of other groups", cosines_of(pairs.apart, &HeadPair::output));
}

ClaimTable opposed_pairs(const std::string& name, std::vector<HeadPair> pairs) {
  std::ranges::sort(pairs, {}, &HeadPair::cosine);
  ClaimTable table = {name + ": the pairs of a group whose W_O blocks are opposed most",
                      {"heads", "cosine of W_O blocks", "cosine of outputs"},
                      {}};
  for (std::size_t i = 0; i < std::min(kShownPairs, pairs.size()); ++i)
    table.rows.push_back({format("L%lld.H%lld, H%lld", static_cast<long long>(pairs[i].layer),
                                 static_cast<long long>(pairs[i].first), static_cast<long long>(pairs[i].second)),
                          pairs[i].cosine, pairs[i].output});
  return table;
}

}  // namespace

Result<ClaimReport> examine_output_alignment(Study& study, const ClaimOptions& options) {
  ClaimReport report;
  report.number = 6;
  report.title = "W_O blocks of trained softmax heads";
  report.claim =
      "A Transformer of 2h heads could learn what V2 builds in by W_O^{2i} ≈ −W_O^{2i+1} within a GQA group.";
  ClaimTable weights = cosine_table("cos_F of the W_O blocks of pairs of heads, and of pairs that share no values");
  ClaimTable data = cosine_table(
      "Cosine of what two heads add to the residual stream, W_O^p c^p_i and W_O^q c^q_i, mean over rows and sequences");
  Pairs all;
  const Recipe& bytes = study.recipe("bytes");
  const Variant& softmax = *find_variant(bytes, "softmax");
  for (const std::uint64_t seed : softmax.seeds) {
    HEADROOM_TRY(const StudiedModel* model, study.model(bytes, softmax, seed, Moment::Trained));
    HEADROOM_TRY_VOID(add_pairs(study, model->opened, model->spec, evaluation_sequences(*bytes.task), all));
  }
  const std::string name = "bytes, softmax, all seeds";
  add_model(name, all, weights, data);
  const Spread cosines{cosines_of(all.grouped, &HeadPair::cosine)};
  report.sentences.push_back(
      exact(name + ": some pair of a group has W_O blocks with a cosine below −0.5",
            of(below(cosines.values, -kFar), cosines.values.size()) + format(", the smallest %.3f", cosines.least()),
            cosines.least() < -kFar));
  std::vector<ClaimTable> closest;
  if (options.checkpoint) {
    HEADROOM_TRY(const OpenedModel opened, open_model(*options.checkpoint, {}));
    HEADROOM_TRY(auto sequences, text_windows(study, opened));
    Pairs pairs;
    HEADROOM_TRY_VOID(add_pairs(study, opened, opened.spec, std::move(sequences), pairs));
    if (!pairs.grouped.empty()) {
      add_model(opened.checkpoint->name(), pairs, weights, data);
      add_sentences(opened.checkpoint->name(), pairs, report);
      closest.push_back(opposed_pairs(opened.checkpoint->name(), pairs.grouped));
    }
  }
  report.tables = {std::move(weights), std::move(data)};
  report.tables.insert(report.tables.end(), closest.begin(), closest.end());
  report.remarks = format(
      "Only heads that read the same values have channels that can be compared: pairs of other groups and layers are what cosines are "
      "without that. Pairs are not independent of each other, so that the tests over them are generous. On data: the byte models on 64 "
      "sequences that no training has seen, a checkpoint on %lld windows of %lld tokens of their text.",
      static_cast<long long>(kTexts), static_cast<long long>(kTextTokens));
  if (!options.checkpoint) report.remarks += " --checkpoint PATH adds a larger trained model.";
  return report;
}

}  // namespace headroom
