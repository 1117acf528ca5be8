// The text of a run with each token on the colour of a quantity that has a value for every position.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/page_bar.h"
#include "app/figures/running_text.h"
#include "app/plot/quantiles.h"
#include "core/base/edit_distance.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/measure/quantity.h"

namespace headroom {
namespace {

constexpr float kTextLine = 1.57f, kTextBox = 1.30f,
                kTextBaseline = 0.95f;                               // in sizes; the baseline from the box's top
constexpr float kToText = 1.6f, kBarLength = 24.0f, kBarGap = 4.0f;  // millimetres
constexpr double kReadableMarks = 0.5;                               // luminance from which marks may be grey

struct TokenQuantity {
  std::string_view name;   // in /rows or /keys
  std::string_view title;  // in markup
  ScaleKind scale = ScaleKind::Linear;
  std::optional<Range> natural = {};
  bool signs = false, by_component = false, of_keys = false, of_block = false, lambda = false;
};

constexpr auto kLog = ScaleKind::Log10;
constexpr std::optional<Range> kShare = Range{0.0, 1.0};
constexpr std::array kTokenQuantities = {
    TokenQuantity{"context_rms_relative", "context RMS of the query, *ρ*_{*i*}", kLog},
    TokenQuantity{"context_rms", "context RMS of the query, RMS_{*i*}", kLog},
    TokenQuantity{"value_rms_mean", "RMS of the visible values, *r̄*_{*i*}", kLog},
    TokenQuantity{"uncorrelated_rms", "context RMS of uncorrelated values, *q*_{*i*}", kLog},
    TokenQuantity{"weight_l2", "norm of the net weights, *e*_{*i*}", kLog},
    TokenQuantity{"weight_l1", "absolute mass of the net weights of the query"},
    TokenQuantity{"weight_sum", "sum of the net weights of the query", ScaleKind::Linear, {}, true},
    TokenQuantity{"negative_mass", "negative mass of the net weights of the query"},
    TokenQuantity{"implicit_sink_mass", "mass that the query gives to nothing", ScaleKind::Linear, kShare},
    TokenQuantity{"lambda", "*λ*_{*i*}", ScaleKind::Linear, kShare, false, false, false, false, true},
    TokenQuantity{"gate_mean", "output gate of the query", ScaleKind::Linear, kShare},
    TokenQuantity{"norm_gain", "gain of the head norm", kLog},
    TokenQuantity{"entropy", "attention entropy of the query, nats", ScaleKind::Linear, {}, false, true},
    TokenQuantity{"first_key_weight", "attention of the query to key 0", ScaleKind::Linear, kShare, false, true},
    TokenQuantity{"weight_max", "largest weight of the query", ScaleKind::Linear, kShare, false, true},
    TokenQuantity{"weight_l2_component", "norm of the weights of the query", kLog, {}, false, true},
    TokenQuantity{"logit_max", "largest logit of the query", ScaleKind::Linear, {}, false, true},
    TokenQuantity{"logit_min", "smallest logit of the query", ScaleKind::Linear, {}, false, true},
    TokenQuantity{"lse", "log-sum-exp of the logits, nats", ScaleKind::Linear, {}, false, true},
    TokenQuantity{"rounds_to_one", "weights that round to the largest", kLog, {}, false, true},
    TokenQuantity{"attention_received", "attention that the key receives", kLog, {}, false, true, true},
    TokenQuantity{
        "attention_received_net", "net attention that the key receives", ScaleKind::Symlog, {}, true, false, true},
    TokenQuantity{"key_norm", "norm of the key", ScaleKind::Linear, {}, false, false, true, true},
    TokenQuantity{"value_norm", "norm of the value", kLog, {}, false, false, true, true},
};

struct TokenChoice {
  const TokenQuantity* quantity = nullptr;
  std::size_t component = 0;

