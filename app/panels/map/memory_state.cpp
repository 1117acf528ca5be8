#include "app/panels/map/memory_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kStateWidth = 520.0f, kPartRow = 18.0f, kPartBar = 8.0f, kButton = 26.0f, kPartGap = 12.0f;
constexpr std::size_t kMostItems = 5;

struct Amount {
  std::string what, text, formula;
  double bytes = 0.0;
};

// The largest parts, and one line for the rest, so that they add up to what the run takes.
std::vector<Amount> parts_of(const RunBudget& budget, std::size_t most) {
  std::vector<Amount> all;
  for (const MemoryItem& item : budget.memory.items)
    all.push_back({item.what, "", item.formula, static_cast<double>(item.bytes)});
  const double kept = static_cast<double>(budget.fit.needed_bytes - budget.memory.working_bytes);
  if (kept > 0.0) {
    const bool least = !budget.fit.fits && budget.memory.layers > 1;
    const auto layers = std::max<std::int64_t>(
        1, budget.fit.fits ? budget.fit.kept_layers : std::min<std::int64_t>(budget.memory.layers, 2));
    all.push_back({budget.maps ? format("maps and numbers of %lld %s", static_cast<long long>(layers),
                                        layers == 1 ? "layer" : "layers")
                               : std::string("numbers of rows and keys"),
                   "",
                   memory_text(static_cast<double>(budget.memory.layer_bytes)) +
                       (least ? " a layer, two until one is dropped" : " a layer"),
                   kept});
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Amount::bytes);
  if (all.size() > most) {
    double rest = 0.0;
    for (std::size_t i = most; i < all.size(); ++i) rest += all[i].bytes;
    const std::size_t count = all.size() - most;
    all.resize(most);
    all.push_back({grouped_text(static_cast<std::int64_t>(count)) + (count == 1 ? " smaller part" : " smaller parts"),
                   "", "", rest});
  }
  for (Amount& amount : all) amount.text = memory_text(amount.bytes);
  return all;
}

}  // namespace

bool lacks_memory(const RunEntry& run) {
  if (run.data || !run.budget) return false;
  return run.refused || (run.status == RunStatus::Failed && run.error && run.error->code == ErrorCode::OutOfMemory);
}

std::string memory_headline(const RunEntry& run) {
  return run.refused ? "The run was not started: it takes more memory than allowed" : "The run ended: memory ran out";
}

