// The side panel of a what-if: where it applies, what is changed, the numbers before and after, the complete run.
#include "app/panels/what_if/what_if_change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/compare/compare_parts.h"
#include "app/panels/panel.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/what_if/what_if_subject.h"
#include "app/session/commands.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/model/what_if_title.h"

namespace headroom {
namespace {

constexpr float kChangeRow = 21.0f;

void draw_offer(PanelContext& context, Rect area, const OfferedChange& offer, std::size_t more, bool unfolded,
                const std::function<void()>& unfold) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const bool fits = offer.reason.empty();
  const float y = area.centre_y();
  if (offer.active) {
    painter.fill_rect({area.x0 - measure::kPadding, area.y0, area.x1 + measure::kPadding, area.y1}, theme.accent_soft);
    painter.fill_rect({area.x0 - measure::kPadding, area.y0, area.x0 - measure::kPadding + 3.0f, area.y1},
                      theme.accent);
  }
  const float w = area.width();
  const float slider_x0 = area.x0 + std::max(120.0f, 0.30f * w);
  float slider_x1 = area.x0 + 0.70f * w;
  // A slider that cannot be used leaves the room to its reason.
  if (!fits) slider_x1 = std::min(slider_x1, area.x1 - ui.width(offer.reason, theme.hint()) - 16.0f);
  const bool slides = offer.slider && slider_x1 - slider_x0 >= 40.0f;
  // Everything but the slider takes or leaves the change.
  const Rect hand{area.x0, area.y0, slides && fits ? slider_x0 - 6.0f : area.x1, area.y1};
  const Interaction hit = ui.interact("take " + offer.title, hand, Cursor::Hand);
  const Rect box = Rect::sized(area.x0, std::floor(y - 6.0f), 12.0f, 12.0f);
  if (offer.active) {
    painter.fill_rect(box, fits ? theme.accent : theme.off, 2.0f);
    ui.icon(Icon::Check, box.centre(), 8.0f, fits ? theme.on_accent : theme.panel);
  } else if (more == 0) {
    painter.stroke_rect(box, hit.hovered && fits ? theme.text2 : theme.off, 1.0f, 2.0f);
  }
  const std::string title = more > 0 ? std::to_string(more) + " more" : offer.title;
  const TextStyle name = theme.body(!fits ? theme.off : offer.active ? theme.text : theme.text2);
  const TextStyle hint{Face::Sans, 11.0f, fits ? theme.text3 : theme.warn};
  const std::string note = fits ? offer.note : offer.reason;
  if (more > 0) ui.icon(unfolded ? Icon::ChevronDown : Icon::ChevronRight, box.centre(), 8.0f, theme.off);
  const float used =
      ui.label_at(area.x0 + 20.0f, y, title, name, slides ? slider_x0 - area.x0 - 28.0f : 0.62f * w) + 20.0f;
  if (slides) {
    const auto value = ui.slider("slider " + offer.title, {slider_x0, area.y0, slider_x1, area.y1}, offer.slider->value,
                                 offer.slider->low, offer.slider->high, fits);
    if (fits && value) {
      const std::string change = offer.change.substr(0, offer.change.find('=') + 1) + format("%.3g", *value);
      if (change != offer.change || !offer.active) ui.run("what-if " + change);
    }
  }
  const float note_x0 = slides ? slider_x1 + 10.0f : area.x0 + used + 12.0f;
  if (slides && fits) {
    ui.label_at(area.x1, y, fixed_text(offer.slider->value, 2),
                {Face::Mono, 12.0f, offer.active ? theme.text : theme.text3}, area.x1 - note_x0, Painter::Align::Right);
  } else if (!note.empty() && area.x1 - note_x0 >= 30.0f) {
    ui.label_at(area.x1, y, note, hint, area.x1 - note_x0, Painter::Align::Right);
  }
  if (!fits) ui.tooltip(area, offer.reason);
  if (!hit.clicked) return;
  if (more > 0) {
    unfold();
  } else if (fits && offer.active) {
    // Without its last change the head is as trained, and nothing is left to compute.
    ui.run(context.state.view.what_if.changes.size() == 1 ? "what-if.reset" : "what-if -" + offer.change);
  } else if (fits) {
    ui.run("what-if " + offer.change);
  }
}

void add_changes(PanelContext& context, CompareCache& memory, PartColumn& column, const WhatIfSubject& subject) {
  Ui& ui = context.ui;
  const State& state = context.state;
  const std::int64_t layers = static_cast<std::int64_t>(subject.base->data->layers.size());
  const std::int64_t all = layers * static_cast<std::int64_t>(subject.base->data->heads.size());
  column.add(30.0f, [&context, subject, all](Rect area) {
    const Theme& theme = context.theme();
    const std::string& scope = context.state.view.what_if.scope;
    const Choice choices[] = {
        {"this head", "what-if.scope head", scope == "head", ""},
        {"layer " + std::to_string(subject.head.layer), "what-if.scope layer", scope == "layer", ""},
        {"model", "what-if.scope model", scope == "model", ""}};
    const float y = area.centre_y();
    const float width = context.ui.segmented({0.0f, 0.0f}, measure::kPanelControl, choices, false);
    if (width + 22.0f > area.width()) return;
    context.ui.label_at(area.x0, y, "in", theme.body(theme.text3), 20.0f);
    context.ui.segmented({area.x0 + 20.0f, y - 0.5f * measure::kPanelControl}, measure::kPanelControl, choices);
    const std::int64_t here = scope == "head"    ? 1
                              : scope == "layer" ? static_cast<std::int64_t>(subject.layer_before->heads.size())
                                                 : all;
    const float room = area.width() - width - 36.0f;
    const std::string text = grouped_text(here) + " of " + grouped_text(all) + " heads";
    if (context.ui.width(text, theme.hint()) <= room)
      context.painter().text_at(area.x1, y, text, theme.hint(), Painter::Align::Right);
  });
  const auto index = static_cast<std::size_t>(subject.layer_before->head_index(subject.head.head));
  const std::span<const double> lambda = subject.layer_before->values("lambda_mean", subject.head.head);
  const std::vector<OfferedChange> offers = offered_changes(context, memory, subject.layer_before->programs[index],
                                                            subject.head.head, lambda.empty() ? NAN : lambda.front());
  double& unfolded = ui.kept_number("unfolded");
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const OfferedChange& offer = offers[i];
    // Of several with the same reason the first stands for all.
    std::size_t same = 0;
    if (!offer.reason.empty())
      for (const OfferedChange& other : offers) same += other.reason == offer.reason ? 1 : 0;
    const bool first = std::ranges::find(offers, offer.reason, &OfferedChange::reason) - offers.begin() ==
                       static_cast<std::ptrdiff_t>(i);
    const bool foldable = same > 2;
    if (foldable && !first && unfolded == 0.0) continue;
    column.add(kChangeRow, [&context, offer](Rect area) { draw_offer(context, area, offer, 0, false, {}); });
    if (foldable && first) {
      const bool open = unfolded != 0.0;
      column.add(kChangeRow, [&context, &unfolded, offer, same, open](Rect area) {
        draw_offer(context, area, {"more for this reason: " + offer.reason, "", "", false, {}, offer.reason}, same - 1,
                   open, [&unfolded, open] { unfolded = open ? 0.0 : 1.0; });
      });
    }
  }
  if (state.view.what_if.changes.empty())
    column.note("Choose a change: the head is computed again at once and stands beside itself as trained.",
                context.theme().text3);
}

