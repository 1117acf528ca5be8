#include "app/panels/tokens/prediction_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/tokens/loss_plot.h"
#include "app/panels/tokens/pointed_attention.h"
#include "app/panels/tokens/tokens_experts.h"
#include "app/plot/token_text.h"
#include "app/session/command_parts.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kLine = 18.0f, kNextLine = 21.0f, kHeading = 26.0f, kBetween = 9.0f;
constexpr std::size_t kAttendedRows = 7, kLookingHeads = 4;

struct PredictionView {
  PanelContext& context;
  RunCache& memory;
  const RunSnapshot& run;
  const Predictions* predictions = nullptr;
  std::int64_t token = 0;
};

std::string token_text(const PredictionView& view, std::int32_t id) {
  const auto found = view.predictions->texts.find(id);
  return found == view.predictions->texts.end() ? "id " + std::to_string(id) : "“" + visible_token(found->second) + "”";
}

// The title of a part with a hint at its right; `area` loses the row.
void heading(PredictionView& view, Rect& area, const std::string& title, const std::string& hint) {
  const Theme& theme = view.context.theme();
  const Rect row = area.cut_top(kHeading);
  const float width = view.context.ui.width(title, theme.plot_title());
  view.context.ui.label_at(row.x0, row.centre_y(), title, theme.plot_title(), row.width());
  if (const float left = row.width() - width - 12.0f; left > 40.0f)
    view.context.ui.label_at(row.x1, row.centre_y(), hint, theme.hint(), left, Painter::Align::Right);
}

void rule(PredictionView& view, Rect& area, Rect frame) {
  area.cut_top(kBetween);
  view.context.painter().fill_rect({frame.x0, area.y0 - 1.0f, frame.x1, area.y0}, view.context.theme().line);
  area.cut_top(2.0f);
}

// "what came      “␣Lic”, rank 2"
void fact(PredictionView& view, Rect& area, const std::string& name, const std::string& value) {
  const Theme& theme = view.context.theme();
  const Rect row = area.cut_top(kLine);
  const float wide = std::min(view.context.ui.width(value, theme.value()), 0.7f * row.width());
  view.context.ui.label_at(row.x0, row.centre_y(), name, theme.body(theme.text2), row.width() - wide - 8.0f);
  view.context.ui.label_at(row.x1, row.centre_y(), value, theme.value(), wide + 1.0f, Painter::Align::Right);
}

// A row of the next tokens: number, text, bar, probability.
void draw_next(const PredictionView& view, Rect row, std::int64_t rank, const std::string& text, double probability,
               bool came) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  if (came) {
    painter.fill_rect({row.x0 - measure::kPadding, row.y0, row.x1 + measure::kPadding, row.y1}, theme.accent_soft);
    painter.fill_rect({row.x0 - measure::kPadding, row.y0, row.x0 - measure::kPadding + 3.0f, row.y1}, theme.accent);
  }
  const std::string number = grouped_text(rank), percent = probability_text(probability);
  const float number_width = std::max(14.0f, std::round(context.ui.width(number, theme.tick())) + 5.0f);
  painter.text_at(row.x0, row.centre_y(), number, theme.tick());
  painter.text_at(row.x1, row.centre_y(), percent, theme.value(), Painter::Align::Right);
  const float bar_width = std::clamp(0.34f * row.width(), 30.0f, 110.0f);
  const Rect bar = Rect::sized(row.x1 - 66.0f - bar_width, row.centre_y() - 4.0f, bar_width, 8.0f);
  painter.fill_rect(bar, theme.grid, 2.0f);
  const float filled = std::max(1.0f, static_cast<float>(probability) * bar.width());
  painter.fill_rect({bar.x0, bar.y0, bar.x0 + filled, bar.y1}, came ? theme.accent : theme.text2, 2.0f);
  context.ui.label_at(row.x0 + number_width, row.centre_y(), text, theme.value(),
                      bar.x0 - row.x0 - number_width - 6.0f);
}