  [[nodiscard]] std::string path() const {
    return std::string(quantity->of_keys ? "keys/" : "rows/") + std::string(quantity->name);
  }
  [[nodiscard]] std::string text() const { return path() + (component == 1 ? "[second]" : ""); }
};

Result<TokenChoice> token_choice(std::string_view text) {
  std::string_view name = text;
  for (const std::string_view group : {"rows/", "keys/"})
    if (name.starts_with(group)) name.remove_prefix(group.size());
  TokenChoice choice;
  std::string_view element;
  if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos && name.ends_with(']')) {
    element = name.substr(bracket + 1, name.size() - bracket - 2);
    name = name.substr(0, bracket);
  }
  const TokenQuantity* nearest = kTokenQuantities.data();
  for (const TokenQuantity& one : kTokenQuantities) {
    if (one.name == name) choice.quantity = &one;
    if (edit_distance(std::string(name), std::string(one.name)) <
        edit_distance(std::string(name), std::string(nearest->name)))
      nearest = &one;
  }
  if (choice.quantity == nullptr) {
    Error error(ErrorCode::InvalidArgument, "quantity \"" + std::string(text) +
                                                "\": not in /rows or /keys; nearest: " + std::string(nearest->name));
    std::string names;
    for (const TokenQuantity& one : kTokenQuantities) names += (names.empty() ? "" : ", ") + std::string(one.name);
    return error.advise("those of a text are " + names);
  }
  choice.component = element == "second" || element == "1" ? 1 : 0;
  const bool known = element.empty() || element == "first" || element == "0" || choice.component == 1;
  if (!known || (!element.empty() && !choice.quantity->by_component))
    return Error(ErrorCode::InvalidArgument,
                 "quantity \"" + std::string(text) + "\": " +
                     (choice.quantity->by_component ? "its maps are first and second" : "it has one value a token"));
  return choice;
}

Result<TokenChoice> chosen_quantity(const FigureChoice& choice) {
  if (choice.own_quantities.size() > 1) return Error(ErrorCode::InvalidArgument, "tokens are coloured by one quantity");
  return token_choice(choice.own_quantities.empty() ? "context_rms_relative" : choice.own_quantities.front());
}

// One number a position of the layer; empty where the file has none of this head.
std::vector<double> token_values(const LayerSnapshot& layer, std::int64_t head, const TokenChoice& of) {
  const auto count = static_cast<std::size_t>(of.quantity->of_keys ? layer.keys : layer.rows);
  std::span<const float> values;
  if (of.quantity->of_block) {
    const std::int64_t index = layer.head_index(head);
    if (index < 0 || static_cast<std::size_t>(index) >= layer.programs.size()) return {};
    const HeadProgram::Map& map = layer.programs[static_cast<std::size_t>(index)].first;
    const bool key = of.quantity->name == "key_norm";
    const std::int64_t block = key ? map.key_block : map.value_blocks.empty() ? -1 : map.value_blocks.front();
    const auto& blocks = key ? layer.key_norms : layer.value_norms;
    if (block >= 0 && static_cast<std::size_t>(block) < blocks.size()) values = blocks[static_cast<std::size_t>(block)];
  } else {
    values = layer.row_values(of.path(), head);
    const std::size_t half = values.size() / 2;
    if (of.quantity->by_component) values = values.subspan(of.component * half, half);
  }
  if (values.size() < count) return {};
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

// Where the text is given as ids, these.
std::vector<std::string> token_texts(const RunSnapshot& run, const LayerSnapshot& layer, bool of_keys,
                                     std::int64_t count) {
  TokenAxis axis = of_keys ? layer.axes.keys : layer.axes.rows;
  if (layer.call_name.empty()) axis = TokenAxis::Tokens;
  std::vector<std::string> texts;
  bool any = false;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string* text = axis_text(run, axis, i);
    texts.push_back(text == nullptr ? std::string() : *text);
    any = any || !texts.back().empty();
  }
  if (any) return texts;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t id = -1;
    if (run.prompt && axis != TokenAxis::None) {
      const std::vector<std::int32_t>& ids = axis == TokenAxis::Tokens ? run.prompt->ids : run.prompt->key_ids;
      if (static_cast<std::size_t>(i) < ids.size()) id = ids[static_cast<std::size_t>(i)];
    }
    texts[static_cast<std::size_t>(i)] = " " + std::to_string(id < 0 ? i : id);
  }
  return texts;
}

// From the 1 % to the 99 % quantile, outwards to one digit.
RobustRange rounded_log_range(const std::vector<double>& values) {
  std::vector<double> positive;
  std::ranges::copy_if(values, std::back_inserter(positive), [](double v) { return v > 0.0 && std::isfinite(v); });
  const auto rounded = [](double value, bool up) {
    const double unit = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
    return (up ? std::ceil(value / unit - 1e-6) : std::floor(value / unit + 1e-6)) * unit;
  };
  RobustRange range{rounded(quantile(positive, 0.01), false), rounded(quantile(positive, 0.99), true)};
  if (!(range.high > range.low)) range.high = 10.0 * range.low;
  return range;
}