void add_numbers(PanelContext& context, PartColumn& column, const WhatIfSubject& subject) {
  using Status = WhatIfSubject::Status;
  const Theme& theme = context.theme();
  std::string hint = "quick: this head, exact";
  if (subject.status == Status::NothingChosen)
    hint = subject.base && !subject.base->what_ifs.empty() ? "nothing more is changed" : "as trained";
  else if (subject.status == Status::Computing)
    hint = "computing";
  else if (subject.status == Status::Failed)
    hint = "failed";
  else if (subject.status == Status::Cancelled)
    hint = "cancelled";
  else if (subject.run && !subject.run->quick)
    hint = "complete run";
  column.heading("Before and after", hint);
  const Color after = subject.stale ? theme.off : theme.text;
  const auto line = [&](const std::string& name, const std::array<std::pair<std::string, TextStyle>, 3>& cells,
                        const TextStyle& style) {
    column.add(17.0f, [&context, name, cells, style](Rect area) {
      const float w = area.width();
      const float right[] = {area.x0 + 0.60f * w, area.x0 + 0.80f * w, area.x1};
      context.ui.label_at(area.x0, area.centre_y(), name, style, 0.43f * w);
      for (std::size_t i = 0; i < 3; ++i)
        context.ui.label_at(right[i], area.centre_y(), cells[i].first, cells[i].second, i == 0 ? 0.16f * w : 0.19f * w,
                            Painter::Align::Right);
    });
  };
  const TextStyle header = theme.hint();
  line("", {{{"before", header}, {"after", {Face::Sans, 11.0f, theme.accent}}, {"Δ", header}}}, header);
  for (const ChangedNumber& number : changed_numbers(subject)) {
    line(number.title,
         {{{number.before, {Face::Mono, 12.0f, theme.text2}},
           {number.after, {Face::Mono, 12.0f, after}},
           {number.delta, {Face::Mono, 12.0f, after}}}},
         theme.body(theme.text2));
    context.facts.set("what_if.before." + number.name, number.before_value);
    if (!subject.stale) context.facts.set("what_if.after." + number.name, number.after_value);
  }
}

