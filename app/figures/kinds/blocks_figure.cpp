// What block-sparse attention would choose: the attention in the blocks that maps alone, pairs and groups choose, over
// k, and how much maps agree on them. All intervals are the file's own, over documents.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/kinds/lines_panel.h"
#include "core/base/number_text.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

// Places along the axes of the file.
constexpr std::int64_t kMapsOfFile = 3, kChoicesOfFile = 5, kRelationsOfFile = 4;
constexpr std::int64_t kAlone = 0, kPair = 1, kGroup = 2, kNetPlace = 2;

struct ChoicesFile {
  std::vector<double> tops;
  std::vector<std::vector<LineValues>> recall;  // [map][choice], over k
  std::vector<LineValues> agreement;            // [relation]
  std::vector<double> rows;                     // by k, the most of a layer
  std::int64_t sequences = 0, documents = 0;
  std::string block, always;
};

Error wrong_blocks(const FigureRun& run, const std::string& path) {
  Error error(ErrorCode::Corrupt, "the file lacks a dataset, or it has another shape");
  return error.at_tensor(path).in_file(run.path.string());
}

// A line for each element of what stands between the statistic (and the head) and k.
Result<std::vector<LineValues>> lines_of(const FigureRun& run, const RunFile& file, const std::string& path,
                                         std::int64_t expected, std::size_t tops,
                                         const std::vector<std::int64_t>& head) {
  const DatasetInfo* info = file.find(path);
  if (info == nullptr || info->shape.size() <= head.size() + 1 || info->shape.front() != std::int64_t{kStatistics})
    return wrong_blocks(run, path);
  std::vector<std::int64_t> start(info->shape.size(), 0), count = info->shape;
  for (std::size_t i = 0; i < head.size(); ++i) start[i + 1] = head[i], count[i + 1] = 1;
  std::int64_t inner = 1;
  for (std::size_t i = head.size() + 1; i < count.size(); ++i) inner *= count[i];
  if (inner != expected * static_cast<std::int64_t>(tops)) return wrong_blocks(run, path);
  HEADROOM_TRY(const std::vector<double> values, file.read_part(path, start, count));
  std::vector<LineValues> lines(static_cast<std::size_t>(expected));
  for (std::size_t e = 0; e < lines.size(); ++e)
    for (const auto& [statistic, to] :
         {std::pair(Statistic::Mean, &lines[e].y), std::pair(Statistic::CiLow, &lines[e].low),
          std::pair(Statistic::CiHigh, &lines[e].high)})
      for (std::size_t t = 0; t < tops; ++t)
        to->push_back(values[static_cast<std::size_t>(statistic) * static_cast<std::size_t>(inner) + e * tops + t]);
  return lines;
}

Result<ChoicesFile> read_choices_file(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, {}));
  if (heads.size() > 1)
    return Error(ErrorCode::InvalidArgument,
                 "blocks is drawn of all heads, or of one; --head names " + std::to_string(heads.size()));
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(run.path));
  ChoicesFile found;
  HEADROOM_TRY(found.tops, file->read_axis("top"));
  if (found.tops.empty()) return wrong_blocks(run, "top");
  std::vector<std::int64_t> place;
  if (!heads.empty())
    place = {std::ranges::find(run.run->layers, heads.front().layer) - run.run->layers.begin(),
             std::ranges::find(run.run->heads, heads.front().head) - run.run->heads.begin()};
  const std::string of = heads.empty() ? "mean/" : "";
  const std::size_t tops = found.tops.size();
  HEADROOM_TRY(std::vector<LineValues> recall,
               lines_of(run, *file, of + "recall", kMapsOfFile * kChoicesOfFile, tops, place));
  for (std::size_t m = 0; m < static_cast<std::size_t>(kMapsOfFile); ++m) {
    const auto begin = recall.begin() + static_cast<std::ptrdiff_t>(m) * kChoicesOfFile;
    found.recall.emplace_back(begin, begin + kChoicesOfFile);
  }
  HEADROOM_TRY(found.agreement, lines_of(run, *file, of + "agreement", kRelationsOfFile, tops, place));
  HEADROOM_TRY(const std::vector<double> rows, file->read("rows"));
  if (rows.size() != run.run->layers.size() * tops) return wrong_blocks(run, "rows");
  found.rows.assign(tops, 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) found.rows[i % tops] = std::max(found.rows[i % tops], rows[i]);
  HEADROOM_TRY(const std::vector<double> documents, file->read("sequences/document"));
  found.sequences = std::ssize(documents);
  std::vector<double> different = documents;
  std::ranges::sort(different);
  found.documents = std::ranges::unique(different).begin() - different.begin();
  found.block = run.attribute("block"), found.always = run.attribute("always");
  if (!found.recall[kNetPlace][kGroup].finite())
    return Error(ErrorCode::Unsupported, "blocks: " + run.name() + " has no row with a choice in this head");
  return found;
}