PageBar token_bar(const TokenQuantity& quantity, std::span<const double> values, const FigureChoice& choice) {
  PageBar bar;
  ColorScale& scale = bar.scale;
  const bool positive = std::ranges::any_of(values, [](double v) { return v > 0.0 && std::isfinite(v); });
  scale.kind = choice.scale.value_or(quantity.scale == kLog && !positive ? ScaleKind::Linear : quantity.scale);
  const std::vector<double> all(values.begin(), values.end());
  RobustRange range;
  if (quantity.signs || scale.kind == ScaleKind::Symlog)
    range = robust_signed_range(all);
  else if (scale.kind == kLog)
    range = positive ? rounded_log_range(all) : robust_log_range(all);
  else if (quantity.natural)
    range = {quantity.natural->low, quantity.natural->high};
  else
    range = robust_range(all);
  if (quantity.natural && scale.kind == ScaleKind::Linear)
    for (const double v : values)  // λ and masses may leave it
      if (std::isfinite(v)) range.low = std::min(range.low, v), range.high = std::max(range.high, v);
  if (choice.low) range.low = *choice.low;
  if (choice.high) range.high = *choice.high;
  if (scale.kind == ScaleKind::Log10 && range.low <= 0.0) scale.kind = ScaleKind::Linear;
  if (scale.kind == ScaleKind::Symlog) range.low = -range.high;
  scale.map = quantity.signs    ? diverging_map(choice.signed_colours, false)
              : quantity.lambda ? ColorMapId::LambdaLight
                                : sequential_map(choice.colours, false);
  scale.low = static_cast<float>(range.low), scale.high = static_cast<float>(range.high);
  scale.threshold = 0.01f * scale.high;
  for (const double v : values) {
    bar.clips_low = bar.clips_low || v < range.low * (range.low > 0.0 ? 1.0 - 1e-6 : 1.0);
    bar.clips_high = bar.clips_high || v > range.high * (range.high > 0.0 ? 1.0 + 1e-6 : 1.0);
  }
  return bar;
}

