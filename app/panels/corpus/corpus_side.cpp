#include "app/panels/corpus/corpus_side.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/panels/corpus/corpus_lines.h"
#include "app/panels/corpus/corpus_rows_plots.h"
#include "app/panels/corpus/corpus_view.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "app/session/commands.h"
#include "app/session/head_threshold.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::size_t kMostDiscs = 2000;  // above it curves and ranges stand alone

// The head's numbers in the sequences of a document.
struct HeadDocument {
  std::size_t document = 0, count = 0;
  double mean = 0.0, least = 0.0, quarter = 0.0, three_quarters = 0.0, most = 0.0;
};

// The head's sequences by its number, those without one left out.
struct HeadSequences {
  std::vector<std::size_t> order;
  std::vector<HeadDocument> documents;  // in the order of the file, those without a number left out
  double low = 0.0, high = 1.0;         // of the axis: 1-2-5 ends that hold all
};

// `own`: of the head, by sequence.
std::vector<HeadDocument> head_documents(const CorpusView& view, std::span<const float> own,
                                         const std::vector<std::size_t>& order) {
  std::vector<std::vector<double>> numbers(view.file.document_names.size());  // each ascending, as the order is
  for (const std::size_t s : order)
    numbers[static_cast<std::size_t>(view.file.document[s])].push_back(static_cast<double>(own[s]));
  std::vector<HeadDocument> documents;
  for (std::size_t d = 0; d < numbers.size(); ++d) {
    const std::vector<double>& of = numbers[d];
    if (of.empty()) continue;
    const std::size_t last = of.size() - 1;
    documents.push_back({d, of.size(), std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size()),
                         of.front(), of[last / 4], of[last - last / 4], of.back()});
  }
  return documents;
}

HeadSequences head_sequences(const CorpusView& view) {
  HeadSequences made;
  const std::span<const float> own = view.values->of_head(*view.head);
  for (std::size_t s = 0; s < own.size(); ++s)
    if (std::isfinite(own[s])) made.order.push_back(s);
  std::ranges::stable_sort(made.order, [&](std::size_t a, std::size_t b) { return own[a] < own[b]; });
  if (made.order.empty()) return made;
  made.documents = head_documents(view, own, made.order);
  double low = static_cast<double>(own[made.order.front()]), high = static_cast<double>(own[made.order.back()]);
  for (const double value : {view.intervals.low[*view.head], view.intervals.high[*view.head]})
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  const Range range = nice_range(low, high > low ? high : low + std::max(1e-6, 0.01 * std::abs(low)), false);
  made.low = range.low, made.high = range.high;
  return made;
}

void rule_line(PanelContext& context, Rect& body) {
  const Rect row = body.cut_top(11.0f);
  const float y = std::round(row.centre_y());
  context.painter().fill_rect({row.x0 - measure::kPadding, y, row.x1 + measure::kPadding, y + 1.0f},
                              context.theme().line);
}

void draw_head_numbers(PanelContext& context, const CorpusView& view, Rect& body) {
  const Theme& theme = context.theme();
  const std::size_t head = *view.head;
  const auto statistic = [&](Statistic which) { return view.statistic(which, head); };
  heading_line(context, body, quantity_heading(view.ref), "");
  const double count = statistic(Statistic::Count), error = statistic(Statistic::StandardError);
  const std::string mean = view.number(statistic(Statistic::Mean), error);
  if (std::isfinite(error))
    number_line(context, body, "mean ± s.e.", mean + " ± " + view.number(error, error), "", theme.text);
  else
    number_line(context, body, "mean", mean, "no standard error", theme.text);
  const auto interval = [&](const char* name, Statistic low, Statistic high, bool shown) {
    const double a = statistic(low), b = statistic(high);
    if (!std::isfinite(a)) return number_line(context, body, name, "–", "", theme.text3);
    const bool holds = view.level && a <= *view.level && b >= *view.level;
    number_line(context, body, name, view.number(a, error) + " … " + view.number(b, error),
                holds ? "holds " + threshold_name(view.ref.info) : "",
                holds && shown ? theme.warn
                : shown        ? theme.text
                               : theme.text2);
  };
  interval("95 %, t", Statistic::CiLow, Statistic::CiHigh, !view.bootstrap);
  interval("95 %, bootstrap", Statistic::BootstrapLow, Statistic::BootstrapHigh, view.bootstrap);
  number_line(context, body, "std", view.number(statistic(Statistic::Deviation), statistic(Statistic::Deviation)),
              "over sequences", theme.text);
  const auto extreme = [&](Statistic which) {
    const double value = statistic(which);
    if (!view.values) return std::string();
    const std::span<const float> own = view.values->of_head(head);
    const auto at = std::ranges::find(own, static_cast<float>(value));
    return at == own.end() ? std::string() : sequence_name(view.file, static_cast<std::size_t>(at - own.begin()));
  };
  number_line(context, body, "lowest", view.number(statistic(Statistic::Least)), extreme(Statistic::Least), theme.text);
  number_line(context, body, "highest", view.number(statistic(Statistic::Most)), extreme(Statistic::Most), theme.text);
  const std::string all = grouped_text(view.file.sequences());
  number_line(context, body, "sequences", std::isfinite(count) ? fixed_text(count, 0) : "–",
              (count < static_cast<double>(view.file.sequences()) ? "of " + all + ", " : "") + "of " +
                  grouped_text(view.file.documents()) + (view.file.documents() == 1 ? " document" : " documents"),
              theme.text);
}

