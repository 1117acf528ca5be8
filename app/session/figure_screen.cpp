#include "app/session/figure_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "app/figures/figure.h"
#include "app/figures/figure_kinds.h"
#include "app/session/enum_words.h"
#include "app/session/saving.h"
#include "core/base/number_text.h"
#include "core/base/parse_number.h"
#include "core/base/shell_word.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

constexpr double kUsualThreshold = 0.3;

struct TextOption {
  const char* name;
  std::string FigureOptions::* value;
};
constexpr std::array kTextOptions = {
    TextOption{"head", &FigureOptions::heads},       TextOption{"layers", &FigureOptions::layers},
    TextOption{"heads", &FigureOptions::only_heads}, TextOption{"rows", &FigureOptions::rows},
    TextOption{"keys", &FigureOptions::keys},        TextOption{"cell", &FigureOptions::cell},
    TextOption{"range", &FigureOptions::range},      TextOption{"scale", &FigureOptions::scale},
    TextOption{"width", &FigureOptions::width},      TextOption{"height", &FigureOptions::height},
    TextOption{"theme", &FigureOptions::theme},      TextOption{"colour-map", &FigureOptions::colour_map},
    TextOption{"points", &FigureOptions::points}};

bool any_of(std::string_view kind, std::initializer_list<std::string_view> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

std::string pair_text(double first, double last, char separator) {
  return std::to_string(static_cast<std::int64_t>(std::floor(first))) + separator +
         std::to_string(static_cast<std::int64_t>(std::ceil(last)));
}

const char* scale_word(ScaleKind scale) { return scale == ScaleKind::Log10 ? "log" : word_of(scale); }

// As a head's number that files have; empty: it is of the window alone.
std::string file_quantity(const std::string& quantity) {
  return quantity != kRowDistance && parse_quantity(quantity) ? quantity : "";
}

void add_map_parts(const State& state, std::vector<ScreenPart>& parts) {
  const MapView& map = state.view.map;
  if (!map.window.whole()) {
    parts.push_back({"rows", pair_text(map.window.query0, map.window.query1, ':')});
    parts.push_back({"keys", pair_text(map.window.key0, map.window.key1, ':')});
  }
  const Selection& selection = state.view.selection;
  const LayerSnapshot* layer = state.selected_layer();
  const std::int64_t index = layer && selection.head ? layer->head_index(selection.head->head) : -1;
  // A lens shows single weights, and a figure of two maps and what they leave has no room for one.
  const bool pooled = layer != nullptr && layer->maps == nullptr;
  const bool two = index >= 0 && static_cast<std::size_t>(index) < layer->programs.size() &&
                   layer->programs[static_cast<std::size_t>(index)].has_second();
  if (selection.query && selection.key && !two && !pooled)
    parts.push_back({"cell", std::to_string(*selection.query) + "," + std::to_string(*selection.key)});
  if (map.range) parts.push_back({"range", full_text(map.range->first) + "," + full_text(map.range->second)});
  if (map.scale) parts.push_back({"scale", scale_word(*map.scale)});
}

std::vector<std::string> names_of_options() {
  std::vector<std::string> names;
  for (const TextOption& option : kTextOptions) names.emplace_back(option.name);
  names.insert(names.end(), {"quantity", "epsilon", "top", "names", "letters"});
  return names;
}

}  // namespace

Result<std::string> figure_of_panel(const State& state, std::string_view panel) {
  const auto none = [&](const char* why) { return Error(ErrorCode::Unsupported, why); };
  if (!any_of(panel, {"heads", "map", "head", "tokens"})) {
    HEADROOM_TRY(const FigureKind* const kind, find_figure_kind(panel));
    return std::string(kind->name);
  }
  if (panel == "heads") {
    switch (state.view.centre) {
      case CentreView::Circuit: return std::string("circuits");
      case CentreView::Compare: return std::string("compare");
      case CentreView::Training: return std::string("training");
      case CentreView::Importance: return std::string("importance");
      case CentreView::Residual: return none("the residual stream is no figure's kind yet");
      case CentreView::Map:
      case CentreView::WhatIf:
      case CentreView::Tokens: break;
    }
    if (state.view.heads.view == HeadsView::Scatter) return std::string("scatter");
    if (state.view.heads.view == HeadsView::Maps) return std::string("grid");
    return std::string("atlas");
  }
  const bool map = state.view.centre == CentreView::Map, beside = map && shown_beside(state.view);
  if (panel == "tokens") {
    if (state.view.centre == CentreView::Training) return std::string("training");
    return std::string(beside && !state.view.heads.lasso.empty() ? "grid" : "tokens");
  }
  if (panel == "head" && map) {
    if (beside) return std::string("rms");
    const HeadsView heads = state.view.heads.view;
    return std::string(heads == HeadsView::Scatter || state.view.head.across_model ? "rms-layers" : "rms");
  }
  switch (state.view.centre) {
    case CentreView::Compare: return std::string("compare");
    case CentreView::Training: return std::string("training");
    case CentreView::Tokens: return std::string("tokens");
    case CentreView::Map: return std::string("map");
    case CentreView::Importance: return std::string("importance");
    case CentreView::Circuit: return std::string("circuits");
    case CentreView::WhatIf:
    case CentreView::Residual: break;
  }
  return none("this view is no figure's kind yet");
}

std::string figure_in_focus(const State& state) {
  for (const std::string& panel : {state.layout.focus, state.layout.maximised, std::string("map")})
    if (const Result<std::string> kind =
            panel.empty() ? Result<std::string>(std::string()) : figure_of_panel(state, panel);
        kind && !kind->empty())
      return *kind;
  return "rms";
}