class TokensPanel final : public FigurePanel {
 public:
  HeadRef head;
  TokenChoice of;
  std::int64_t first = 0;           // position of the first token that is drawn
  std::vector<std::string> tokens;  // bytes
  std::vector<double> values;
  PageBar bar;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    PanelRoom room;
    room.left = page.measure.width(grouped_text(last_index()), Face::Sans, page.style.size()) + page.style.mm(kToText);
    room.top = bar_in_title(page, inner.x + room.left) ? 0.0f : page.style.mm(4.6f);
    return room;
  }
  Vec2 least_inner(const Page& page) const override { return {page.style.mm(30.0f), 0.0f}; }
  float needed_height(const Page& page, float width) const override {
    const float size = page.style.title_size();
    const auto lines = static_cast<float>(lines_of(page, width).size());
    return ((lines - 1.0f) * kTextLine + kTextBox) * size + page.style.pt(1.0f);
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const float size = style.title_size();
    const std::vector<TextLine> lines = lines_of(page, inner.width());
    painter.begin_plot({id, kind, {}, {}});
    painter.begin_series({of.text(), head_text(head), "tokens"});
    for_each_piece(lines, inner, size, [&](const TextPiece& piece, const Rect& box) {
      const double v = values[piece.token];
      if (std::isfinite(v))
        painter.fill_rect(box, scale_color(bar.scale, static_cast<float>(v)));
      else
        draw_hatch(painter, box, page);
    });
    painter.end_series();
    painter.begin_series({of.text(), head_text(head), "texts"});
    for_each_piece(lines, inner, size,
                   [&](const TextPiece& piece, const Rect& box) { draw_piece(painter, piece, box, size); });
    painter.end_series();
    painter.end_plot();
    const float digits = style.size();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string index = grouped_text(first + static_cast<std::int64_t>(lines[i].front().token));
      const float baseline = inner.y0 + (static_cast<float>(i) * kTextLine + kTextBaseline) * size;
      painter.text({inner.x0 - style.mm(kToText) - page.measure.width(index, Face::Sans, digits), baseline}, index,
                   style.text(ink::kFaintNote));
    }
    const bool in_title = bar_in_title(page, inner.width() + inner.x0 - frame.outer.x0 - style.mm(0.8f));
    const float head_width =
        right.empty() || !in_title ? 0.0f : rich_width(page.measure, right, style.head()) + style.mm(kBarGap);
    draw_inline_bar(painter, {inner.x1 - head_width, frame.outer.y0 + style.mm(in_title ? 3.1f : 7.7f)},
                    style.mm(kBarLength), bar, page);
  }

  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      FigureMark mark;
      mark.panel = id, mark.series = of.path(), mark.kind = std::isfinite(values[i]) ? "token" : "hatched";
      mark.layer = head.layer, mark.head = head.head;
      if (of.quantity->by_component) mark.component = static_cast<std::int64_t>(of.component);
      (of.quantity->of_keys ? mark.key : mark.row) = first + static_cast<std::int64_t>(i);
      if (std::isfinite(values[i])) mark.y = values[i];
      data.add(std::move(mark));
    }
  }

  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] std::int64_t last_index() const { return first + static_cast<std::int64_t>(tokens.size()) - 1; }
  [[nodiscard]] std::vector<TextLine> lines_of(const Page& page, float width) const {
    return break_lines(tokens, width, page.measure, Face::Sans, page.style.title_size());
  }
  // `width`: from where the title begins to the right edge.
  [[nodiscard]] bool bar_in_title(const Page& page, float width) const {
    const PageStyle& style = page.style;
    const float names = rich_width(page.measure, title, style.title()) + rich_width(page.measure, right, style.head()) +
                        (letter.empty() ? 0.0f : style.mm(3.1f));
    return names + inline_bar_width(style.mm(kBarLength), bar, page) + style.mm(2.0f * kBarGap) <= width;
  }

  template <typename Draw>
  static void for_each_piece(const std::vector<TextLine>& lines, const Rect& inner, float size, const Draw& draw_one) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const float top = inner.y0 + static_cast<float>(i) * kTextLine * size;
      float x = inner.x0;
      for (const TextPiece& piece : lines[i]) {
        draw_one(piece, Rect::sized(x, top, piece.width, kTextBox * size));
        x += piece.width;
      }
    }
  }

  void draw_piece(Painter& painter, const TextPiece& piece, const Rect& box, float size) const {
    const double v = values[piece.token];
    const Color ground = std::isfinite(v) ? scale_color(bar.scale, static_cast<float>(v)) : ink::kWhite;
    const Color text = text_on(ground);
    const Color mark = relative_luminance(ground) > kReadableMarks ? ink::kFaintNote : text;
    float x = box.x0 - piece.lead;
    for (const TokenSegment& segment : piece.segments) {
      const Vec2 baseline{x, box.y0 + kTextBaseline * size};
      const TextStyle own{Face::Sans, size, segment.mark ? mark : text};
      const float width = painter.measure().width(segment.text, Face::Sans, size);
      painter.text(baseline, segment.text, own);
      x += width;
    }
  }
};

// The head whose colours differ the most.
HeadRef usual_token_head(const RunSnapshot& run, const TokenChoice& of) {
  HeadRef best{run.layers.front(), run.heads.front()};
  double widest = -1.0;
  for (const std::int64_t layer : run.layers)
    for (const std::int64_t head : run.heads) {
      if (run.layer(layer) == nullptr) continue;
      std::vector<double> values = token_values(*run.layer(layer), head, of);
      if (of.quantity->scale == kLog)
        for (double& v : values) v = v > 0.0 ? std::log(v) : kNaN;
      const double spread = quantile(values, 0.9) - quantile(values, 0.1);
      if (spread > widest) widest = spread, best = {layer, head};
    }
  return best;
}