struct ShareOfSequences {
  PanelContext& context;
  const CorpusView& view;
  const HeadSequences& sequences;
  PlotFrame frame;
};

// Mean and interval as a line and a band through a plot whose x is the number.
void draw_mean_line(const ShareOfSequences& plot) {
  Painter& painter = plot.context.painter();
  const Theme& theme = plot.context.theme();
  const std::size_t head = *plot.view.head;
  const CorpusIntervals& all = plot.view.intervals;
  DataClip clip(painter, plot.frame.inner);
  if (std::isfinite(all.half(head)))
    painter.fill_rect({plot.frame.x.pixel(all.low[head]), plot.frame.inner.y0, plot.frame.x.pixel(all.high[head]),
                       plot.frame.inner.y1},
                      theme.accent.faded(0.2f));
  if (std::isfinite(all.mean[head]))
    painter.fill_rect(Rect::sized(std::round(plot.frame.x.pixel(all.mean[head])), plot.frame.inner.y0, 1.0f,
                                  plot.frame.inner.height()),
                      theme.accent);
  if (plot.view.level && *plot.view.level >= plot.frame.x.low && *plot.view.level <= plot.frame.x.high)
    painter.fill_rect(Rect::sized(std::round(plot.frame.x.pixel(*plot.view.level)), plot.frame.inner.y0, 1.0f,
                                  plot.frame.inner.height()),
                      theme.mark);
}

// The pointer takes the nearest disc; a click chooses its sequence.
void follow_discs(const ShareOfSequences& plot, const std::vector<Vec2>& discs, const char* id) {
  PanelContext& context = plot.context;
  const Interaction hit = context.ui.interact(id, plot.frame.inner, Cursor::Crosshair);
  if (!hit.hovered) return;
  std::optional<std::size_t> nearest;
  float best = 100.0f;
  for (std::size_t i = 0; i < discs.size(); ++i) {
    const Vec2 away = discs[i] - context.ui.input.pointer;
    if (const float d = away.x * away.x + away.y * away.y; d < best) best = d, nearest = i;
  }
  if (!nearest) return;
  const std::size_t s = plot.sequences.order[*nearest];
  context.hover.sequence = plot.view.file.number[s];
  const std::string name = sequence_name(plot.view.file, s);
  context.ui.tooltip(Rect::sized(discs[*nearest].x - 6.0f, discs[*nearest].y - 6.0f, 12.0f, 12.0f),
                     name + "  " +
                         document_title(plot.view.file, static_cast<std::size_t>(plot.view.file.document[s])) + "\n" +
                         quantity_title(plot.view.ref) + "  " +
                         plot.view.number(static_cast<double>(plot.view.values->of_head(*plot.view.head)[s])));
  if (hit.clicked) context.ui.run("corpus.sequence " + name);
}