// The what-ifs of a run of the changes that are chosen.
std::vector<std::string> chosen_what_ifs(const State& state, const WhatIfSubject& subject) {
  std::vector<std::string> all = subject.base->what_ifs;
  const WhatIfState& what_if = state.view.what_if;
  const std::string scope = what_if.scope == "head"    ? head_text(subject.head) + ":"
                            : what_if.scope == "layer" ? "L" + std::to_string(subject.head.layer) + ":"
                                                       : "";
  for (const std::string& change : what_if.changes) all.push_back(scope + change);
  return all;
}

std::string layers_text(std::int64_t first, std::int64_t last) {
  return first == last ? "layer " + std::to_string(first)
                       : "layers " + std::to_string(first) + "–" + std::to_string(last);
}

void add_complete(PanelContext& context, CompareCache& memory, PartColumn& column, const WhatIfSubject& subject) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  const RunSnapshot& data = *subject.base->data;
  const std::int64_t all =
      std::max<std::int64_t>(1, data.all_layers > 0 ? data.all_layers : static_cast<std::int64_t>(data.layers.size()));
  const std::int64_t first = state.view.what_if.scope == "model" ? 0 : std::min(subject.head.layer, all - 1);
  const std::int64_t recomputed = all - first;
  column.heading("Complete run", "from the changed layer on");
  const auto line = [&](const char* name, const std::string& text, Color color) {
    column.add(17.0f, [&context, name, text, color](Rect area) {
      const Theme& t = context.theme();
      const float indent = std::min(106.0f, 0.34f * area.width());
      context.ui.label_at(area.x0, area.centre_y(), name, t.body(t.text3), indent - 6.0f);
      context.ui.label_at(area.x0 + indent, area.centre_y(), text, t.body(color), area.width() - indent);
    });
  };
  line("recompute", layers_text(first, all - 1) + ", logits, loss", theme.text);
  line("reuse", first == 0 ? "the prompt; every layer changes" : layers_text(0, first - 1), theme.text);
  std::string estimate = "no run to estimate from";
  const double seconds = data.seconds > 0.0 ? data.seconds : subject.base->seconds;
  if (seconds > 0.0) estimate = seconds_text(seconds * static_cast<double>(recomputed) / static_cast<double>(all));
  const ModelEntry* model = state.find_model(subject.base->model);
  if (model && model->model && data.prompt) {
    const double bytes = memory.run_bytes(model->model, data.prompt, recomputed);
    if (bytes > 0.0) estimate += " · " + size_text(bytes) + " · one more run in memory";
  }
  line("estimate", estimate, theme.text);
  const std::vector<std::string> chosen = chosen_what_ifs(state, subject);
  std::string loss = "not known before the run";
  Color loss_color = theme.text3;
  for (const RunEntry& run : state.runs) {
    if (run.quick || run.base != subject.base->id || run.what_ifs != chosen || state.view.what_if.changes.empty())
      continue;
    if (run.status == RunStatus::Running || run.status == RunStatus::Waiting)
      loss = "computing" + (run.doing.empty() ? "" : ": " + run.doing);
    if (run.data && run.data->next_token_loss && data.next_token_loss && run.status == RunStatus::Done) {
      loss = signed_text(*run.data->next_token_loss - *data.next_token_loss, 4) + " nats per token";
      loss_color = theme.text;
    }
  }
  line("loss change", loss, loss_color);
  column.space(5.0f);
  column.add(30.0f, [&context, first, all](Rect area) {
    const std::string text = "Recompute " + layers_text(first, all - 1);
    const float width = std::min(area.width(), context.ui.button_width(text, true) + 12.0f);
    context.ui.button(Rect::sized(area.x0, area.y0 + 2.0f, width, 25.0f), text, "what-if.complete",
                      ButtonStyle::Primary, Icon::Play);
    const std::string key = context.commands.key_of(context.state, "what-if.complete");
    if (!key.empty() && area.width() - width - 10.0f >= context.ui.key_cap_width(key))
      context.ui.key_cap({area.x0 + width + 10.0f, area.y0 + 14.5f}, key);
  });
}

