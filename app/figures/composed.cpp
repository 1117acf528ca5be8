#include "app/figures/composed.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "app/figures/figure_kinds.h"
#include "app/figures/figure_options.h"
#include "app/figures/figure_runs.h"
#include "app/figures/page_length.h"
#include "app/figures/placed_json.h"
#include "app/figures/text_cell.h"
#include "core/base/edit_distance.h"
#include "core/base/input_file.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostColumns = 24;
constexpr double kMostShare = 1e6;  // of a panel's width
constexpr std::string_view kOptions[] = {"head",  "layers",     "heads",   "quantity", "keys",  "cell",    "range",
                                         "scale", "colour_map", "epsilon", "top",      "names", "against", "paired"};

class Reader {
 public:
  explicit Reader(std::filesystem::path file) : file_(std::move(file)) {}

  Result<ComposedFigure> read(const std::string& width, const std::string& height) {
    HEADROOM_TRY(const std::string text, read_text_file(file_, kMostBytes));
    Result<PlacedJson> parsed = PlacedJson::parse(text);
    if (!parsed) {
      Error error = parsed.error();
      error.message =
          (error.code == ErrorCode::Corrupt ? "the figure file is no JSON: " : "the figure file: ") + error.message;
      return error.in_file(file_.string());
    }
    json_ = std::move(*parsed);
    const Json& json = json_.root();
    HEADROOM_TRY_VOID(known(json, "the figure",
                            {"width", "height", "gap", "letters", "theme", "title", "run", "runs", "rows"}, true));
    HEADROOM_TRY(const std::string own_width, text_of(json, "width", "174mm"));
    HEADROOM_TRY(composed_.figure.width_mm, page_length(width.empty() ? own_width : width));
    HEADROOM_TRY(composed_.letters, word_of(json, "letters", "a"));
    HEADROOM_TRY(composed_.theme, word_of(json, "theme", "paper"));
    HEADROOM_TRY(composed_.figure.title, word_of(json, "title", ""));
    if (composed_.theme != "paper" && composed_.theme != "slides")
      return wrong(json, "theme", "paper or slides", composed_.theme);
    constexpr std::string_view kLetters[] = {"a", "A", "(a)", "none"};
    if (std::ranges::find(kLetters, composed_.letters) == std::end(kLetters))
      return wrong(json, "letters", "a, A, (a) or none", composed_.letters);
    if (json.contains("gap")) {
      HEADROOM_TRY(const double gap, millimetres(json, "gap"));
      composed_.figure.gap_mm = static_cast<float>(gap);
    }
    if (!json.contains("rows") || !json["rows"].is_array() || json["rows"].empty())
      return wrong(json, "rows", "a list of rows, each with its panels",
                   json.contains("rows") ? json["rows"].dump() : "none");
    share_ranges(json);
    for (const Json& row : json["rows"]) HEADROOM_TRY_VOID(read_row(json, row));
    HEADROOM_TRY_VOID(read_columns(json));
    if (!height.empty()) {
      HEADROOM_TRY(composed_.figure.height_mm, page_length(height));
      composed_.figure.row_heights_mm.clear();
    } else if (json.contains("height")) {
      HEADROOM_TRY(composed_.figure.height_mm, millimetres(json, "height"));
      composed_.figure.row_heights_mm.clear();
    } else {
      composed_.figure.height_mm = 0.0;  // follows from the rows
    }
    return std::move(composed_);
  }

 private:
  // " (line 3, column 5)" of a member; empty where it is not there.
  [[nodiscard]] std::string at(const Json& object, const std::string& member) const {
    const std::string place = json_.place(object, member);
    return place.empty() ? "" : " (" + place + ")";
  }
  [[nodiscard]] Error wrong(const Json& object, const std::string& member, const std::string& expected,
                            const std::string& found) const {
    Error error(ErrorCode::InvalidArgument,
                "member \"" + member + "\" of the figure file cannot be used" + at(object, member));
    return error.wanted(expected, found).in_file(file_.string());
  }

  // Refuses members that nothing reads.
  Result<void> known(const Json& object, const std::string& of, std::vector<std::string_view> names,
                     bool with_options) const {
    if (with_options) names.insert(names.end(), std::begin(kOptions), std::end(kOptions));
    if (!object.is_object())
      return Error(ErrorCode::InvalidArgument, of + " is no object")
          .wanted("{…}", object.dump())
          .in_file(file_.string());
    for (const auto& [name, value] : object.items()) {
      if (std::ranges::find(names, name) != names.end()) continue;
      const std::string_view nearest =
          *std::ranges::min_element(names, {}, [&](std::string_view other) { return edit_distance(name, other); });
      return Error(ErrorCode::InvalidArgument, of + " has a member \"" + name + "\" that is not known" +
                                                   at(object, name) + "; nearest: " + std::string(nearest))
          .in_file(file_.string());
    }
    return {};
  }

