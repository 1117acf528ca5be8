// One map of a head, or of a head with two maps the equation a¹ − λ a² = w that its net map is.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/map_panel.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/run/stored_map.h"

namespace headroom {
namespace {

constexpr double kMapSideBySide = 120.0;                   // millimetres from which maps stand side by side
constexpr double kEquationInLine = 155.0;                  // and an equation of maps in one line
constexpr std::int64_t kColumnsWithStrip = 64;             // above which the column of key 0 is too narrow to see
constexpr std::int64_t kLensReach = 8;                     // cells on each side of the one in the middle
constexpr double kDotsPerInch = 600.0, kInnerShare = 0.8;  // cells that a page can show
constexpr std::int64_t kMostLambdaBars = 2048;
constexpr const char* kFirstKey = "rows/first_key_weight";
constexpr const char* kMapLambda = "rows/lambda";

struct MapSubject {
  const FigureRun& file;
  const LayerSnapshot& layer;
  HeadRef head;
  const HeadProgram* program;  // null: the file has none

  [[nodiscard]] bool has_second() const { return program != nullptr && program->has_second(); }
  [[nodiscard]] bool equation() const { return has_second() && program->has_first(); }
};

std::vector<HeadRef> usual_map(const RunSnapshot& run) { return {{run.layers.front(), run.heads.front()}}; }

Error no_map(const FigureRun& run, const HeadRef& head, bool parts) {
  Error error(ErrorCode::Unsupported,
              "map of " + head_text(head) +
                  (parts ? ": both maps of the head are drawn, which are neither in /exact nor in /maps of "
                         : ": neither in /exact nor in /maps of ") +
                  run.name());
  return error.advise("headroom analyze … --layers " + std::to_string(head.layer) + " --heads " +
                      std::to_string(head.head) + " --exact-maps");
}

Result<MapSubject> map_subject(const FigureRun& run, const HeadRef& head) {
  const LayerSnapshot* layer = run.run->layer(head.layer);
  if (layer == nullptr) return no_map(run, head, false);
  const std::int64_t index = layer->head_index(head.head);
  const bool known = index >= 0 && static_cast<std::size_t>(index) < layer->programs.size();
  MapSubject subject{run, *layer, head, known ? &layer->programs[static_cast<std::size_t>(index)] : nullptr};
  HEADROOM_TRY(const bool exact, has_exact_maps(run.path));
  if (!exact && !has_pooled_map(*layer, head.head, PooledKind::Net)) return no_map(run, head, false);
  if (!exact && subject.equation() && !has_pooled_map(*layer, head.head, PooledKind::First)) {
    Error error = no_map(run, head, true);
    return error.advise("run analyze again with --maps 128 --components, or with --exact-maps");
  }
  return subject;
}

Result<std::array<std::int64_t, 2>> map_range(const std::optional<std::array<std::int64_t, 2>>& asked,
                                              std::int64_t count, const char* option, const FigureRun& run) {
  if (!asked) return std::array<std::int64_t, 2>{0, count};
  if ((*asked)[0] >= 0 && (*asked)[1] <= count) return *asked;
  return Error(ErrorCode::InvalidArgument, std::string(option) + " " + std::to_string((*asked)[0]) + ":" +
                                               std::to_string((*asked)[1]) + ": the map in " + run.name() + " has " +
                                               std::to_string(count));
}

Result<MapPartRequest> map_request(const MapSubject& subject, const FigureChoice& choice, double panel_mm) {
  MapPartRequest request;
  request.layer = subject.head.layer, request.head = subject.head.head;
  HEADROOM_TRY(request.rows, map_range(choice.rows, subject.layer.rows, "--rows", subject.file));
  HEADROOM_TRY(request.keys, map_range(choice.keys, subject.layer.keys, "--keys", subject.file));
  request.most_cells = std::max<std::int64_t>(16, std::llround(kInnerShare * panel_mm / 25.4 * kDotsPerInch));
  return request;
}

// "largest of 4 × 4 cells"; nothing of a map that is drawn entry by entry.
std::string cell_note(const MapPart& part) {
  if (part.cell <= 1) return {};
  const std::string size = grouped_text(part.cell);
  return (part.mean ? "mean of " : part.with_sign ? "extreme of " : "largest of ") + size + " × " + size + " cells";
}

// The column of key 0, by cells of the map.
std::vector<double> key0_strip(const MapSubject& subject, const MapPart& part) {
  if (part.keys[0] != 0 || (part.cell == 1 && part.width <= kColumnsWithStrip)) return {};
  std::vector<double> strip;
  const std::span<const float> kept = subject.layer.row_values(kFirstKey, subject.head.head);
  for (std::int64_t y = 0; y < part.height; ++y) {
    if (part.cell == 1) {
      strip.push_back(part.values[static_cast<std::size_t>(y * part.width)]);
      continue;
    }
    const auto first = static_cast<std::size_t>(part.rows[0] + y * part.cell),
               last = std::min(static_cast<std::size_t>(part.rows[1]), first + static_cast<std::size_t>(part.cell));
    if (kept.size() < last) return {};
    double largest = kNaN;
    for (std::size_t row = first; row < last; ++row)
      if (const auto v = static_cast<double>(kept[row]); !(v <= largest) && std::isfinite(v)) largest = v;
    strip.push_back(largest);
  }
  if (std::ranges::all_of(strip, [](double v) { return std::isnan(v); })) return {};
  return strip;
}

std::string map_token(const MapSubject& subject, bool row, std::int64_t place) {
  const TokenAxis axis = row ? subject.layer.axes.rows : subject.layer.axes.keys;
  const std::string* text = axis_text(*subject.file.run, axis == TokenAxis::None ? TokenAxis::Tokens : axis, place);
  return text == nullptr ? std::string() : token_label(*text);
}

std::string range_text(const std::array<std::int64_t, 2>& range) {
  return std::to_string(range[0]) + ":" + std::to_string(range[1]);
}

// A part of which no query sees a key would be an empty plot.
Result<void> check_seen(const MapPart& part, const FigureRun& run) {
  if (std::ranges::any_of(part.values, [](double v) { return !std::isnan(v); })) return {};
  return Error(ErrorCode::InvalidArgument, "map: rows " + range_text(part.rows) + " of " + run.name() +
                                               " see none of the keys " + range_text(part.keys) +
                                               ": there is nothing to draw");
}

Result<MapLens> map_lens(const MapSubject& subject, const MapPart& part, const std::array<std::int64_t, 2>& cell) {
  const auto [row, key] = cell;
  if (row < part.rows[0] || row >= part.rows[1] || key < part.keys[0] || key >= part.keys[1])
    return Error(ErrorCode::InvalidArgument, "--cell " + std::to_string(row) + "," + std::to_string(key) +
                                                 ": outside of what is drawn, rows " + range_text(part.rows) +
                                                 " and keys " + range_text(part.keys));
  if (!part.exact) {
    Error error(ErrorCode::Unsupported,
                "--cell shows single cells; " + subject.file.name() + " has pooled maps alone (no /exact)");
    return error.advise("run analyze again with --exact-maps");
  }
  MapPartRequest request;
  request.layer = subject.head.layer, request.head = subject.head.head;
  const auto around = [](std::int64_t place, const std::array<std::int64_t, 2>& range) {
    return std::array<std::int64_t, 2>{std::max(range[0], place - kLensReach),
                                       std::min(range[1], place + kLensReach + 1)};
  };
  request.rows = around(row, part.rows), request.keys = around(key, part.keys);
  MapLens lens;
  lens.row = row, lens.key = key;
  HEADROOM_TRY(lens.part, read_map_part(subject.file.path, *subject.file.run, request));
  lens.value =
      lens.part.values[static_cast<std::size_t>((row - lens.part.rows[0]) * lens.part.width + key - lens.part.keys[0])];
  if (std::isnan(lens.value))
    return Error(ErrorCode::InvalidArgument, "--cell " + std::to_string(row) + "," + std::to_string(key) + ": query " +
                                                 std::to_string(row) + " does not see key " + std::to_string(key) +
                                                 ", so a lens there would be empty");
  lens.row_text = map_token(subject, true, row), lens.key_text = map_token(subject, false, key);
  return lens;
}

std::string colours_said(const PageBar& bar) {
  const auto text = [](float v) {
    const double power = std::log10(static_cast<double>(v));
    if (power < -2.5 && std::abs(power - std::round(power)) < 1e-5)
      return "10^{" + fixed_text(std::round(power), 0) + "}";
    return short_text(static_cast<double>(v));
  };
  const ColorScale& scale = bar.scale;
  if (scale.kind == ScaleKind::Log10)
    return "colours logarithmic from " + text(scale.low) + (bar.clips_low ? " and below" : "") + " to " +
           text(scale.high);
  if (scale.kind == ScaleKind::Symlog)
    return "colours linear to ±" + text(scale.threshold) + " and logarithmic beyond, to ±" + text(scale.high) +
           "; in grey print their sign is lost";
  return "colours linear from " + text(scale.low) + " to " + text(scale.high);
}

std::string map_sentence(const MapPanel& panel, const std::string& what, const RunSnapshot& run) {
  const MapPart& part = panel.part;
  std::string text = what + " of " + head_text(panel.head) + ", queries *i* down, keys *j* across; " +
                     colours_said(panel.bar) + ". White: what a query does not see.";
  if (part.cell > 1)
    text += " Cells are blocks of " + std::to_string(part.cell) + " × " + std::to_string(part.cell) + " entries" +
            (part.mean        ? ", the mean of the visible ones"
             : part.with_sign ? ", the visible one that is farthest from 0"
                              : ", the largest of the visible ones") +
            (part.exact ? ", since the page has no more dots." : ", as the file keeps them.");
  if (part.rows[0] > 0 || part.rows[1] < run.length)
    text += " Rows " + std::to_string(part.rows[0]) + " to " + std::to_string(part.rows[1] - 1) + " of " +
            grouped_text(run.length) + ".";
  if (!panel.key0.empty()) text += " Strip at the left: key 0 again.";
  if (panel.lens)
    text +=
        " Lens: " + std::to_string(panel.lens->part.height) + " × " + std::to_string(panel.lens->part.width) +
        " entries around query " + std::to_string(panel.lens->row) + ", key " + std::to_string(panel.lens->key) +
        (std::isfinite(panel.lens->value) ? " (" + panel.symbol + " = " + short_text(panel.lens->value) + ")" : "") +
        ".";
  const auto lost = std::ranges::count_if(part.values, [](double v) { return std::isinf(v); });
  if (lost > 0) text += " Hatched: " + grouped_text(lost) + " cells that are not finite.";
  return text;
}

// Names of the drawn maps, by kind; of a head with one map the first names are of that.
struct MapNames {
  const char *panel, *series, *title, *symbol, *said;
};
constexpr MapNames kOneMap{"map", "map", "attention", "*a*_{*ij*}", "Attention weights *a*_{*ij*}"};
constexpr MapNames kFirstMap{"first", "first map", "first map", "*a*^{1}_{*ij*}", "First map *a*^{1}_{*ij*}"};
constexpr MapNames kSecondMap{"second", "second map", "second map", "*a*^{2}_{*ij*}", "Second map *a*^{2}_{*ij*}"};
constexpr MapNames kNetMap{"net", "net map", "net map", "*w*_{*ij*}",
                           "Net map *w*_{*ij*} = *a*^{1}_{*ij*} − *λ*_{*i*} *a*^{2}_{*ij*}"};

std::unique_ptr<MapPanel> map_panel(const MapSubject& subject, const MapNames& names, PooledKind kind, bool one,
                                    MapPart part, const PageBar& bar) {
  auto panel = std::make_unique<MapPanel>();
  panel->kind = "map", panel->name = names.panel, panel->series = names.series, panel->symbol = names.symbol;
  panel->head = subject.head, panel->part = std::move(part), panel->bar = bar;
  if (kind != PooledKind::Net) panel->component = kind == PooledKind::Second ? 1 : 0;
  panel->quantity = panel->part.exact         ? (kind == PooledKind::Net ? "exact/net_weights" : "exact/weights")
                    : kind != PooledKind::Net ? "maps/pooled_max_components"
                    : panel->part.mean        ? "maps/pooled_mean"
                    : panel->part.with_sign   ? "maps/pooled_signed_extreme"
                                              : "maps/pooled_max_abs";
  panel->note = cell_note(panel->part);
  if (one) panel->key0 = key0_strip(subject, panel->part);
  panel->title = rich(std::string(names.title) + " " + names.symbol + (panel->key0.empty() ? "" : "; strip: key 0"));
  panel->sentence = map_sentence(*panel, names.said, *subject.file.run);
  return panel;
}

std::unique_ptr<LambdaPanel> lambda_panel(const MapSubject& subject, const std::array<std::int64_t, 2>& rows) {
  auto panel = std::make_unique<LambdaPanel>();
  panel->kind = "map", panel->name = "lambda", panel->head = subject.head, panel->rows = rows;
  const std::span<const float> all = subject.layer.row_values(kMapLambda, subject.head.head);
  const auto first = static_cast<std::size_t>(rows[0]), last = static_cast<std::size_t>(rows[1]);
  if (all.size() < last) return panel;
  const std::span<const float> of_rows = all.subspan(first, last - first);
  panel->shared =
      (subject.program->lambda == LambdaSource::LayerScalar || subject.program->lambda == LambdaSource::Constant) &&
      std::isfinite(of_rows.front()) && std::ranges::all_of(of_rows, [&](float v) { return v == of_rows.front(); });
  if (!panel->shared) panel->each = (std::ssize(of_rows) + kMostLambdaBars - 1) / kMostLambdaBars;
  const std::size_t step = panel->shared ? of_rows.size() : static_cast<std::size_t>(panel->each);
  for (std::size_t at = 0; at < of_rows.size(); at += step) {
    const std::span<const float> bar = of_rows.subspan(at, std::min(step, of_rows.size() - at));
    double sum = 0.0;
    for (const float v : bar) sum += static_cast<double>(v);
    const double mean = panel->shared ? static_cast<double>(bar.front()) : sum / static_cast<double>(bar.size());
    panel->values.push_back(std::isfinite(mean) ? mean : kInfinity);
    if (std::isfinite(mean)) panel->low = std::min(panel->low, mean), panel->high = std::max(panel->high, mean);
  }
  panel->title = rich(panel->shared ? "*λ*" : "*λ*_{*i*}");
  panel->sentence = panel->shared ? "*λ* of " + head_text(subject.head) + ", the same for all rows."
                                  : "*λ*_{*i*} of " + head_text(subject.head) + ", one bar a row.";
  if (panel->each > 1)
    panel->sentence = "*λ*_{*i*} of " + head_text(subject.head) + ", one bar for the mean of " +
                      std::to_string(panel->each) + " rows.";
  return panel;
}

// a¹ − λ a² = w: on one line, or on two where the page is narrow.
Result<void> add_equation(Figure& figure, const MapSubject& subject, const FigureChoice& choice, bool one_line) {
  HEADROOM_TRY(MapPartRequest request, map_request(subject, choice, figure.width_mm / (one_line ? 3.2 : 2.0)));
  std::vector<MapPart> parts;
  for (const PooledKind kind : {PooledKind::First, PooledKind::Second, PooledKind::Net}) {
    request.kind = kind;
    HEADROOM_TRY(MapPart part, read_map_part(subject.file.path, *subject.file.run, request));
    parts.push_back(std::move(part));
  }
  HEADROOM_TRY_VOID(check_seen(parts.back(), subject.file));
  const std::array<std::int64_t, 2> rows = parts.front().rows;
  const PageBar shared = map_bar(choice, false, std::span(parts).first(2)),
                net = map_bar(choice, true, std::span(parts).last(1));
  for (const PageBar* bar : {&shared, &net}) HEADROOM_TRY_VOID(check_range(choice, bar->scale));
  auto first = map_panel(subject, kFirstMap, PooledKind::First, false, std::move(parts[0]), shared);
  auto second = map_panel(subject, kSecondMap, PooledKind::Second, false, std::move(parts[1]), shared);
  auto result = map_panel(subject, kNetMap, PooledKind::Net, false, std::move(parts[2]), net);
  auto lambda = lambda_panel(subject, rows);
  second->sign = "×", result->sign = "=";
  if (!one_line) first->sign = " ";  // as wide as what stands below it
  second->names_rows = !one_line, result->names_rows = false;
  lambda->weight = one_line ? 0.2f : 1.0f;
  FigurePanel& last_of_line = one_line ? static_cast<FigurePanel&>(*result) : *lambda;
  name_head(last_of_line, *subject.file.run, subject.head, choice);
  if (one_line) figure.rows.emplace_back();
  const auto add = [&](std::unique_ptr<FigurePanel> panel, bool begins) {
    if (begins && !one_line) figure.rows.emplace_back();
    figure.rows.back().push_back(figure.panels.size());
    figure.panels.push_back(std::move(panel));
  };
  add(std::move(first), true), add(std::move(lambda), false);
  add(std::move(second), true), add(std::move(result), false);
  return {};
}

Result<void> add_map(Figure& figure, const MapSubject& subject, const FigureChoice& choice, double panel_mm) {
  HEADROOM_TRY(const MapPartRequest request, map_request(subject, choice, panel_mm));
  std::vector<MapPart> parts;
  HEADROOM_TRY(MapPart part, read_map_part(subject.file.path, *subject.file.run, request));
  parts.push_back(std::move(part));
  const bool with_sign = subject.has_second();
  HEADROOM_TRY_VOID(check_seen(parts.front(), subject.file));
  const PageBar bar = map_bar(choice, with_sign, parts);
  HEADROOM_TRY_VOID(check_range(choice, bar.scale));
  auto panel = map_panel(subject, with_sign ? kNetMap : kOneMap, PooledKind::Net, !with_sign, std::move(parts[0]), bar);
  if (choice.cell) {
    HEADROOM_TRY(panel->lens, map_lens(subject, panel->part, *choice.cell));
    panel->sentence = map_sentence(*panel, with_sign ? kNetMap.said : kOneMap.said, *subject.file.run);
    if (!panel->corner_is_free()) {
      figure.notes.push_back(head_text(subject.head) +
                             ": no corner of this map is free for the lens, which is left out");
      panel->lens.reset();
    }
  }
  name_head(*panel, *subject.file.run, subject.head, choice);
  figure.panels.push_back(std::move(panel));
  return {};
}

// Of a panel with square cells.
double map_height(const MapPanel& panel, double panel_mm) {
  const MapPart& part = panel.part;
  const double ratio =
      static_cast<double>(part.rows[1] - part.rows[0]) / static_cast<double>(part.keys[1] - part.keys[0]);
  const double inner = panel_mm - (panel.key0.empty() ? 12.9 : 15.3);
  return inner * std::clamp(ratio, 0.3, 1.3) + (panel.corner_is_free() ? 15.8 : 26.0);
}

}  // namespace

Result<void> check_map(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, usual_map(*run.run)));
  for (const HeadRef& head : heads) {
    HEADROOM_TRY(const MapSubject subject, map_subject(run, head));
    HEADROOM_TRY_VOID(map_request(subject, choice, 84.0));
  }
  return {};
}