void draw_next_tokens(PredictionView& view, Rect& area) {
  const Predictions& predictions = *view.predictions;
  const auto row = static_cast<std::size_t>(view.token);
  const auto kept = static_cast<std::size_t>(Predictions::kLikeliest);
  // With what came, the others and three facts.
  const float rows = std::floor((area.height() - kHeading - kNextLine - 4.0f * kLine - 3.0f) / kNextLine);
  const auto listed = std::min({kept, static_cast<std::size_t>(view.context.state.view.tokens.top),
                                static_cast<std::size_t>(std::max(1.0f, rows))});
  heading(view, area, "Next token",
          grouped_text(static_cast<std::int64_t>(listed)) + " likeliest of " + grouped_text(predictions.vocabulary));
  const bool known = row < predictions.loss.size();
  const std::vector<std::int32_t>& ids = view.run.prompt->ids;
  const std::int32_t came = known && row + 1 < ids.size() ? ids[row + 1] : -1;
  double rest = 1.0;
  std::int64_t shown = 0;
  bool came_is_listed = false;
  for (std::size_t k = 0; k < listed; ++k) {
    const std::int32_t id = predictions.token[row * kept + k];
    if (id < 0) break;
    const double probability = std::exp(predictions.log_probability[row * kept + k]);
    rest -= probability;
    ++shown;
    came_is_listed = came_is_listed || id == came;
    draw_next(view, area.cut_top(kNextLine), static_cast<std::int64_t>(k) + 1, token_text(view, id), probability,
              id == came);
  }
  if (shown == 0) {
    view.context.ui.label_at(area.x0, area.y0 + 9.0f, "the logits of this row are not numbers",
                             view.context.theme().hint(), area.width());
    area.cut_top(kLine);
  }
  if (known && !came_is_listed && shown > 0 && std::isfinite(predictions.loss[row])) {
    const double probability = std::exp(-predictions.loss[row]);
    rest -= probability;
    ++shown;
    draw_next(view, area.cut_top(kNextLine), predictions.rank[row], quoted_token(*view.run.prompt, view.token + 1),
              probability, true);
  }
  if (shown > 0 && predictions.vocabulary > shown) {
    const Theme& theme = view.context.theme();
    const Rect others = area.cut_top(kLine);
    view.context.ui.label_at(others.x0 + 14.0f, others.centre_y(),
                             grouped_text(predictions.vocabulary - shown) + " others", theme.hint(),
                             others.width() - 90.0f);
    view.context.painter().text_at(others.x1, others.centre_y(), probability_text(std::max(rest, 0.0)),
                                   {Face::Mono, 11.0f, theme.text3}, Painter::Align::Right);
  }
  area.cut_top(3.0f);
  if (known) {
    const std::int32_t rank = predictions.rank[row];
    fact(view, area, "what came",
         quoted_token(*view.run.prompt, view.token + 1) + (rank > 0 ? ", rank " + grouped_text(rank) : ""));
    fact(view, area, "its loss", fixed_text(predictions.loss[row], 4) + " nats");
  } else {
    fact(view, area, "what came", "the text ends here");
  }
  fact(view, area, "entropy of the prediction", fixed_text(predictions.entropy[row], 3) + " nats");
}

// Every loss of the text as a line of the strip, this token's in accent.
void draw_loss_strip(const PredictionView& view, Rect strip, std::size_t own) {
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  const std::vector<double>& losses = view.predictions->loss;
  const auto columns = static_cast<std::size_t>(std::max(1.0f, strip.width()));
  std::vector<int> counts(columns, 0);
  const auto column = [&](double loss) {
    return std::min(columns - 1,
                    static_cast<std::size_t>(std::clamp(loss / 12.0, 0.0, 1.0) * static_cast<double>(columns)));
  };
  for (const double loss : losses)
    if (std::isfinite(loss)) ++counts[column(loss)];
  painter.fill_rect(strip, theme.empty);
  for (std::size_t x = 0; x < columns; ++x) {
    if (counts[x] == 0) continue;
    const float alpha = 1.0f - std::pow(0.7f, static_cast<float>(counts[x]));
    const float left = strip.x0 + static_cast<float>(x);
    painter.fill_rect({left, strip.y0, left + 1.0f, strip.y1}, theme.text2.faded(alpha));
  }
  if (!std::isfinite(losses[own])) return;
  const float left = strip.x0 + static_cast<float>(column(losses[own]));
  painter.fill_rect({left - 1.0f, strip.y0 - 1.0f, left + 2.0f, strip.y1 + 1.0f}, theme.accent);
}

