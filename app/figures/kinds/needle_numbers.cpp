#include "app/figures/kinds/needle_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "app/figures/figure_kinds.h"
#include "core/base/student.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

constexpr double kLevel = 0.05, kRecalledPrompt = 0.5;
constexpr std::size_t kParts = kNeedleParts.size(), kMapsOfNeedle = kNeedleMapNames.size();

constexpr std::array kMeasures = {
    NeedleMeasure{"share", "share of Σ |*w*|", "Share of a span in the absolute attention Σ |*w*|", true},
    NeedleMeasure{"mass", "attention Σ *w*", "Attention Σ *w* to a span", false},
    NeedleMeasure{"absolute", "absolute attention Σ |*w*|", "Absolute attention Σ |*w*| to a span", false},
    NeedleMeasure{"energy", "squared attention Σ *w*^{2}", "Squared attention Σ *w*^{2} to a span", false},
    NeedleMeasure{"output", "size of what a span gives, of the context’s",
                  "Size of what a span gives to the head’s context, of the size of that", false},
};

std::int64_t whole_number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class NeedleReader {
 public:
  NeedleReader(const FigureRun& run, const RunFile& file) : run_(run), file_(file) {}

  Result<NeedleNumbers> read(const FigureChoice& choice) {
    HEADROOM_TRY(const NeedleQuantityRef quantity, needle_quantity(choice));
    HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run_, choice, {}));
    HEADROOM_TRY(found_.lengths, file_.read_axis("length"));
    HEADROOM_TRY(found_.depths, file_.read_axis("depth"));
    if (found_.lengths.empty() || found_.depths.empty()) return wrong("depth");
    found_.name = run_.name(), found_.model = run_.attribute("model_id");
    found_.documents = run_.attribute("data"), found_.prompts_sha256 = run_.attribute("ids_sha256");
    found_.samples = whole_number(run_.attribute("samples")), found_.needles = whole_number(run_.attribute("needles"));
    found_.cells_done = whole_number(run_.attribute("cells_done"));
    found_.cells_asked = whole_number(run_.attribute("cells_asked"));
    found_.non_finite = whole_number(run_.attribute("non_finite_prompts"));
    HEADROOM_TRY_VOID(read_spans(quantity.measure->name, heads));
    HEADROOM_TRY_VOID(read_recall());
    HEADROOM_TRY_VOID(read_scores());
    if (std::ranges::none_of(found_.recalled, &NeedleLine::finite))
      return Error(ErrorCode::Unsupported, "needle: no cell of " + run_.name() + " has a value");
    return std::move(found_);
  }

 private:
  [[nodiscard]] Error wrong(const std::string& path) const {
    Error error(ErrorCode::Corrupt, "the file lacks a dataset, or it has another shape");
    return error.at_tensor(path).in_file(run_.path.string());
  }

  // A dataset whose axes have these extents behind the statistic; of one place of the last but `tail` axes where
  // `place` says which.
  Result<std::vector<double>> part_of(const std::string& path, const std::vector<std::int64_t>& shape,
                                      const std::vector<std::pair<std::size_t, std::int64_t>>& places = {}) const {
    const DatasetInfo* info = file_.find(path);
    if (info == nullptr || info->shape != shape) return wrong(path);
    std::vector<std::int64_t> start(shape.size(), 0), count = shape;
    for (const auto& [axis, place] : places) start[axis] = place, count[axis] = 1;
    return file_.read_part(path, start, count);
  }

  // The columns of a line: `at(d)` is the place of depth d among the numbers of one statistic.
  template <typename At>
  [[nodiscard]] NeedleLine line_of(std::span<const double> values, const At& at) const {
    NeedleLine line;
    const std::size_t columns = values.size() / kStatistics;
    const auto value = [&](Statistic which, std::size_t d) {
      return values[static_cast<std::size_t>(which) * columns + at(d)];
    };
    for (std::size_t d = 0; d < found_.depths.size(); ++d) {
      line.y.push_back(value(Statistic::Mean, d));
      line.low.push_back(value(Statistic::CiLow, d)), line.high.push_back(value(Statistic::CiHigh, d));
      const double count = value(Statistic::Count, d);
      line.n.push_back(std::isfinite(count) ? static_cast<std::int64_t>(count) : 0);
    }
    return line;
  }

  Result<void> read_spans(const std::string& name, const std::vector<HeadRef>& heads) {
    const auto lengths = std::ssize(found_.lengths), depths = std::ssize(found_.depths);
    const RunSnapshot& all = *run_.run;
    std::vector<double> values;
    if (heads.empty()) {
      HEADROOM_TRY(values, part_of(name + "_over_heads", {std::int64_t{kStatistics}, lengths, depths,
                                                          std::int64_t{kParts}, std::int64_t{kMapsOfNeedle}}));
    } else {
      const std::int64_t l = std::ranges::find(all.layers, heads.front().layer) - all.layers.begin(),
                         h = std::ranges::find(all.heads, heads.front().head) - all.heads.begin();
      HEADROOM_TRY(values, part_of(name,
                                   {std::int64_t{kStatistics}, lengths, depths, std::int64_t{kParts},
                                    std::ssize(all.layers), std::ssize(all.heads), std::int64_t{kMapsOfNeedle}},
                                   {{4, l}, {5, h}}));
    }
    found_.spans.resize(found_.lengths.size());
    for (std::size_t l = 0; l < found_.lengths.size(); ++l)
      for (std::size_t part = 0; part < kParts; ++part)
        for (std::size_t map = 0; map < kMapsOfNeedle; ++map)
          found_.spans[l][part][map] = line_of(values, [&](std::size_t d) {
            return ((l * found_.depths.size() + d) * kParts + part) * kMapsOfNeedle + map;
          });
    return {};
  }

  Result<void> read_recall() {
    const auto lengths = std::ssize(found_.lengths), depths = std::ssize(found_.depths);
    HEADROOM_TRY(const std::vector<double> values, part_of("recalled", {std::int64_t{kStatistics}, lengths, depths}));
    for (std::size_t l = 0; l < found_.lengths.size(); ++l)
      found_.recalled.push_back(line_of(values, [&](std::size_t d) { return l * found_.depths.size() + d; }));
    HEADROOM_TRY(const std::vector<double> overall, part_of("overall/recalled", {std::int64_t{kStatistics}}));
    const auto value = [&](Statistic which) { return overall[static_cast<std::size_t>(which)]; };
    found_.overall = {value(Statistic::Mean), value(Statistic::CiLow), value(Statistic::CiHigh)};
    HEADROOM_TRY(samples_, part_of("samples/recalled", {lengths, depths, found_.samples}));
    found_.prompts = std::ranges::count_if(samples_, [](double share) { return std::isfinite(share); });
    found_.recalled_prompts = std::ranges::count_if(samples_, [](double share) { return share > kRecalledPrompt; });
    return {};
  }

  // Samples that are in a cell: they are what intervals over all cells are over.
  [[nodiscard]] std::int64_t clusters() const {
    std::int64_t count = 0;
    const auto across = static_cast<std::size_t>(found_.samples);
    for (std::size_t s = 0; s < across; ++s) {
      bool there = false;
      for (std::size_t i = s; i < samples_.size(); i += across) there = there || std::isfinite(samples_[i]);
      count += there ? 1 : 0;
    }
    return count;
  }

  Result<void> read_scores() {
    const RunSnapshot& all = *run_.run;
    const auto layers = std::ssize(all.layers), heads = std::ssize(all.heads);
    HEADROOM_TRY(const std::vector<double> values,
                 part_of("overall/retrieval_score", {std::int64_t{kStatistics}, layers, heads}));
    for (std::int64_t place = 0; place < layers * heads; ++place) {
      const auto at = [&](Statistic which) {
        return values[static_cast<std::size_t>(static_cast<std::int64_t>(which) * layers * heads + place)];
      };
      RetrievalScore one{
          {all.layers[static_cast<std::size_t>(place / heads)], all.heads[static_cast<std::size_t>(place % heads)]},
          at(Statistic::Mean),
          at(Statistic::CiLow),
          at(Statistic::CiHigh)};
      if (!std::isfinite(one.mean)) {
        ++found_.without;
        continue;
      }
      one.n = static_cast<std::int64_t>(at(Statistic::Count));
      one.corrected = at(Statistic::StandardError);  // until all heads are known
      found_.scores.push_back(one);
    }
    if (file_.find("overall/retrieval_score_of_map") != nullptr) {
      HEADROOM_TRY(const std::vector<double> of_map,
                   part_of("overall/retrieval_score_of_map",
                           {std::int64_t{kStatistics}, layers, heads, std::int64_t{kMapsOfNeedle}}));
      for (RetrievalScore& one : found_.scores) {
        const auto l = std::ranges::find(all.layers, one.head.layer) - all.layers.begin(),
                   h = std::ranges::find(all.heads, one.head.head) - all.heads.begin();
        one.second = of_map[static_cast<std::size_t>((l * heads + h) * kMapsOfNeedle + 1)];
      }
    }
    const double degrees = static_cast<double>(clusters() - 1);
    const double point = degrees < 1.0 || found_.scores.empty()
                             ? kNaN
                             : student_point(kLevel / static_cast<double>(found_.scores.size()), degrees);
    for (RetrievalScore& one : found_.scores) one.corrected *= point;
    HEADROOM_TRY(const std::vector<double> recalled,
                 part_of("overall/retrieval_score_recalled", {std::int64_t{kStatistics}, layers, heads}));
    found_.recalled_heads = std::count_if(recalled.begin(), recalled.begin() + layers * heads,
                                          [](double mean) { return mean >= kRetrievalHead; });
    std::ranges::stable_sort(found_.scores, std::ranges::greater(), &RetrievalScore::mean);
    return {};
  }

  const FigureRun& run_;
  const RunFile& file_;
  NeedleNumbers found_;
  std::vector<double> samples_;  // recalled, [length, depth, sample]
};

}  // namespace