Result<Figure> make_map(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& run = runs.front();
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, usual_map(*run.run)));
  Figure figure;
  if (choice.heads.empty() && run.run->layers.size() * run.run->heads.size() > 1)
    figure.notes.push_back(run.name() + ": " + head_text(heads.front()) + " is the first head; --head chooses another");
  std::vector<MapSubject> subjects;
  for (const HeadRef& head : heads) {
    HEADROOM_TRY(MapSubject subject, map_subject(run, head));
    subjects.push_back(subject);
  }
  const auto equations = std::ranges::count_if(subjects, [](const MapSubject& one) { return one.equation(); });
  figure.width_mm = choice.width_mm.value_or(equations > 0 || subjects.size() > 1 ? 174.0 : 84.0);
  const bool wide = figure.width_mm >= kMapSideBySide;
  const std::size_t beside = wide && equations == 0 ? std::min<std::size_t>(subjects.size(), 2) : 1;
  const double panel_mm = figure.width_mm / static_cast<double>(beside);
  double height = 0.0, row_height = 0.0;
  for (const MapSubject& subject : subjects) {
    if (subject.equation()) {
      const bool in_line = figure.width_mm >= kEquationInLine;
      HEADROOM_TRY_VOID(add_equation(figure, subject, choice, in_line));
      // As high as makes the cells square, here and below.
      height += in_line ? (figure.width_mm - 52.0) / 3.2 + 16.0 : figure.width_mm + 4.0;
      continue;
    }
    if (figure.rows.empty() || figure.rows.back().size() >= beside) figure.rows.emplace_back(), height += row_height;
    if (figure.rows.back().empty()) row_height = 0.0;
    figure.rows.back().push_back(figure.panels.size());
    HEADROOM_TRY_VOID(add_map(figure, subject, choice, panel_mm));
    row_height = std::max(row_height, map_height(static_cast<const MapPanel&>(*figure.panels.back()), panel_mm));
  }
  height += row_height;
  figure.height_mm = choice.height_mm.value_or(height);
  if (choice.cell && equations > 0) figure.notes.push_back("--cell: lenses are drawn in single maps alone");
  return figure;
}

}  // namespace headroom