void draw_memory_state(PanelContext& context, const Rect& body, const RunEntry& run) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const RunBudget& budget = *run.budget;
  const Rect inner = body.inset(12, 8);
  if (inner.width() < 40 || inner.height() < 24) return;
  const float width = std::floor(std::min(kStateWidth, inner.width())), x = std::round(inner.centre_x() - 0.5f * width);
  const double needed = static_cast<double>(budget.fit.needed_bytes),
               allowed = static_cast<double>(budget.budget_bytes);
  const bool least = !budget.fit.fits && budget.maps && budget.memory.layers > 1;
  std::string why = "A run of " + grouped_text(budget.memory.length) +
                    (budget.memory.length == 1 ? " token" : " tokens") + " takes up to " + memory_text(needed) +
                    (least ? " even with the maps of the last layer alone" : "") + "; allowed are " +
                    budget_text(budget) + ".";
  if (!run.refused)
    why += " Memory ran out all the same: other programs, or parts that nobody foresaw. What was open stays.";

  const float headline = ui.paragraph({0, 0}, memory_headline(run), theme.title(), width - 26.0f, 18, false);
  const float why_height = ui.paragraph({0, 0}, why, theme.hint(), width, 16, false);
  const auto offers = static_cast<float>(run.offers.size());
  const float offers_height = run.offers.empty() ? 0.0f : kPartGap + offers * kButton + (offers - 1.0f) * 6.0f;
  float room = inner.height() - headline - offers_height;
  const bool with_why = room >= why_height + 6.0f;
  if (with_why) room -= why_height + 6.0f;
  const float bars_height = kPartGap + 2.0f * kPartRow;
  const bool with_bars = with_why && room >= bars_height;
  if (with_bars) room -= bars_height;
  std::vector<Amount> parts;
  if (with_bars && room >= kPartGap + 2.0f * kPartRow)
    parts = parts_of(budget, std::min(kMostItems, static_cast<std::size_t>((room - kPartGap) / kPartRow) - 1));
  const float parts_height = parts.empty() ? 0.0f : kPartGap + static_cast<float>(parts.size()) * kPartRow;
  const float total = headline + (with_why ? why_height + 6.0f : 0.0f) + (with_bars ? bars_height : 0.0f) +
                      parts_height + offers_height;
  float y = std::round(std::max(inner.y0, inner.centre_y() - 0.5f * total));

  ui.icon(Icon::Error, {x + 8.0f, y + 9.0f}, 16.0f, theme.err);
  y += ui.paragraph({x + 26.0f, y}, memory_headline(run), theme.title(), width - 26.0f, 18);
  if (with_why) y += ui.paragraph({x, y + 6.0f}, why, theme.hint(), width, 16) + 6.0f;
  const TextStyle number{Face::Mono, 12.0f, theme.text};
  // Labels, bars and amounts in three columns.
  const float amounts = 72.0f, labels = std::min(150.0f, 0.35f * width), bars = width - labels - amounts - 16.0f;
  const auto bar_row = [&](const char* label, double bytes, Color color) {
    ui.label_at(x, y + 0.5f * kPartRow, label, theme.body(theme.text2), labels);
    const float longest = static_cast<float>(bytes / std::max({needed, allowed, 1.0}));
    if (bars > 20.0f) {
      const Rect frame = Rect::sized(x + labels + 8.0f, y + 0.5f * (kPartRow - kPartBar), bars, kPartBar);
      painter.fill_rect(frame, theme.hover, 2.0f);
      painter.fill_rect(Rect::sized(frame.x0, frame.y0, std::max(1.0f, bars * longest), kPartBar), color, 2.0f);
    }
    painter.text_at(x + width, y + 0.5f * kPartRow, memory_text(bytes), number, Painter::Align::Right);
    y += kPartRow;
  };
  if (with_bars) {
    y += kPartGap;
    bar_row("the run takes up to", needed, theme.err);
    bar_row("allowed", allowed, theme.accent);
  }
  if (!parts.empty()) {
    y += kPartGap;
    for (const Amount& part : parts) {
      const float name =
          ui.label_at(x, y + 0.5f * kPartRow, part.what, theme.body(theme.text2), width - amounts - 8.0f);
      const float left = x + std::ceil(name) + 12.0f, right = x + width - amounts - 8.0f;
      if (!part.formula.empty() && ui.width(part.formula, theme.hint()) <= right - left)
        painter.text_at(right, y + 0.5f * kPartRow, part.formula, theme.hint(), Painter::Align::Right);
      painter.text_at(x + width, y + 0.5f * kPartRow, part.text, number, Painter::Align::Right);
      y += kPartRow;
    }
  }
  if (run.offers.empty()) return;
  y += kPartGap;
  bool first = true;
  for (const RunOffer& offer : run.offers) {
    if (y + kButton > inner.y1 + 4.0f) return;
    const float w = std::min(width, ui.button_width(offer.title));
    if (ui.button(Rect::sized(x, y, w, kButton), offer.title, "", first ? ButtonStyle::Primary : ButtonStyle::Plain))
      for (const std::string& line : offer.lines) ui.run(line);
    if (x + width - (x + w + 12.0f) > 24.0f)
      ui.label_at(x + w + 12.0f, y + 0.5f * kButton, offer.note, theme.hint(), width - w - 12.0f);
    y += kButton + 6.0f;
    first = false;
  }
}

}  // namespace headroom