std::vector<ScreenPart> screen_parts(const State& state, std::string_view kind) {
  std::vector<ScreenPart> parts;
  const auto& head = state.view.selection.head;
  if (head && any_of(kind, {"map", "rms", "atlas", "sinks", "scatter", "logits", "decomposition", "tokens", "norm-gain",
                            "grid", "importance", "circuits", "lambda", "lambda-text"}))
    parts.push_back({"head", head_text(*head)});
  if (kind == "map") add_map_parts(state, parts);
  const HeadsState& heads = state.view.heads;
  if (kind == "atlas")
    if (const std::string quantity = file_quantity(heads.quantity); !quantity.empty())
      parts.push_back({"quantity", quantity});
  if (kind == "scatter") {
    const std::string x = file_quantity(heads.x), y = file_quantity(heads.y), colour = file_quantity(heads.colour);
    if (!x.empty() && !y.empty()) parts.push_back({"quantity", x + "," + y + (colour.empty() ? "" : "," + colour)});
  }
  if (any_of(kind, {"atlas", "sinks", "scatter"}) && heads.threshold != kUsualThreshold)
    parts.push_back({"epsilon", full_text(heads.threshold)});
  const Settings& settings = state.settings;
  if (any_of(kind, {"map", "atlas", "tokens"})) {
    if (settings.colours != Colours::Headroom)
      parts.push_back({"colour-map", word_of(settings.colours)});
    else if (settings.signed_colours != SignedColours::Headroom)
      parts.push_back({"colour-map", word_of(settings.signed_colours)});
  }
  return parts;
}

FigureLook asked_look(const State& state, const std::string& kind) {
  const FigureLook chosen = state.figure.look(kind);
  FigureLook look = chosen;
  for (const ScreenPart& part : screen_parts(state, kind)) {
    if (chosen.left_out.contains(part.name)) continue;
    FigureLook shown = look;
    if (!set_figure_option(shown, kind, part.name, part.value)) continue;
    // What was chosen by name comes before what is on the screen.
    FigureLook without = chosen;
    if (set_figure_option(without, kind, part.name, "") && without == chosen) look = std::move(shown);
  }
  return look;
}

std::string figure_command_line(const State& state) {
  const std::string& command = state.figure.command;
  return command.empty() ? ""
                         : "headroom " + command + " -o " + shell_word(suggested_name(state, SaveKind::Figure, ""));
}

std::vector<ScreenPart> chosen_options(const FigureLook& look) {
  std::vector<ScreenPart> chosen;
  for (std::string& word : option_words(look.options))
    if (word.starts_with("--"))
      chosen.push_back({word.substr(2), "on"});
    else
      chosen.back().value = std::move(word);
  if (look.letters != FigureLook().letters) chosen.push_back({"letters", look.letters});
  return chosen;
}

bool names_place(std::string_view option) {
  return any_of(option, {"head", "layers", "heads", "rows", "keys", "cell"});
}

Result<void> set_figure_option(FigureLook& look, const std::string& kind, std::string_view name,
                               const std::string& value) {
  const std::string text = value == "auto" && name != "points" ? "" : value;
  const auto refused = [&](const std::string& expected) {
    return Error(ErrorCode::InvalidArgument, "figure: " + std::string(name) + " \"" + value + "\" cannot be read")
        .wanted(expected, value);
  };
  FigureLook changed = look;
  FigureOptions& options = changed.options;
  const auto found = std::ranges::find(kTextOptions, name, &TextOption::name);
  if (found != kTextOptions.end()) {
    options.*(found->value) = text;
    if (name == "theme" && text.empty()) options.theme = "paper";
    if (name == "theme" && options.theme != "paper" && options.theme != "slides") return refused("paper or slides");
    if (name == "scale" && !text.empty() && !any_of(text, {"linear", "log", "symlog"}))
      return refused("linear, log or symlog");
    if (name == "points" && !text.empty() && !any_of(text, {"auto", "vector", "image"}))
      return refused("auto, vector or image");
  } else if (name == "quantity") {
    options.quantities.clear();
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find(',', from), text.size());
      options.quantities.push_back(text.substr(from, end - from));
      from = end + 1;
    }
  } else if (name == "epsilon" || name == "top") {
    const FigureOptions none;
    const auto number =
        text.empty() ? std::optional(name == "top" ? static_cast<double>(none.top) : none.epsilon) : parse_finite(text);
    if (!number || !(*number >= 0.0)) return refused("a number from 0 on");
    if (name == "top")
      options.top = static_cast<std::int64_t>(std::min(*number, 1e6));
    else
      options.epsilon = *number;
  } else if (name == "names") {
    if (!any_of(text, {"", "on", "off"})) return refused("on or off");
    options.names = text == "on";
  } else if (name == "letters") {
    if (!any_of(text, {"", "a", "A", "(a)", "none"})) return refused("a, A, (a) or none");
    changed.letters = text.empty() ? "a" : text;
  } else {
    std::string all;
    for (const std::string& one : names_of_options()) all += (all.empty() ? "" : ", ") + one;
    return Error(ErrorCode::InvalidArgument, "figure: no such option: " + std::string(name))
        .wanted(all, std::string(name));
  }
  const Result<FigureChoice> read = read_choice(options, kind);
  if (!read) {
    Error error = read.error();
    error.message = "figure: " + std::string(name) + ": " + error.message;
    return error;
  }
  look = std::move(changed);
  return {};
}

}  // namespace headroom