bool same_line(const LineValues& a, const LineValues& b) {
  for (std::size_t i = 0; i < a.y.size(); ++i)
    if (!(a.y[i] == b.y[i]) && (std::isfinite(a.y[i]) || std::isfinite(b.y[i]))) return false;
  return true;
}

std::unique_ptr<LinesPanel> choices_panel(const ChoicesFile& file, const char* name, std::string quantity) {
  auto panel = std::make_unique<LinesPanel>();
  panel->kind = "blocks", panel->name = name, panel->quantity = std::move(quantity);
  panel->places = file.tops, panel->n = file.sequences;
  double last = file.tops.front();
  for (std::size_t t = 0; t < file.tops.size(); ++t)
    if (file.rows[t] > 0.0) last = file.tops[t];
  panel->x = {file.tops.front(), last > file.tops.front() ? last : last + 1.0};
  panel->x.log = last > file.tops.front();
  panel->x.high_label = true;
  panel->x.title = rich("*k* blocks of " + file.block + " keys");
  return panel;
}

void add_choice(LinesPanel& panel, const char* name, const LineValues& values, MarkColor color, LineDash dash,
                bool several) {
  if (values.finite()) panel.lines.push_back({name, {}, values, color, 1.1f, dash, several, rich(name)});
}

// Of shares: from near the least one to 1 at most.
void set_share_range(LinesPanel& panel) {
  set_line_range(panel, false, std::nullopt);
  panel.y.low = std::max(panel.y.low, 0.0), panel.y.high = std::min(panel.y.high, 1.0);
}

std::string keep_sentence(const ChoicesFile& file) {
  const std::string always = file.always == "own" ? "the row’s own block is always chosen"
                             : file.always == "local"
                                 ? "the row’s own block, the first and the one before are always chosen"
                                 : "no block is chosen unasked";
  return "Blocks of " + file.block + " keys, by the product of the query and their mean key; " + always + ".";
}

std::unique_ptr<LinesPanel> recall_panel(const ChoicesFile& file, std::size_t map, bool alone_of_its_kind,
                                         const std::string& of_heads) {
  constexpr const char* kNames[] = {"first", "second", "net"};
  const std::vector<LineValues>& choices = file.recall[map];
  const bool several = file.documents > 1;
  auto panel = choices_panel(file, kNames[map], "recall");
  add_choice(*panel, "chance", choices[4], ink::kNotCounted, kDots, several);
  add_choice(*panel, "best k", choices[3], MarkColor{ink::kBlack, ink::kBlack}, kLongDash, several);
  add_choice(*panel, "alone", choices[kAlone], ink::kFirst, kSolidLine, several);
  if (!same_line(choices[kPair], choices[kAlone]))
    add_choice(*panel, "pair", choices[kPair], ink::kHead, kShortDash, several);
  if (!same_line(choices[kGroup], choices[kPair]))
    add_choice(*panel, "group", choices[kGroup], ink::kSecond, kBoundDash, several);
  const std::string of_map = alone_of_its_kind ? "the map" : std::string(kNames[map]) + " map";
  panel->title = rich("attention in *k* blocks, " + of_map), panel->brief = rich(of_map);
  panel->right = rich(of_heads);
  panel->sentence =
      std::string(map == kNetPlace && !alone_of_its_kind ? "Share of the magnitude of net weights"
                                                         : "Share of the attention of the " + of_map) +
      " in the *k* blocks that each map chooses alone, the maps of a head as a pair, and all maps of a group" +
      (map == kNetPlace && !alone_of_its_kind ? " (alone: in the blocks that both maps chose)" : "") +
      "; dashed: in the best *k*, dotted: in blocks by chance.";
  set_share_range(*panel);
  return panel;
}