void draw_this_token(PredictionView& view, Rect& area) {
  const Predictions& predictions = *view.predictions;
  if (view.token == 0) {
    heading(view, area, "This token", "the first");
    view.context.ui.label_at(area.x0, area.y0 + 9.0f, "nothing stands before it: it has no loss",
                             view.context.theme().hint(), area.width());
    area.cut_top(kLine);
    return;
  }
  const auto own = static_cast<std::size_t>(view.token - 1);
  heading(view, area, "This token", "given tokens 0–" + grouped_text(view.token - 1));
  const Rect left = area;
  const bool strip = area.width() >= 240.0f && predictions.loss.size() > 1;
  Rect facts = area;
  if (strip) facts.x1 = area.x0 + std::round(0.6f * area.width());
  fact(view, facts, "loss", fixed_text(predictions.loss[own], 3) + " nats");
  fact(view, facts, "probability", probability_text(std::exp(-predictions.loss[own])));
  fact(view, facts, "rank",
       predictions.rank[own] > 0 ? grouped_text(predictions.rank[own]) + " of " + grouped_text(predictions.vocabulary)
                                 : "–");
  if (strip) {
    const float x0 = facts.x1 + 14.0f;
    draw_loss_strip(view, {x0, left.y0 + 3.0f, area.x1, left.y0 + 13.0f}, own);
    view.context.ui.label_at(area.x1, left.y0 + kLine + 9.0f,
                             "among " + grouped_text(static_cast<std::int64_t>(predictions.loss.size())) + " tokens",
                             view.context.theme().hint(), area.x1 - x0, Painter::Align::Right);
  }
  area.y0 = facts.y0;
}

std::string attention_text(float weight) {
  return weight < 0.0f ? "−" + fixed_text(-static_cast<double>(weight), 3) : fixed_text(static_cast<double>(weight), 3);
}

void draw_looking_heads(PredictionView& view, Rect& area, std::int64_t key) {
  PanelContext& context = view.context;
  const Theme& theme = context.theme();
  const KeyHeads looking = heads_at(context, view.memory, view.token, key);
  if (looking.heads.empty()) return;
  const Rect name = area.cut_top(kLine), row = area.cut_top(kLine);
  context.ui.label_at(name.x0, name.centre_y(),
                      "Heads that look at " + std::to_string(key) + " most" + (looking.complete ? ":" : " so far:"),
                      theme.hint(), name.width());
  float x = row.x0;
  for (std::size_t h = 0; h < std::min(kLookingHeads, looking.heads.size()); ++h) {
    const auto [head, weight] = looking.heads[h];
    const std::string title = head_text(head), value = (weight < 0.0 ? "−" : "") + cell_text(std::abs(weight));
    const TextStyle link{Face::Mono, 11.0f, theme.accent}, number{Face::Mono, 11.0f, theme.text3};
    const float wide = context.ui.width(title, link), narrow = context.ui.width(value, number);
    if (x + wide + narrow + 4.0f > row.x1) break;
    context.ui.link({x, row.centre_y() + 0.36f * 11.0f}, title, "select " + title, link);
    context.painter().text_at(x + wide + 4.0f, row.centre_y(), value, number);
    x += wide + narrow + 4.0f + 10.0f;
  }
  context.facts.set("tokens.looking", head_text(looking.heads.front().first));
}

void draw_attended(PredictionView& view, Rect& area, float room) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const PointedAttention attention = pointed_attention(context, view.memory, view.token);
  std::string hint = "row " + grouped_text(view.token);
  if (attention.weights && !attention.is_signed) hint += ", entropy " + fixed_text(attention.entropy(), 2);
  if (attention.done < attention.all)
    hint = grouped_text(attention.done) + " of " + grouped_text(attention.all) + " heads so far";
  heading(view, area, "Attention" + (attention.name.empty() ? "" : " of " + attention.name), hint);
  if (!attention.weights) {
    context.ui.label_at(area.x0, area.y0 + 9.0f, attention.reason, theme.hint(), area.width());
    area.cut_top(kLine);
    return;
  }
  // Below them what is left of the row, and the heads.
  const float left = std::floor((std::min(room - kHeading, area.height()) - 3.0f * kLine) / kLine);
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, left));
  const std::size_t rows = std::min({kAttendedRows, attention.strongest.size(), fitting});
  double rest = attention.sum();
  const float most = rows > 0 ? std::max(1e-6f, std::abs(attention.weight(attention.strongest.front()))) : 1.0f;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int64_t key = attention.strongest[i];
    const float weight = attention.weight(key);
    const Color color = !attention.is_signed ? theme.accent : weight < 0.0f ? theme.second : theme.first;
    rest -= static_cast<double>(weight);
    const Rect row = area.cut_top(kLine);
    const std::string place = std::to_string(key);
    const TextStyle index{Face::Mono, 11.0f, color};
    const float index_width = std::max(26.0f, context.ui.width(place, index));
    painter.text_at(row.x0 + index_width, row.centre_y(), place, index, Painter::Align::Right);
    painter.text_at(row.x1, row.centre_y(), attention_text(weight), theme.value(), Painter::Align::Right);
    const float bar_width = std::clamp(0.34f * row.width(), 30.0f, 110.0f);
    const Rect bar = Rect::sized(row.x1 - 58.0f - bar_width, row.centre_y() - 3.0f, bar_width, 6.0f);
    painter.fill_rect(bar, theme.grid, 2.0f);
    const float scale = most > 1.0f ? 1.0f / most : 1.0f;
    painter.fill_rect({bar.x0, bar.y0, bar.x0 + std::max(1.0f, std::abs(weight) * scale * bar.width()), bar.y1}, color,
                      2.0f);
    context.ui.label_at(row.x0 + index_width + 7.0f, row.centre_y(), quoted_token(*view.run.prompt, key), theme.value(),
                        bar.x0 - row.x0 - index_width - 13.0f);
  }
  const std::int64_t others = attention.visible - static_cast<std::int64_t>(rows);
  if (others > 0 && area.height() >= kLine) {
    const Rect row = area.cut_top(kLine);
    context.ui.label_at(row.x0, row.centre_y(), grouped_text(others) + (others == 1 ? " other key" : " other keys"),
                        theme.hint(), row.width() - 60.0f);
    painter.text_at(row.x1, row.centre_y(), attention_text(static_cast<float>(rest)), {Face::Mono, 11.0f, theme.text3},
                    Painter::Align::Right);
  }
  if (rows > 0 && area.height() >= 2.0f * kLine) draw_looking_heads(view, area, attention.strongest.front());
}