void draw_share_plot(PanelContext& context, const CorpusView& view, const HeadSequences& sequences, Rect area) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  AxisSpec y = axis_spec(0.0, 100.0);
  y.low_label = y.high_label = true;
  const AxisSpec x = axis_spec(sequences.low, sequences.high);
  ShareOfSequences plot{context, view, sequences, lay_out_plot(area, x, y, ui.measure(), {6.0f, 8.0f, {}, {}})};
  if (plot.frame.inner.width() < 50.0f || plot.frame.inner.height() < 40.0f) return;
  draw_plot_ground(painter, plot.frame, theme);
  draw_mean_line(plot);
  const std::span<const float> own = view.values->of_head(*view.head);
  const std::size_t all = sequences.order.size();
  const auto place = [&](std::size_t i) {
    return plot.frame.at(static_cast<double>(own[sequences.order[i]]),
                         100.0 * static_cast<double>(i + 1) / static_cast<double>(all));
  };
  std::vector<Vec2> discs, steps;
  float before = plot.frame.y.pixel(0.0);
  steps.push_back({plot.frame.inner.x0, before});
  // Of more sequences than there are discs, as many steps of the curve as there would be.
  const std::size_t stride = (all + kMostDiscs - 1) / kMostDiscs;
  for (std::size_t i = stride - 1; i < all; i = i + 1 < all ? std::min(i + stride, all - 1) : all) {
    const Vec2 at = place(i);
    steps.push_back({at.x, before});
    steps.push_back(at);
    before = at.y;
    if (stride == 1) discs.push_back(at);
  }
  steps.push_back({plot.frame.inner.x1, before});
  {
    DataClip clip(painter, plot.frame.inner.inset(-3.0f));
    painter.polyline(steps, theme.text3, 1.0f);
    for (std::size_t i = 0; i < discs.size(); ++i)
      painter.disc(discs[i], discs.size() > 300 ? 1.5f : 2.5f,
                   document_color(theme, view, view.file.document[sequences.order[i]]));
    if (const auto s = pointed_sequence(context.state, view)) {
      const auto at = std::ranges::find(sequences.order, *s);
      if (at != sequences.order.end())
        painter.ring(place(static_cast<std::size_t>(at - sequences.order.begin())), 5.0f, theme.text, 1.5f);
    }
  }
  draw_plot_axes(painter, plot.frame, theme);
  follow_discs(plot, discs, "share");
}

// A row a document: its name, how many sequences and their mean, and a disc for each; of too many sequences for that
// their range and its middle half.
void draw_documents(PanelContext& context, const CorpusView& view, const HeadSequences& sequences, Rect body) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  constexpr float kDocumentRow = 26.0f;
  std::span<const HeadDocument> rows = sequences.documents;
  const auto room = static_cast<std::size_t>(std::max(0.0f, std::floor((body.height() - 22.0f) / kDocumentRow)));
  if (room < 2 && rows.size() > room) return;
  const std::size_t more = rows.size() <= room ? 0 : rows.size() - (room - 1);
  rows = rows.first(rows.size() - more);
  const float named = std::min(150.0f, 0.44f * body.width());
  const Rect plot_area{body.x0 + named, body.y0, body.x1,
                       body.y0 + kDocumentRow * static_cast<float>(rows.size()) + 20.0f};
  AxisSpec y = axis_spec(0.0, 1.0);
  y.labels = false, y.grid = false;
  PlotRoom space;
  space.left = 2.0f, space.bottom = 18.0f, space.top = 0.0f, space.right = 8.0f;
  const ShareOfSequences plot{
      context, view, sequences,
      lay_out_plot(plot_area, axis_spec(sequences.low, sequences.high), y, ui.measure(), space)};
  if (plot.frame.inner.width() < 40.0f) return;
  draw_plot_ground(painter, plot.frame, theme);
  draw_mean_line(plot);
  const auto top_of = [&](std::size_t row) { return plot.frame.inner.y0 + kDocumentRow * static_cast<float>(row); };
  const std::span<const float> own = view.values->of_head(*view.head);
  // Beside each other where they would lie on each other: by turns on three lines.
  const auto disc_of = [&](std::size_t i) -> std::optional<Vec2> {
    const auto row = std::ranges::find(rows, static_cast<std::size_t>(view.file.document[sequences.order[i]]),
                                       &HeadDocument::document);
    if (row == rows.end()) return {};
    return Vec2{plot.frame.x.pixel(static_cast<double>(own[sequences.order[i]])),
                top_of(static_cast<std::size_t>(row - rows.begin())) + 8.0f + 4.0f * static_cast<float>(i % 3)};
  };
  std::vector<Vec2> discs;
  if (sequences.order.size() <= kMostDiscs) {
    for (std::size_t i = 0; i < sequences.order.size(); ++i) {
      const auto disc = disc_of(i);
      discs.push_back(disc.value_or(Vec2{std::nanf(""), std::nanf("")}));
      if (disc) painter.disc(*disc, 2.5f, document_color(theme, view, view.file.document[sequences.order[i]]));
    }
  } else {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Color color = document_color(theme, view, static_cast<std::int64_t>(rows[i].document));
      const auto bar = [&](double from, double to, float half) {
        const float x = plot.frame.x.pixel(from), width = std::max(1.0f, plot.frame.x.pixel(to) - x);
        painter.fill_rect(Rect::sized(x, top_of(i) + 13.0f - half, width, 2.0f * half), color.faded(0.8f));
      };
      bar(rows[i].least, rows[i].most, 0.5f);
      bar(rows[i].quarter, rows[i].three_quarters, 3.0f);
    }
  }
  if (const auto s = pointed_sequence(context.state, view)) {
    const auto at = std::ranges::find(sequences.order, *s);
    if (at != sequences.order.end())
      if (const auto place = disc_of(static_cast<std::size_t>(at - sequences.order.begin())))
        painter.ring(*place, 5.0f, theme.text, 1.5f);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float top = top_of(i);
    const std::string number = view.number(rows[i].mean);
    const TextStyle strong{Face::MonoSemibold, 11.0f, theme.text};
    const float width = ui.width(number, strong);
    ui.label_at(body.x0, top + 8.0f, document_title(view.file, rows[i].document), theme.body(theme.text),
                named - width - 16.0f);
    painter.text_at(body.x0 + named - 8.0f, top + 8.0f, number, strong, Painter::Align::Right);
    painter.text_at(
        body.x0, top + 20.0f,
        grouped_text(static_cast<std::int64_t>(rows[i].count)) + (rows[i].count == 1 ? " sequence" : " sequences"),
        {Face::Sans, 10.0f, theme.text3});
    const float x = plot.frame.x.pixel(rows[i].mean);
    painter.line({x, top + 4.0f}, {x, top + 22.0f}, theme.text, 1.5f);
  }
  draw_plot_axes(painter, plot.frame, theme);
  follow_discs(plot, discs, "documents");
  if (more > 0)
    ui.label_at(body.x0, plot_area.y1 + 8.0f, grouped_text(static_cast<std::int64_t>(more)) + " more documents",
                theme.hint(), body.width());
}