std::string tokens_sentence(const TokensPanel& panel, const RunSnapshot& run, bool ids) {
  const std::string path = panel.of.path();
  std::string text =
      "The text; the colour of each token: " + std::string(panel.of.quantity->title) + ", in " + head_text(panel.head);
  if (panel.of.quantity->by_component && panel.of.component == 1) text += ", second map";
  if (const Quantity* known = find_quantity(path.substr(0, 4), panel.of.quantity->name); known != nullptr)
    text += " (" + definition_markup(definition_of(*known)) + ")";
  const std::int64_t last = panel.first + std::ssize(panel.tokens) - 1;
  text += ". Tokens " + grouped_text(panel.first) + " to " + grouped_text(last) + " of " + grouped_text(run.length) +
          "; at the left the first of each line; ↵ line break, → tab, ␣×n so many blanks.";
  if (ids) text += " The prompt was given as ids, which are shown.";
  const auto lost = std::ranges::count_if(panel.values, [](double v) { return !std::isfinite(v); });
  if (lost > 0) text += " Hatched: " + grouped_text(lost) + " tokens without a finite value.";
  return text;
}

Result<std::unique_ptr<TokensPanel>> tokens_panel(const FigureRun& file, const HeadRef& head, const TokenChoice& of,
                                                  const FigureChoice& choice) {
  const RunSnapshot& run = *file.run;
  const LayerSnapshot* layer = run.layer(head.layer);
  std::vector<double> all;
  if (layer != nullptr) all = token_values(*layer, head.head, of);
  if (all.empty())
    return lacks(file, "tokens", "/" + of.path(), "written with --only summary",
                 "run analyze again without --only summary");
  const auto count = static_cast<std::int64_t>(all.size());
  const std::array<std::int64_t, 2> range = choice.rows.value_or(std::array<std::int64_t, 2>{0, count});
  if (range[0] < 0 || range[1] > count)
    return Error(ErrorCode::InvalidArgument, "--rows " + std::to_string(range[0]) + ":" + std::to_string(range[1]) +
                                                 ": " + file.name() + " has tokens 0–" + std::to_string(count - 1));
  auto panel = std::make_unique<TokensPanel>();
  panel->kind = "tokens", panel->name = head_text(head), panel->head = head, panel->of = of, panel->first = range[0];
  const std::vector<std::string> texts = token_texts(run, *layer, of.quantity->of_keys, count);
  panel->tokens.assign(texts.begin() + range[0], texts.begin() + range[1]);
  panel->values.assign(all.begin() + range[0], all.begin() + range[1]);
  if (std::ranges::none_of(panel->values, [](double v) { return std::isfinite(v); }))
    return Error(ErrorCode::Unsupported,
                 "tokens: " + head_text(head) + " of " + file.name() + " has no " + of.text() + " for these tokens");
  panel->bar = token_bar(*of.quantity, panel->values, choice);
  HEADROOM_TRY_VOID(check_range(choice, panel->bar.scale));
  std::string title(of.quantity->title);
  if (of.quantity->by_component && of.component == 1) title += ", second map";
  if (panel->bar.scale.kind == kLog) title += " (log)";
  panel->title = rich(title);
  name_head(*panel, run, head, choice);
  const bool ids = run.prompt == nullptr || std::ranges::all_of(run.prompt->texts, &std::string::empty);
  panel->sentence = tokens_sentence(*panel, run, ids);
  return panel;
}

}  // namespace

Result<void> check_tokens(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const TokenChoice of, chosen_quantity(choice));
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, {usual_token_head(*run.run, of)}));
  for (const HeadRef& head : heads) {
    const LayerSnapshot* layer = run.run->layer(head.layer);
    if (layer == nullptr || token_values(*layer, head.head, of).empty())
      return lacks(run, "tokens", "/" + of.path(), "written with --only summary",
                   "run analyze again without --only summary");
  }
  return {};
}

Result<Figure> make_tokens(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& run = runs.front();
  HEADROOM_TRY(const TokenChoice of, chosen_quantity(choice));
  HEADROOM_TRY_VOID(check_tokens(run, choice));
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, {usual_token_head(*run.run, of)}));
  Figure figure;
  if (choice.heads.empty() && run.run->layers.size() * run.run->heads.size() > 1)
    figure.notes.push_back(run.name() + ": " + head_text(heads.front()) +
                           " has the widest spread of values; --head chooses another");
  for (const HeadRef& head : heads) {
    HEADROOM_TRY(std::unique_ptr<TokensPanel> panel, tokens_panel(run, head, of, choice));
    figure.rows.push_back({figure.panels.size()});
    figure.panels.push_back(std::move(panel));
  }
  figure.width_mm = choice.width_mm.value_or(174.0);
  figure.height_mm = choice.height_mm.value_or(0.0);  // of the text
  return figure;
}

}  // namespace headroom
