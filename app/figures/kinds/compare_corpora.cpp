// The sides of a comparison that are corpora: changes in each sequence, with documents as clusters.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/figures/kinds/compare_heads.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/corpus/paired.h"
#include "core/io/run_file.h"
#include "core/model/head_address.h"

namespace headroom {
namespace {

Error refused(const std::string& message) { return {ErrorCode::Unsupported, "compare: " + message}; }

std::string p_of(double p) { return p < 1e-4 ? "*p* < 10^{−4}" : "*p* = " + short_text(p); }

// "0.0447 → 0.0441, −0.0006 (95 % −0.0007 … −0.0005, *p* < 10^{−4})".
std::string change_text(const PairedChange& one) {
  const double mean = of(one.change, Statistic::Mean), low = of(one.change, Statistic::CiLow),
               high = of(one.change, Statistic::CiHigh);
  std::string text = short_text(one.mean_a) + " → " + short_text(one.mean_b) + ", " + short_text(mean);
  if (!std::isfinite(low) || !std::isfinite(high)) return text;
  text += " (95 % " + short_text(low) + " … " + short_text(high);
  return text + (std::isfinite(one.p) ? ", " + p_of(one.p) : "") + ")";
}

std::size_t elements_of(const FigureRun& run, const QuantityRef& quantity) {
  return run.run->layers.size() * run.run->heads.size() * quantity.info->elements();
}

// Of a head that the file has, in [layers, heads, elements].
std::size_t element_of(const FigureRun& run, HeadRef head, const QuantityRef& quantity) {
  return *place_of(run.run->layers, run.run->heads, head) * quantity.info->elements() + quantity.index;
}

// Means over sequences of the heads that are drawn, of a corpus alone.
Result<std::vector<double>> means_of(const RunFile& file, const FigureRun& run, const QuantityRef& quantity,
                                     const DrawnHeads& drawn, std::int64_t& left_out) {
  const std::string path(quantity.info->name);
  const DatasetInfo* info = file.find(path);
  if (info == nullptr || info->shape.size() < 3 || info->shape[0] != std::int64_t{kStatistics})
    return Error(ErrorCode::Corrupt, "the corpus lacks a dataset, or it has another shape")
        .at_tensor(path)
        .in_file(run.path.string());
  std::vector<std::int64_t> start(info->shape.size(), 0), count = info->shape;
  start[0] = static_cast<std::int64_t>(Statistic::Mean), count[0] = 1;
  HEADROOM_TRY(const std::vector<double> values, file.read_part(path, start, count));
  if (values.size() != elements_of(run, quantity))
    return refused(quantity_text(quantity) + " of " + run.name() + " has another shape");
  std::vector<double> means;
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads) {
      const double value = values[element_of(run, {layer, head}, quantity)];
      if (std::isfinite(value))
        means.push_back(value);
      else
        ++left_out;
    }
  std::ranges::sort(means);
  return means;
}

void take_pairs(TwoSides& sides, const FigureRun& a, const PairedQuantity& found, const QuantityRef& quantity,
                const DrawnHeads& drawn) {
  std::vector<double> detectable;
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads) {
      const PairedChange& change = found.changes[element_of(a, {layer, head}, quantity)];
      HeadDifference one{{layer, head}};
      one.a = change.mean_a, one.b = change.mean_b;
      if (!std::isfinite(one.a) || !std::isfinite(one.b)) {
        ++sides.left_out;
        continue;
      }
      one.mean = of(change.change, Statistic::Mean);
      one.low = of(change.change, Statistic::CiLow), one.high = of(change.change, Statistic::CiHigh);
      one.q = change.q, one.n = static_cast<std::int64_t>(of(change.change, Statistic::Count));
      if (std::isfinite(change.detectable)) detectable.push_back(change.detectable);
      sides.heads.push_back(one);
      sides.only_a.push_back(one.a), sides.only_b.push_back(one.b);
    }
  if (!detectable.empty()) sides.detectable = quantile(detectable, 0.5);
  std::ranges::sort(sides.only_a);
  std::ranges::sort(sides.only_b);
}

}  // namespace

Result<void> check_kept(const FigureRun& corpus, const QuantityRef& quantity) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(corpus.path));
  const std::string name(quantity.info->name);
  if (file->find("sequences/" + name) != nullptr) return {};
  return refused(corpus.name() + " keeps no numbers of single sequences of " + name)
      .advise("headroom corpus keeps them with --keep " + name);
}

Result<TwoSides> compare_corpus_sides(const FigureRun& a, const FigureRun& b, const QuantityRef& quantity,
                                      const FigureChoice& choice) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file_a, RunFile::open(a.path));
  HEADROOM_TRY(const std::unique_ptr<RunFile> file_b, RunFile::open(b.path));
  const std::string_view name = quantity.info->name;
  const std::vector<std::string_view> wanted = {name};
  auto compared = compare_corpora(*file_a, *file_b, {}, wanted);
  if (!compared) return compared.error().in_file(a.name() + ", " + b.name());
  TwoSides sides;
  sides.corpora = true;
  sides.paired = choice.paired || a.attribute("checkpoint_sha256") == b.attribute("checkpoint_sha256");
  sides.texts_a = sides.texts_b = compared->sequences;
  sides.count_a = grouped_text(compared->sequences) + (compared->sequences == 1 ? " sequence" : " sequences");
  sides.of_a = sides.count_a + " of " + grouped_text(compared->documents) +
               (compared->documents == 1 ? " document" : " documents");
  sides.count_b = sides.count_a, sides.of_b = "the same";
  sides.name_a = side_name(a, b), sides.name_b = side_name(b, a);
  const PairedQuantity* found = nullptr;
  for (const PairedQuantity& one : compared->quantities) {
    if (one.name == "next_token_loss" && one.changes.size() == 1 && std::isfinite(one.changes.front().mean_a))
      sides.over_all += " Next-token loss, nats: " + change_text(one.changes.front()) + ".";
    if (one.name == name && one.by_head() && one.changes.size() == elements_of(a, quantity)) found = &one;
  }
  if (found != nullptr && quantity.index < found->over_heads.size())
    sides.over_all =
        " Mean over heads in each sequence: " + change_text(found->over_heads[quantity.index]) + "." + sides.over_all;
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(a, choice));
  if (sides.paired) {
    if (found == nullptr) {
      const std::string why = compared->left_out.empty() ? "it has another shape" : compared->left_out.front();
      return refused("heads of " + a.name() + " and " + b.name() + " are no pairs: " + why);
    }
    take_pairs(sides, a, *found, quantity, drawn);
  } else {
    HEADROOM_TRY(const DrawnHeads drawn_b, drawn_heads(b, choice));
    HEADROOM_TRY(sides.only_a, means_of(*file_a, a, quantity, drawn, sides.left_out));
    HEADROOM_TRY(sides.only_b, means_of(*file_b, b, quantity, drawn_b, sides.left_out));
  }
  if (sides.only_a.empty() || sides.only_b.empty())
    return refused(quantity_text(quantity) + ": no head has a value in both " + a.name() + " and " + b.name());
  return sides;
}

}  // namespace headroom