// The sequence under the pointer, or the chosen one, in words, and what can be done with it.
void draw_pointed(PanelContext& context, const CorpusView& view, Rect body) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const auto s = pointed_sequence(context.state, view);
  if (!s) {
    ui.label_at(body.x0, body.y0 + 8.0f, "Choose a sequence to run it, with its maps.", theme.hint(), body.width());
    return;
  }
  const std::string name = sequence_name(view.file, *s);
  const Rect line = body.cut_top(kNumberLine);
  float x = line.x0;
  x += ui.label_at(x, line.centre_y(), name, {Face::MonoSemibold, 12.0f, theme.text}, line.width()) + 8.0f;
  std::string more = document_title(view.file, static_cast<std::size_t>(view.file.document[*s]));
  if (view.values && view.head) {
    const double z = view.values->robust_z(*view.head, *s);
    const std::string text = std::isfinite(z) ? "robust z " + signed_text(z, 1) : "";
    const TextStyle style{Face::Mono, 11.0f, view.values->outlier(*view.head, *s) ? theme.warn : theme.text2};
    const float width = ui.width(text, style);
    if (!text.empty() && line.x1 - x > width + 50.0f) {
      context.painter().text_at(line.x1, line.centre_y(), text, style, Painter::Align::Right);
      more = document_title(view.file, static_cast<std::size_t>(view.file.document[*s]));
      if (line.x1 - x - width - 12.0f > 30.0f)
        ui.label_at(x, line.centre_y(), more, theme.body(theme.text2), line.x1 - x - width - 12.0f);
      more.clear();
    }
  }
  if (!more.empty() && line.x1 - x > 30.0f) ui.label_at(x, line.centre_y(), more, theme.body(theme.text2), line.x1 - x);
  std::string text = "loss " + fixed_text(view.corpus.statistics->losses[*s], 3) + " nats";
  if (view.values && view.head)
    text = quantity_title(view.ref) + " " + view.number(static_cast<double>(view.values->of_head(*view.head)[*s])) +
           ", median " + view.number(view.values->median[*view.head]) + "; " + text;
  if (body.height() < kNumberLine) return;
  const Rect second = body.cut_top(kNumberLine);
  ui.label_at(second.x0, second.centre_y(), text, theme.hint(), second.width());
  body.cut_top(4.0f);
  const std::string title = "Open as a run";
  const float width = ui.button_width(title);
  if (body.height() < measure::kControl || body.width() < width) return;
  // Of one that is only under the pointer a button would be gone before the pointer is at it.
  if (chosen_sequence(context.state, view) != s) {
    ui.label_at(body.x0, body.y0 + measure::kControl / 2, "a click chooses it, a double click runs it", theme.hint(),
                body.width());
    return;
  }
  const std::string command = "corpus.open " + name;
  const bool can = context.commands.disabled_reason(context.state, command).empty();
  ui.button(Rect::sized(body.x0, body.y0, width, measure::kControl), title, command,
            can ? ButtonStyle::Primary : ButtonStyle::Plain);
}

