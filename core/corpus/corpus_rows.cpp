#include "core/corpus/corpus_rows.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/numbers.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

// Reads what a file has of one head at one step.
class RowsReader {
 public:
  RowsReader(const RunFile& file, const OpenedCorpus& corpus, std::size_t head, std::int64_t step)
      : file_(file),
        corpus_(corpus),
        layer_(static_cast<std::int64_t>(head / corpus.heads.size())),
        head_(static_cast<std::int64_t>(head % corpus.heads.size())),
        step_(step) {}

  // One array for each map of the head, or one; empty: the file has no such dataset. `statistic`: its first axis after
  // the step, or −1.
  Result<std::vector<std::vector<double>>> read(const std::string& path, std::int64_t statistic, bool by_map,
                                                bool by_bin) const {
    const DatasetInfo* const info = file_.find(path);
    if (info == nullptr) return std::vector<std::vector<double>>();
    const std::size_t front = (step_ < 0 ? 0u : 1u) + (statistic < 0 ? 0u : 1u);
    std::vector<std::int64_t> start(info->shape.size(), 0), count = info->shape;
    if (info->shape.size() != front + 2 + (by_map ? 1 : 0) + (by_bin ? 1 : 0) ||
        info->shape[front] != std::ssize(corpus_.layers) || info->shape[front + 1] != std::ssize(corpus_.heads) ||
        (step_ >= 0 && step_ >= info->shape[0]))
      return misfit(path);
    if (step_ >= 0) start[0] = step_, count[0] = 1;
    if (statistic >= 0) start[front - 1] = statistic, count[front - 1] = 1;
    start[front] = layer_, start[front + 1] = head_;
    count[front] = count[front + 1] = 1;
    HEADROOM_TRY(const std::vector<double> all, file_.read_part(path, start, count));
    const std::size_t maps = by_map ? static_cast<std::size_t>(info->shape[front + 2]) : 1;
    if (maps == 0 || all.size() % maps != 0) return misfit(path);
    std::vector<std::vector<double>> parts;
    const std::size_t size = all.size() / maps;
    for (std::size_t map = 0; map < maps; ++map)
      parts.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(map * size),
                         all.begin() + static_cast<std::ptrdiff_t>((map + 1) * size));
    return parts;
  }

  Result<void> counts_of(const SketchedQuantity& sketched, CorpusRows& rows) const {
    const std::string path = "sketch/" + std::string(sketched.name);
    HEADROOM_TRY(const auto counts, read(path, -1, sketched.by_component, true));
    if (counts.empty()) return {};
    HEADROOM_TRY(const auto least, read(path + "_min", -1, sketched.by_component, false));
    HEADROOM_TRY(const auto most, read(path + "_max", -1, sketched.by_component, false));
    if (least.size() != counts.size() || most.size() != counts.size()) return misfit(path);
    RowCounts made;
    made.sketched = &sketched;
    for (std::size_t map = 0; map < counts.size(); ++map) {
      if (std::ssize(counts[map]) != sketched.bins.bins) return misfit(path);
      RowCounts::OfMap of;
      of.least = least[map].front(), of.most = most[map].front();
      for (const double count : counts[map]) of.counts.push_back(static_cast<std::int64_t>(count));
      made.maps.push_back(std::move(of));
    }
    rows.counts.emplace(sketched.name, std::move(made));
    return {};
  }

  Result<void> curve_of(const CurveQuantity& curve, CorpusRows& rows) const {
    const std::string path = "curves/" + std::string(curve.name);
    HEADROOM_TRY(auto mean, read(path, static_cast<std::int64_t>(Statistic::Mean), curve.by_component, true));
    if (mean.empty()) return {};
    HEADROOM_TRY(auto error, read(path, static_cast<std::int64_t>(Statistic::StandardError), curve.by_component, true));
    KeyCurve made;
    made.curve = &curve;
    for (std::size_t map = 0; map < mean.size(); ++map) {
      if (!rows.curves.empty() && mean[map].size() != rows.visible.size()) return misfit(path);
      made.maps.push_back({std::move(mean[map]), std::move(error[map])});
    }
    rows.visible.clear();
    for (std::int64_t bin = 0; bin < std::ssize(made.maps.front().mean); ++bin)
      rows.visible.push_back(curve_bin_range(bin));
    rows.curves.emplace(curve.name, std::move(made));
    return {};
  }

 private:
  [[nodiscard]] Error misfit(const std::string& path) const {
    return Error(ErrorCode::Corrupt, "a dataset does not fit its axes").at_tensor(path).in_file(corpus_.path.string());
  }

  const RunFile& file_;
  const OpenedCorpus& corpus_;
  std::int64_t layer_, head_, step_;
};

// The number of rows that a quantity of heads is taken over: "entropy_mean" is of "entropy", "logit_max" of itself.
template <typename Quantity>
const Quantity* rows_named(const QuantityRef& ref, std::span<const Quantity> all) {
  if (ref.info == nullptr) return nullptr;
  for (const Quantity& one : all)
    for (const char* taken : {"", "_mean", "_std", "_min", "_max", "_quantile"})
      if (ref.info->name == std::string(one.name) + taken) return &one;
  return nullptr;
}

}  // namespace

std::int64_t RowCounts::OfMap::rows() const {
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  return all;
}

Result<std::shared_ptr<const CorpusRows>> read_corpus_rows(const OpenedCorpus& corpus, std::size_t head,
                                                           std::int64_t step) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(corpus.path));
  auto rows = std::make_shared<CorpusRows>();
  rows->step = step, rows->head = head;
  const RowsReader reader(*file, corpus, head, step);
  for (const SketchedQuantity& sketched : sketched_quantities()) HEADROOM_TRY_VOID(reader.counts_of(sketched, *rows));
  for (const CurveQuantity& curve : curve_quantities()) HEADROOM_TRY_VOID(reader.curve_of(curve, *rows));
  return std::shared_ptr<const CorpusRows>(std::move(rows));
}

const SketchedQuantity* sketch_of(const QuantityRef& ref) { return rows_named(ref, sketched_quantities()); }

const CurveQuantity* curve_of(const QuantityRef& ref) {
  // The sink score is the mean of these.
  if (ref.info != nullptr && ref.info->name == "sink_score")
    return &*std::ranges::find(curve_quantities(), std::string_view("first_key_weight"), &CurveQuantity::name);
  return rows_named(ref, curve_quantities());
}

std::vector<RowBar> row_bars(const SketchBins& bins, const std::vector<std::int64_t>& counts, std::size_t bars) {
  const auto counted = [](std::int64_t count) { return count > 0; };
  const auto from = std::ranges::find_if(counts, counted) - counts.begin();
  if (from == std::ssize(counts) || bars == 0) return {};
  std::int64_t to = std::ssize(counts);
  while (counts[static_cast<std::size_t>(to - 1)] == 0) --to;
  const std::int64_t together = (to - from + static_cast<std::int64_t>(bars) - 1) / static_cast<std::int64_t>(bars);
  std::vector<RowBar> made;
  for (std::int64_t bin = from; bin < to; bin += together) {
    RowBar bar{bins.low_end(bin), bins.low_end(bin + together), 0};
    for (std::int64_t i = bin; i < std::min(bin + together, to); ++i) bar.count += counts[static_cast<std::size_t>(i)];
    made.push_back(bar);
  }
  return made;
}

}  // namespace headroom