bool NeedleNumbers::two_maps() const {
  for (std::size_t l = 0; l < lengths.size(); ++l)
    if (of(l, NeedlePart::Answer, NeedleMap::Second).finite()) return true;
  return false;
}

Result<NeedleQuantityRef> needle_quantity(const FigureChoice& choice) {
  if (choice.own_quantities.empty()) return NeedleQuantityRef{&kMeasures.front(), NeedleMap::Net};
  if (choice.own_quantities.size() == 1)
    for (const NeedleMeasure& measure : kMeasures) {
      const std::string& text = choice.own_quantities.front();
      if (text == measure.name) return NeedleQuantityRef{&measure, NeedleMap::Net};
      for (std::size_t map = 0; map < kMapsOfNeedle; ++map)
        if (text == std::string(measure.name) + "[" + kNeedleMapNames[map] + "]")
          return NeedleQuantityRef{&measure, static_cast<NeedleMap>(map)};
    }
  std::string known, asked;
  for (const NeedleMeasure& measure : kMeasures) known += (known.empty() ? "" : ", ") + std::string(measure.name);
  for (const std::string& text : choice.own_quantities) asked += (asked.empty() ? "" : ",") + text;
  return Error(ErrorCode::InvalidArgument, "needle: --quantity \"" + asked + "\" is not known")
      .wanted("one of " + known + ", of the net map or of another: share[first], share[second]", asked);
}

Result<NeedleNumbers> read_needle_numbers(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(run.path));
  return NeedleReader(run, *file).read(choice);
}

}  // namespace headroom