// What the head's plots are of; returns what is left below.
Rect draw_side_choice(PanelContext& context, Rect body) {
  const CorpusSide shown = context.state.view.corpus.side;
  const std::vector<Choice> choices{{"Sequences", "corpus.side sequences", shown == CorpusSide::Sequences, ""},
                                    {"Rows", "corpus.side rows", shown == CorpusSide::Rows, ""},
                                    {"By keys", "corpus.side keys", shown == CorpusSide::Keys, ""}};
  if (body.height() < 110.0f ||
      context.ui.segmented({0.0f, 0.0f}, measure::kPanelControl, choices, false) > body.width())
    return body;
  context.ui.segmented({body.x0, body.y0}, measure::kPanelControl, choices);
  body.cut_top(measure::kPanelControl + 4.0f);
  return body;
}

void draw_corpus_side(PanelContext& context, Rect frame) {
  const PanelScope scope(context, "corpus side", frame);
  const auto view = corpus_view(context.state);
  const bool shown = view && view->ref.info != nullptr;
  const std::string head = shown && view->head ? head_text(view->head_at(*view->head)) : "";
  Rect body = draw_panel_title(
      context, frame, "head", "Head", head,
      view ? "over " + grouped_text(view->file.sequences()) + (view->file.sequences() == 1 ? " sequence" : " sequences")
           : "");
  body = body.inset(measure::kPadding, 6.0f);
  if (!shown || !view->head) {
    draw_note(context, body, shown ? "No head is selected." : "There is no quantity of this name.",
              shown ? "Click one in the atlas or in the plot." : "");
    return;
  }
  context.facts.set("corpus.mean", view->intervals.mean[*view->head]);
  context.facts.set("corpus.low", view->intervals.low[*view->head]);
  context.facts.set("corpus.high", view->intervals.high[*view->head]);
  if (body.height() >= 260.0f) {
    const Rect pointed = body.cut_bottom(2.0f * kNumberLine + measure::kControl + 10.0f);
    Rect line = {body.x0, pointed.y0 - 6.0f, body.x1, pointed.y0 + 5.0f};
    rule_line(context, line);
    draw_pointed(context, *view, {pointed.x0, pointed.y0 + 4.0f, pointed.x1, pointed.y1});
    body.cut_bottom(8.0f);
  }
  draw_head_numbers(context, *view, body);
  rule_line(context, body);
  body = draw_side_choice(context, body);
  if (context.state.view.corpus.side != CorpusSide::Sequences) return draw_corpus_rows(context, *view, body);
  if (const std::string why = why_no_values(*view); !why.empty()) {
    draw_note(context, body, why);
    return;
  }
  const HeadSequences& sequences =
      kept_for(context.ui.kept_value("sequences"), std::tuple(view->values, *view->head, view->bootstrap),
               [&] { return head_sequences(*view); });
  if (sequences.order.empty()) {
    draw_note(context, body, "This head has a number in no sequence.");
    return;
  }
  if (body.height() < 110.0f) return;
  const float documents =
      22.0f + 20.0f + 26.0f * static_cast<float>(std::min<std::size_t>(view->file.document_names.size(), 8));
  float share = std::min(body.height(), std::max(140.0f, body.height() - documents - 12.0f));
  if (body.height() - share < 90.0f) share = body.height();
  Rect upper = body.cut_top(std::min(share, 1.3f * body.width()));
  const bool discs = sequences.order.size() <= kMostDiscs;
  heading_line(context, upper, "Share of sequences, %", discs ? "each disc a sequence" : "");
  draw_share_plot(context, *view, sequences, upper);
  if (body.height() < 90.0f || view->file.document_names.size() < 2) return;
  body.cut_top(4.0f);
  heading_line(context, body, "By document", discs ? "means; one disc a sequence" : "means; range, middle half");
  draw_documents(context, *view, sequences, body);
}

}  // namespace

const PanelInfo kCorpusSidePanel{.id = "corpus_head", .title = "Head", .least_width = 220.0f, .draw = draw_corpus_side};

}  // namespace headroom