  Result<std::string> text_of(const Json& object, const std::string& member, const std::string& usual) const {
    if (!object.contains(member)) return usual;
    const Json& value = object[member];
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number()) return full_text(value.get<double>());
    return wrong(object, member, "a text", value.dump());
  }
  // Of what no number can be.
  Result<std::string> word_of(const Json& object, const std::string& member, const std::string& usual) const {
    if (object.contains(member) && !object[member].is_string())
      return wrong(object, member, "a text", object[member].dump());
    return text_of(object, member, usual);
  }
  Result<bool> flag_of(const Json& object, const std::string& member) const {
    if (!object.contains(member)) return false;
    if (!object[member].is_boolean()) return wrong(object, member, "true or false", object[member].dump());
    return object[member].get<bool>();
  }

  // A length with its unit, without the bounds of a page.
  Result<double> millimetres(const Json& object, const std::string& member) const {
    HEADROOM_TRY(const std::string text, text_of(object, member, ""));
    double value = 0.0;
    std::size_t used = 0;
    try {
      value = std::stod(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    const std::string unit = text.substr(std::min(used, text.size()));
    const double factor = unit == "mm"   ? 1.0
                          : unit == "cm" ? 10.0
                          : unit == "in" ? 25.4
                          : unit == "pt" ? 25.4 / 72.0
                                         : 0.0;
    if (used == 0 || factor == 0.0 || !(value >= 0.0) || !(value * factor < 1000.0))
      return wrong(object, member, "a length with mm, cm, in or pt", text);
    return value * factor;
  }

  // The options of a panel: its own, else the figure's.
  Result<FigureOptions> options(const Json& figure, const Json& panel) const {
    FigureOptions options;
    const auto owner = [&](const char* name) -> const Json& { return panel.contains(name) ? panel : figure; };
    const std::pair<const char*, std::string*> texts[] = {
        {"head", &options.heads},       {"layers", &options.layers},
        {"heads", &options.only_heads}, {"keys", &options.keys},
        {"cell", &options.cell},        {"range", &options.range},
        {"scale", &options.scale},      {"colour_map", &options.colour_map}};
    for (const auto& [name, to] : texts)
      if (owner(name).contains(name)) {
        HEADROOM_TRY(*to, text_of(owner(name), name, ""));
      }
    if (panel.contains("rows")) {
      HEADROOM_TRY(options.rows, text_of(panel, "rows", ""));
    }
    if (const Json& own = owner("quantity"); own.contains("quantity")) {
      HEADROOM_TRY(const std::string rest, word_of(own, "quantity", ""));
      // Commas inside brackets belong to a quantity.
      std::size_t from = 0, depth = 0;
      for (std::size_t i = 0; i <= rest.size(); ++i) {
        if (i < rest.size() && rest[i] == '[') ++depth;
        if (i < rest.size() && rest[i] == ']') --depth;
        if (i < rest.size() && (rest[i] != ',' || depth > 0)) continue;
        options.quantities.push_back(rest.substr(from, i - from));
        from = i + 1;
      }
    }
    if (const Json& own = owner("epsilon"); own.contains("epsilon")) {
      if (!own["epsilon"].is_number()) return wrong(own, "epsilon", "a number", own["epsilon"].dump());
      options.epsilon = own["epsilon"].get<double>();
    }
    if (const Json& own = owner("top"); own.contains("top")) {
      if (!own["top"].is_number_integer()) return wrong(own, "top", "a whole number", own["top"].dump());
      options.top = own["top"].get<std::int64_t>();
    }
    HEADROOM_TRY(options.names, flag_of(owner("names"), "names"));
    HEADROOM_TRY(options.paired, flag_of(owner("paired"), "paired"));
    return options;
  }

  Result<std::vector<FigureRun>> runs_of(const Json& figure, const Json& panel) {
    const Json& object = panel.contains("run") || panel.contains("runs") ? panel : figure;
    std::vector<std::string> names;
    for (const char* member : {"run", "runs"}) {
      HEADROOM_TRY(const std::vector<std::string> more, names_of(object, member));
      names.insert(names.end(), more.begin(), more.end());
    }
    if (names.empty()) return wrong(object, "run", "the path of a run file", "none");
    return opened(names);
  }

  // A list of texts, or one; empty where there is no such member.
  Result<std::vector<std::string>> names_of(const Json& object, const char* member) const {
    std::vector<std::string> names;
    if (!object.contains(member)) return names;
    const Json list = object[member].is_array() ? object[member] : Json::array({object[member]});
    for (const Json& name : list) {
      if (!name.is_string()) return wrong(object, member, "a path, or a list of paths", object[member].dump());
      names.push_back(name.get<std::string>());
    }
    return names;
  }

  // Each file is read once.
  Result<std::vector<FigureRun>> opened(const std::vector<std::string>& names) {
    std::vector<FigureRun> runs;
    for (const std::string& name : names) {
      const std::filesystem::path path = file_.parent_path() / name;
      const auto known_run = std::ranges::find(composed_.runs, path, &FigureRun::path);
      if (known_run != composed_.runs.end()) {
        runs.push_back(*known_run);
        continue;
      }
      HEADROOM_TRY(FigureRun run, read_figure_run(path));
      composed_.runs.push_back(std::move(run));
      runs.push_back(composed_.runs.back());
    }
    return runs;
  }

  // A quantity has one range of colours in all panels that give none. What cannot be read is said where the panel is.
  void share_ranges(const Json& figure) {
    if (figure.contains("range")) return;
    for (const Json& row : figure["rows"]) {
      if (!row.is_object() || !row.contains("panels") || !row["panels"].is_array()) continue;
      for (const Json& panel : row["panels"])
        if (panel.is_object() && panel.contains("kind") && !panel.contains("range")) add_values(figure, panel);
    }
  }
  void add_values(const Json& figure, const Json& panel) {
    const Result<std::string> name = text_of(panel, "kind", "");
    const Result<FigureOptions> asked = options(figure, panel);
    if (!name || (*name != "atlas" && *name != "scatter") || !asked) return;
    const Result<FigureChoice> choice = read_choice(*asked, *name);
    const Result<std::vector<FigureRun>> runs = runs_of(figure, panel);
    if (!choice || !runs || runs->front().run == nullptr) return;
    const Result<DrawnHeads> drawn = drawn_heads(runs->front(), *choice);
    if (!drawn) return;
    std::vector<QuantityRef> quantities = choice->quantities;
    if (*name == "atlas" && quantities.empty()) {
      const QuantityInfo* info = find_quantity_info("sink_score");
      quantities.push_back({info, info->default_index});
    }
    for (const QuantityRef& quantity : quantities)
      for (const std::int64_t layer : drawn->layers)
        for (const std::int64_t head : drawn->heads)
          if (const double value = head_value(*runs->front().run, quantity, layer, head); std::isfinite(value))
            shared_[quantity_text(quantity)].push_back(value);
  }

  Result<void> read_row(const Json& figure, const Json& row) {
    HEADROOM_TRY_VOID(known(row, "a row", {"height", "panels"}, false));
    if (!row.contains("panels") || !row["panels"].is_array() || row["panels"].empty())
      return wrong(row, "panels", "a list of panels", row.dump());
    composed_.figure.rows.emplace_back();
    double height = 40.0;
    if (row.contains("height")) {
      HEADROOM_TRY(height, millimetres(row, "height"));
    }
    composed_.figure.row_heights_mm.push_back(static_cast<float>(height));
    for (const Json& panel : row["panels"]) {
      HEADROOM_TRY(std::unique_ptr<FigurePanel> made, read_panel(figure, panel));
      if (panel.contains("width")) {
        if (!panel["width"].is_number() ||
            !(panel["width"].get<double>() > 0.0 && panel["width"].get<double>() < kMostShare))
          return wrong(panel, "width", "of a panel a share above 0", panel["width"].dump());
        made->weight = panel["width"].get<float>();
      }
      composed_.figure.rows.back().push_back(composed_.figure.panels.size());
      composed_.figure.panels.push_back(std::move(made));
    }
    return {};
  }

  // Where a cell spans columns the page has some: as many in all rows, each as wide as a cell that is in it alone
  // says.
  Result<void> read_columns(const Json& figure) {
    const Json& rows = figure["rows"];
    bool any = false;
    for (const Json& row : rows)
      for (const Json& cell : row["panels"]) any = any || cell.contains("columns");
    if (!any) return {};
    std::vector<std::optional<float>> shares;
    for (const Json& row : rows) {
      spans_.emplace_back();
      std::size_t column = 0;
      for (const Json& cell : row["panels"]) {
        std::size_t span = 1;
        if (cell.contains("columns")) {
          const Json& asked = cell["columns"];
          if (!asked.is_number_unsigned() || asked.get<std::uint64_t>() < 1 ||
              asked.get<std::uint64_t>() > kMostColumns)
            return wrong(cell, "columns", "a whole number from 1 to " + std::to_string(kMostColumns), asked.dump());
          span = asked.get<std::size_t>();
        }
        shares.resize(std::max(shares.size(), column + span));
        if (cell.contains("width") && span > 1)
          return wrong(cell, "width", "none: a cell that spans columns is as wide as they are", cell["width"].dump());
        if (cell.contains("width")) {
          const auto own = cell["width"].get<float>();
          if (shares[column] && *shares[column] != own)
            return wrong(cell, "width", full_text(static_cast<double>(*shares[column])) + ", as its column is above",
                         cell["width"].dump());
          shares[column] = own;
        }
        spans_.back().push_back(span);
        column += span;
      }
      if (column != shares.size() || (spans_.size() > 1 && column != columns_of(spans_.front())))
        return wrong(row, "panels",
                     "cells of " + std::to_string(columns_of(spans_.front())) + " columns, as in the first row",
                     std::to_string(column));
    }
    for (const std::optional<float>& share : shares) composed_.figure.column_shares.push_back(share.value_or(1.0f));
    std::size_t panel = 0;
    for (const std::vector<std::size_t>& row : spans_) {
      std::size_t column = 0;
      for (const std::size_t span : row) {
        composed_.figure.columns.push_back(span);
        composed_.figure.panels[panel++]->weight = share_of(column, span);
        column += span;
      }
    }
    return {};
  }
  static std::size_t columns_of(const std::vector<std::size_t>& spans) {
    return std::accumulate(spans.begin(), spans.end(), std::size_t{0});
  }
  [[nodiscard]] float share_of(std::size_t column, std::size_t span) const {
    const auto first = composed_.figure.column_shares.begin() + static_cast<std::ptrdiff_t>(column);
    return std::accumulate(first, first + static_cast<std::ptrdiff_t>(span), 0.0f);
  }

  Result<std::unique_ptr<FigurePanel>> read_panel(const Json& figure, const Json& panel) {
    if (panel.is_object() && (panel.contains("text") || panel.contains("empty"))) {
      HEADROOM_TRY_VOID(known(panel, "a cell without a panel", {"text", "empty", "width", "columns"}, false));
      HEADROOM_TRY(const bool empty, flag_of(panel, "empty"));
      HEADROOM_TRY(std::string words, word_of(panel, "text", ""));
      if (empty == panel.contains("text"))
        return wrong(panel, empty ? "text" : "empty", "a \"kind\", a \"text\", or \"empty\": true", panel.dump());
      return std::unique_ptr<FigurePanel>(std::make_unique<TextCell>(words));
    }
    HEADROOM_TRY_VOID(
        known(panel, "a panel", {"kind", "panel", "width", "columns", "rows", "run", "runs", "text", "empty"}, true));
    HEADROOM_TRY(const std::string name, word_of(panel, "kind", ""));
    HEADROOM_TRY(const FigureKind* const kind, find_figure_kind(name));
    HEADROOM_TRY(const FigureOptions asked, options(figure, panel));
    HEADROOM_TRY(FigureChoice choice, read_choice(asked, name));
    HEADROOM_TRY(const std::vector<FigureRun> runs, runs_of(figure, panel));
    if (!figure.contains("range") && !panel.contains("range")) choice.together = shared_;
    HEADROOM_TRY(const std::vector<std::string> against,
                 names_of(panel.contains("against") ? panel : figure, "against"));
    HEADROOM_TRY(choice.against, opened(against));
    HEADROOM_TRY(Figure made, make_figure(*kind, runs, choice));
    for (std::string& note : made.notes) composed_.figure.notes.push_back(std::move(note));
    // Of the panel's own options: the figure's are for whichever panels follow them.
    HEADROOM_TRY(const FigureOptions own, options(Json::object(), panel));
    note_without_effect(composed_.figure, *kind, own);
    HEADROOM_TRY(const std::string which, word_of(panel, "panel", ""));
    set_letters(made, "a");
    for (auto& one : made.panels) one->bare_y = false;  // what stood at its left may be elsewhere
    std::string names;
    for (auto& one : made.panels) {
      if (which.empty() || one->id == which || one->name == which) return std::move(one);
      names += (names.empty() ? "" : ", ") + one->id + " (" + one->name + ")";
    }
    return wrong(panel, "panel", names, which);
  }

  std::filesystem::path file_;
  PlacedJson json_;
  ComposedFigure composed_;
  std::vector<std::vector<std::size_t>> spans_;  // columns of each row's cells; empty: the page has none
  std::map<std::string, std::vector<double>, std::less<>> shared_;  // by quantity, of panels without a range
};

}  // namespace

Result<ComposedFigure> read_composed(const std::filesystem::path& file, const std::string& width,
                                     const std::string& height) {
  return Reader(file).read(width, height);
}

}  // namespace headroom
