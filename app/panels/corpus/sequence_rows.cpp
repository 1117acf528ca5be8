#include "app/panels/corpus/sequence_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "app/panels/parts/kept.h"
#include "app/session/commands.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {

SequenceRows sequence_rows(const CorpusView& view, const CorpusState& wish) {
  SequenceRows rows;
  if (view.values && view.level) rows.over = heads_over(*view.values, *view.level);
  rows.order = sorted_sequences(view.corpus, view.values.get(), wish, view.head, rows.over);
  double low = kInfinity, high = -kInfinity;
  if (view.values && view.head)
    for (const float value : view.values->of_head(*view.head))
      if (std::isfinite(value))
        low = std::min(low, static_cast<double>(value)), high = std::max(high, static_cast<double>(value));
  if (!(low <= high)) return rows;
  const auto& natural = view.ref.info->natural;
  if (natural && low >= natural->low && high <= natural->high)
    low = natural->low, high = natural->high;
  else
    low = std::min(low, 0.0);
  rows.low = low, rows.high = high > low ? high : low + 1.0;
  return rows;
}

std::string sequence_number_text(const CorpusView& view, const SequenceRows& rows, CorpusSort sort,
                                 std::size_t sequence) {
  const bool known = view.values && view.head;
  switch (sort) {
    case CorpusSort::Sequence:
    case CorpusSort::Document:
    case CorpusSort::Loss: return fixed_text(view.corpus.statistics->losses[sequence], 3);
    case CorpusSort::Over: return sequence < rows.over.size() ? grouped_text(rows.over[sequence]) : "–";
    case CorpusSort::Value:
      return view.number(known ? static_cast<double>(view.values->of_head(*view.head)[sequence]) : kNaN);
    case CorpusSort::Robust: {
      const double z = known ? view.values->robust_z(*view.head, sequence) : kNaN;
      if (std::isfinite(z)) return signed_text(z, 1);
      return marks_outlier(view, sequence) ? "spread 0" : "–";
    }
    case CorpusSort::Off:
      return view.values && std::isfinite(view.values->off[sequence])
                 ? fixed_text(100.0 * view.values->off[sequence], 1) + " %"
                 : "–";
  }
  return "–";
}

bool marks_outlier(const CorpusView& view, std::size_t sequence) {
  return view.values && view.head && view.values->outlier(*view.head, sequence);
}

void act_on_sequence(PanelContext& context, const CorpusView& view, std::size_t sequence, const Interaction& hit) {
  const std::string name = sequence_name(view.file, sequence);
  if (hit.hovered) context.hover.sequence = view.file.number[sequence];
  if (hit.double_clicked)
    context.ui.run("corpus.open " + name);
  else if (hit.clicked && chosen_sequence(context.state, view) != sequence)
    context.ui.run("corpus.sequence " + name);
}

void scroll_to_chosen(PanelContext& context, const CorpusView& view, std::string_view name, std::size_t columns,
                      const SequenceRows& rows, float size) {
  std::optional<std::size_t>& seen =
      kept_for(context.ui.kept_value("seen"), std::string(name), [] { return std::optional<std::size_t>(); });
  const auto chosen = chosen_sequence(context.state, view);
  if (!chosen || chosen == seen) return;
  const auto place = static_cast<std::size_t>(std::ranges::find(rows.order, *chosen) - rows.order.begin());
  const std::size_t line = place / columns;
  const auto at = static_cast<float>(line);
  context.ui.scroll_to(name, at * size, (at + 1.0f) * size);
  seen = chosen;
}

void draw_sequences_foot(PanelContext& context, Rect row) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const TextStyle link{Face::Sans, 11.0f, theme.accent};
  for (const auto& [text, line] :
       {std::pair{"TSV", "corpus.copy sequences tsv"}, {"CSV", "corpus.copy sequences csv"}}) {
    const float width = ui.width(text, link);
    if (row.width() < width + 90.0f) return;
    ui.link({row.x1 - width, row.centre_y() + 4.0f}, text, line, link);
    row.cut_right(width + 10.0f);
  }
  ui.label_at(row.x1, row.centre_y(), "copy as", theme.hint(), 60.0f, Painter::Align::Right);
  row.cut_right(60.0f);
  const std::string reason = context.commands.disabled_reason(context.state, "corpus.open S0");
  if (!reason.empty()) {
    ui.label_at(row.x0, row.centre_y(), reason, theme.hint(), row.width());
    return;
  }
  const float cap = ui.key_cap_width("Enter");
  if (row.width() < cap + 120.0f) return;
  ui.key_cap({row.x0, row.centre_y()}, "Enter");
  ui.label_at(row.x0 + cap + 8.0f, row.centre_y(), "or a double click runs the sequence, with its maps", theme.hint(),
              row.width() - cap - 8.0f);
}

}  // namespace headroom
