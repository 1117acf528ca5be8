#include "app/figures/kinds/circuit_pairs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<const char*, 3> kCompositions = {"q_composition", "k_composition", "v_composition"};
constexpr std::size_t kFineBins = 4096;  // of compositions, which lie in [0, 1]
constexpr std::size_t kMostShownBins = 40, kLeastShownBins = 8;

std::size_t place_in(const std::vector<std::int64_t>& axis, std::int64_t index) {
  return static_cast<std::size_t>(std::ranges::lower_bound(axis, index) - axis.begin());
}

bool stronger(const HeadPair& a, const HeadPair& b) {
  const auto key = [](const HeadPair& pair) {
    return std::tuple(-pair.composition, pair.to, pair.from, pair.way, pair.map);
  };
  return key(a) < key(b);
}

void keep_strongest(std::vector<HeadPair>& pairs, std::size_t most) {
  const std::size_t kept = std::min(most, pairs.size());
  std::ranges::partial_sort(pairs, pairs.begin() + static_cast<std::ptrdiff_t>(kept), stronger);
  pairs.resize(kept);
}

class PairReader {
 public:
  PairReader(const FigureRun& run, const RunFile& file, const DrawnHeads& drawn, std::span<const HeadRef> touching,
             std::size_t most)
      : run_(run), file_(file), drawn_(drawn), touching_(touching), most_(most) {
    for (auto& counts : fine_) counts.assign(kFineBins, 0);
  }

  Result<HeadPairsOfFile> read() {
    if (!file_.find("composition_null")) return std::move(found_);
    HEADROOM_TRY(const std::vector<double> null, file_.read("composition_null"));
    if (!null.empty()) found_.null_value = null.front();
    for (std::size_t way = 0; way < kCompositions.size(); ++way)
      for (const std::int64_t layer : drawn_.layers) HEADROOM_TRY_VOID(read_layer(way, layer));
    keep_strongest(found_.strongest, most_);
    count_in_bins();
    return std::move(found_);
  }

 private:
  // What one layer reads of all that lie before it.
  Result<void> read_layer(std::size_t way, std::int64_t layer) {
    const std::vector<std::int64_t>&layers = run_.run->layers, &heads = run_.run->heads;
    const auto l = static_cast<std::int64_t>(place_in(layers, layer)), all = std::ssize(layers),
               count = std::ssize(heads);
    const std::string name = kCompositions[way];
    const DatasetInfo* info = file_.find(name);
    if (info == nullptr) return {};
    const std::int64_t maps = way == 2 ? 1 : 2;
    std::vector<std::int64_t> start{l, 0, 0, 0, 0}, extent{1, count, maps, all, count};
    if (way == 2) start.pop_back(), extent.erase(extent.begin() + 2);
    std::vector<std::int64_t> shape = extent;
    shape.front() = all;
    if (info->shape != shape)
      return Error(ErrorCode::Corrupt, "a dataset does not fit its axes").at_tensor(name).in_file(run_.path.string());
    HEADROOM_TRY(const std::vector<double> values, file_.read_part(name, start, extent));
    for (const std::int64_t head : drawn_.heads)
      for (std::int64_t map = 0; map < maps; ++map)
        for (const std::int64_t from : drawn_.layers) {
          if (from >= layer) break;
          for (const std::int64_t from_head : drawn_.heads) {
            const std::int64_t row = static_cast<std::int64_t>(place_in(heads, head)) * maps + map,
                               column = static_cast<std::int64_t>(place_in(layers, from)) * count +
                                        static_cast<std::int64_t>(place_in(heads, from_head));
            add({{from, from_head},
                 {layer, head},
                 way,
                 static_cast<std::size_t>(map),
                 values[static_cast<std::size_t>(row * all * count + column)]});
          }
        }
    return {};
  }

  void add(const HeadPair& pair) {
    if (!std::isfinite(pair.composition)) return;
    ++found_.pairs[pair.way];
    found_.second_maps = found_.second_maps || pair.map > 0;
    found_.above[pair.way] += pair.composition > found_.null_value ? 1 : 0;
    const double place = std::clamp(pair.composition, 0.0, 1.0) * static_cast<double>(kFineBins);
    ++fine_[pair.way][std::min(static_cast<std::size_t>(place), kFineBins - 1)];
    const auto touches = [&](HeadRef head) { return head == pair.from || head == pair.to; };
    if (!touching_.empty() && std::ranges::none_of(touching_, touches)) return;
    ++found_.candidates;
    if (pair.composition < floor_) return;
    found_.strongest.push_back(pair);
    if (found_.strongest.size() < 4 * most_ + 1024) return;
    keep_strongest(found_.strongest, most_);
    floor_ = found_.strongest.back().composition;
  }

  void count_in_bins() {
    std::size_t first = kFineBins, last = 0;
    for (const auto& counts : fine_)
      for (std::size_t i = 0; i < kFineBins; ++i)
        if (counts[i] > 0) first = std::min(first, i), last = std::max(last, i);
    if (first > last) return;
    // As many as so many pairs fill (Rice's rule).
    const auto filled = static_cast<std::size_t>(2.0 * std::cbrt(static_cast<double>(found_.all())));
    const std::size_t shown = std::clamp(filled, kLeastShownBins, kMostShownBins);
    const std::size_t wide = (last - first) / shown + 1, bins = (last - first) / wide + 1;
    for (std::size_t b = 0; b <= bins; ++b)
      found_.edges.push_back(static_cast<double>(first + b * wide) / static_cast<double>(kFineBins));
    for (std::size_t way = 0; way < fine_.size(); ++way) {
      found_.counts[way].assign(bins, 0);
      for (std::size_t i = first; i <= last; ++i) found_.counts[way][(i - first) / wide] += fine_[way][i];
    }
  }

  const FigureRun& run_;
  const RunFile& file_;
  const DrawnHeads& drawn_;
  std::span<const HeadRef> touching_;
  std::size_t most_;
  HeadPairsOfFile found_;
  double floor_ = 0.0;  // weaker ones are not among the strongest
  std::array<std::vector<std::int64_t>, 3> fine_;
};

}  // namespace

Result<HeadPairsOfFile> composed_pairs(const FigureRun& run, const RunFile& file, const DrawnHeads& drawn,
                                       std::span<const HeadRef> touching, std::size_t most) {
  return PairReader(run, file, drawn, touching, most).read();
}

Result<HeadNumbers> numbers_by_head(const FigureRun& run, const RunFile& file, const std::string& dataset) {
  HeadNumbers numbers;
  if (!file.find(dataset)) return numbers;
  HEADROOM_TRY(numbers.values, file.read(dataset));
  const std::size_t heads = run.run->layers.size() * run.run->heads.size();
  numbers.elements = numbers.values.size() / heads;
  if (numbers.elements == 0 || numbers.elements * heads != numbers.values.size())
    return Error(ErrorCode::Corrupt, "a dataset does not fit its axes").at_tensor(dataset).in_file(run.path.string());
  return numbers;
}

}  // namespace headroom