std::unique_ptr<LinesPanel> agreement_panel(const ChoicesFile& file) {
  constexpr const char* kNames[] = {"same head", "same group", "other group", "chance"};
  if (std::ranges::none_of(file.agreement.begin(), file.agreement.begin() + 3,
                           [](const LineValues& line) { return line.finite(); }))
    return nullptr;
  const bool several = file.documents > 1;
  auto panel = choices_panel(file, "agreement", "agreement");
  add_choice(*panel, kNames[3], file.agreement[3], ink::kNotCounted, kDots, several);
  add_choice(*panel, kNames[2], file.agreement[2], ink::kOthers, kLongDash, several);
  add_choice(*panel, kNames[1], file.agreement[1], ink::kSecond, kSolidLine, several);
  add_choice(*panel, kNames[0], file.agreement[0], ink::kHead, kShortDash, several);
  panel->title = rich("Jaccard index of two maps’ blocks"), panel->brief = rich("Jaccard index");
  panel->sentence =
      "Jaccard index of the blocks that two maps choose alone, without those that always are: maps of one head, of other "
      "heads of its group, of other groups of the layer; dotted: of independent choices by chance.";
  set_share_range(*panel);
  return panel;
}

}  // namespace

Result<void> check_blocks(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const ChoicesFile file, read_choices_file(run, choice));
  return {};
}

Result<Figure> make_blocks_figure(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& run = runs.front();
  HEADROOM_TRY(const ChoicesFile file, read_choices_file(run, choice));
  const auto heads = std::ssize(run.run->layers) * std::ssize(run.run->heads);
  const std::string of_heads =
      choice.heads.empty() ? "mean of " + grouped_text(heads) + " heads" : head_text(choice.heads.front());
  Figure figure;
  const bool two_maps = file.recall[1][kGroup].finite();
  for (std::size_t map = 0; map < file.recall.size(); ++map)
    if (file.recall[map][kGroup].finite() && (two_maps || map == 0))
      figure.panels.push_back(recall_panel(file, map, !two_maps, of_heads));
  if (auto panel = agreement_panel(file)) figure.panels.push_back(std::move(panel));
  auto& first = static_cast<LinesPanel&>(*figure.panels.front());
  std::string rows;
  for (std::size_t t = 0; t < file.tops.size(); ++t)
    rows += (t == 0 ? "" : ", ") + short_text(file.rows[t]) + " for *k* = " + short_text(file.tops[t]);
  first.sentence = keep_sentence(file) + " " + first.sentence +
                   " Rows of a sequence that see more than *k* blocks: " + rows +
                   "; the others have no choice and are left out. " +
                   (choice.heads.empty() ? "Mean over all heads that have the number. " : "") +
                   "*n* = " + grouped_text(file.sequences) + (file.sequences == 1 ? " sequence" : " sequences") +
                   " of " + grouped_text(file.documents) + (file.documents == 1 ? " document" : " documents") +
                   (file.documents > 1 ? "; bands: 95 % intervals, documents as clusters." : ": no intervals.");
  arrange(figure, choice, 174.0, 110.0, 52.0);
  if (figure.panels.size() == 4 && figure.rows.size() == 1) {
    figure.rows = {{0, 1}, {2, 3}};
    figure.height_mm = choice.height_mm.value_or(104.0);
  }
  return figure;
}

}  // namespace headroom