void describe(const PredictionView& view) {
  Facts& facts = view.context.facts;
  const Predictions& predictions = *view.predictions;
  const auto row = static_cast<std::size_t>(view.token);
  const auto kept = static_cast<std::size_t>(Predictions::kLikeliest);
  facts.set("tokens.next", static_cast<double>(predictions.token[row * kept]));
  facts.set("tokens.next_probability", std::exp(predictions.log_probability[row * kept]));
  facts.set("tokens.entropy", predictions.entropy[row]);
  facts.set("tokens.loss", row > 0 ? predictions.loss[row - 1] : std::nan(""));
  facts.set("tokens.rank", row > 0 ? static_cast<double>(predictions.rank[row - 1]) : -1.0);
}

}  // namespace

std::string probability_text(double probability) {
  if (std::isnan(probability)) return "–";
  if (probability > 0.9995) return "> 99.9 %";
  if (probability >= 0.09995) return fixed_text(100.0 * probability, 1) + " %";
  if (probability >= 5e-5) return fixed_text(100.0 * probability, 2) + " %";
  return "< 0.01 %";
}

void draw_prediction_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "prediction", frame);
  const RunSnapshot* run = memory.run();
  const std::optional<std::int64_t> pointed = pointed_token(context.state);
  const bool there = run != nullptr && run->prompt && pointed;
  const std::string name = there ? std::to_string(*pointed) + "  " + quoted_token(*run->prompt, *pointed) : "";
  const Rect body = draw_panel_title(context, frame, "head", "Prediction", name, "");
  Rect area = body.inset(measure::kPadding, 4.0f);
  if (!there) {
    draw_note(context, area, "Nothing has run yet.", "What the model expects after a token appears here after a run.");
  } else {
    PredictionView view{context, memory, *run, run->predictions.get(), *pointed};
    const bool predicted = view.predictions != nullptr && view.token < view.predictions->rows();
    if (predicted) {
      describe(view);
      draw_next_tokens(view, area);
      if (area.height() < kHeading + 3.0f * kLine + kBetween) area.y0 = area.y1;
      if (!area.empty()) {
        rule(view, area, frame);
        draw_this_token(view, area);
      }
      if (area.height() < kHeading + 3.0f * kLine + kBetween) area.y0 = area.y1;
      if (!area.empty()) rule(view, area, frame);
    } else {
      const std::string reason = needs_predictions(context.state);
      heading(view, area, "Next token", "");
      area.y0 += context.ui.paragraph({area.x0, area.y0}, reason.empty() ? "this token is of another sequence" : reason,
                                      context.theme().hint(), area.width(), 16.0f);
      rule(view, area, frame);
    }
    constexpr float kPlot = 150.0f;
    const bool plot = predicted && area.height() > kHeading + 4.0f * kLine + kPlot;
    if (area.height() >= kHeading + 2.0f * kLine) draw_attended(view, area, area.height() - (plot ? kPlot : 0.0f));
    if (plot) {
      rule(view, area, frame);
      heading(view, area, "Loss along the text", "each token · line: median of 33");
      if (area.height() > 60.0f) draw_loss_along(context, memory, *view.predictions, view.token, area);
    }
  }
}

const PanelInfo kPredictionPanel{
    .id = "prediction", .title = "Prediction", .least_width = 240.0f, .draw = draw_prediction_panel};

}  // namespace headroom