void add_runs(PanelContext& context, PartColumn& column, const WhatIfSubject& subject) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  std::vector<const RunEntry*> runs;
  for (const RunEntry& run : state.runs)
    if (!run.quick && run.base == subject.base->id) runs.push_back(&run);
  column.heading("Complete runs so far", runs.empty() ? "" : "loss change, nats per token");
  if (runs.empty())
    column.note("None. A complete run is kept, with its loss, and can be compared with the run it changes.",
                theme.text3);
  for (const RunEntry* run : runs) {
    std::string title, where;
    for (std::size_t i = subject.base->what_ifs.size(); i < run->what_ifs.size(); ++i) {
      const ScopedChange change = split_scope(run->what_ifs[i]);
      title += (title.empty() ? "" : ", ") + change_title(change.change);
      where = scope_title(change.scope);
    }
    std::string loss;
    Color color = theme.text;
    switch (run->status) {
      case RunStatus::Waiting: loss = "waiting", color = theme.text3; break;
      case RunStatus::Running: loss = fixed_text(100.0 * run->fraction, 0) + " %", color = theme.text3; break;
      case RunStatus::Failed: loss = "failed", color = theme.err; break;
      case RunStatus::Cancelled: loss = "cancelled", color = theme.warn; break;
      case RunStatus::Done:
        loss = run->data && run->data->next_token_loss && subject.base->data->next_token_loss
                   ? signed_text(*run->data->next_token_loss - *subject.base->data->next_token_loss, 4)
                   : "no loss";
    }
    const std::string command = format("compare %d %d", subject.base->id, run->id);
    column.add(measure::kTableRow, [&context, title, where, loss, color, command](Rect area) {
      const Theme& t = context.theme();
      const float w = area.width(), y = area.centre_y();
      const TextStyle link = t.body(t.accent);
      const float link_x = area.x1 - context.ui.width("compare", link);
      context.ui.label_at(area.x0, y, title, t.body(t.text2), 0.34f * w - 6.0f);
      context.ui.label_at(area.x0 + 0.34f * w, y, where, t.body(t.text3), 0.2f * w - 4.0f);
      context.ui.label_at(link_x - 14.0f, y, loss, {Face::Mono, 12.0f, color},
                          std::max(10.0f, link_x - 14.0f - area.x0 - 0.54f * w), Painter::Align::Right);
      context.ui.link({link_x, y + 4.0f}, "compare", command, link);
    });
  }
}

}  // namespace

void draw_change_panel(PanelContext& context, Rect frame) {
  CompareCache own;
  CompareCache& memory = context.compare_cache ? *context.compare_cache : own;
  const WhatIfSubject subject = what_if_subject(context, memory);
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const PanelScope scope(context, "change", frame);
  const Rect body = draw_panel_title(context, frame, "change", "Change", "", "");
  const std::string reset = "reset to as trained";
  const TextStyle link = theme.body(theme.accent);
  const float width = ui.width(reset, link);
  if (frame.width() > width + 110.0f)
    ui.link({frame.x1 - measure::kPadding - width, frame.y0 + 19.0f}, reset, "what-if.reset", link);
  PartColumn column(context, body);
  column.space(4.0f);
  if (!subject.blocked.empty() || !subject.layer_before) {
    column.note("Nothing can be changed here: " +
                    (subject.blocked.empty() ? std::string("this head is not computed yet") : subject.blocked) + ".",
                theme.warn);
    column.note(
        "A what-if runs the selected head again with another program: another normalizer, no sink, another λ, "
        "one of its maps, keys hidden.",
        theme.text3);
  } else {
    add_changes(context, memory, column, subject);
    add_numbers(context, column, subject);
    add_complete(context, memory, column, subject);
    add_runs(context, column, subject);
  }
  column.draw("parts");
}

const PanelInfo kChangePanel{.id = "change", .title = "Change", .least_width = 240.0f, .draw = draw_change_panel};

}  // namespace headroom
