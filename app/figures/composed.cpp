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
#include <set>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/figures/figure_kinds.h"
#include "app/figures/figure_options.h"
#include "app/figures/figure_runs.h"
#include "app/figures/page_length.h"
#include "core/base/edit_distance.h"
#include "core/base/input_file.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
constexpr std::string_view kOptions[] = {"head",  "layers",     "heads",   "quantity", "keys",  "cell",    "range",
                                         "scale", "colour_map", "epsilon", "top",      "names", "against", "paired"};

// Words in a cell of their own, in lines that its width has room for.
class TextPanel final : public FigurePanel {
 public:
  std::string words;

  PanelRoom room(const Page&, Vec2) const override { return {}; }
  Vec2 least_inner(const Page& page) const override {
    float widest = 0.0f;
    for (const std::string& piece : pieces())
      widest = std::max(widest, rich_width(page.measure, rich(piece), page.style.text()));
    return {widest, page.style.size()};
  }
  float needed_height(const Page& page, float width) const override {
    const auto count = static_cast<float>(lines(page, width).size());
    return count > 0.0f ? ((count - 1.0f) * kLine + 1.25f) * page.style.size() : 0.0f;
  }
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    float y = frame.inner.y0 + page.style.size();
    for (const std::string& line : lines(page, frame.inner.width())) {
      draw_rich(painter, {frame.inner.x0, y}, rich(line), page.style.text());
      y += kLine * page.style.size();
    }
  }
  void add_data(FigureData&) const override {}
  std::string caption() const override { return {}; }

 private:
  static constexpr float kLine = 1.35f;

  // What no line breaks: between blanks and line feeds that are in no markup; each with what separates it from the
  // next.
  [[nodiscard]] std::vector<std::string> pieces(std::vector<char>* separators = nullptr) const {
    std::vector<std::string> found(1);
    int depth = 0;
    bool italic = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const char c = words[i];
      if (c == '\\' && i + 1 < words.size()) {
        found.back() += c, found.back() += words[++i];
        continue;
      }
      if (c == '*') italic = !italic;
      depth += c == '{' ? 1 : c == '}' && depth > 0 ? -1 : 0;
      if (c == '\n' || (c == ' ' && !italic && depth == 0)) {
        if (separators != nullptr) separators->push_back(c);
        found.emplace_back();
      } else {
        found.back() += c;
      }
    }
    return found;
  }
  [[nodiscard]] std::vector<std::string> lines(const Page& page, float width) const {
    std::vector<std::string> made;
    if (words.empty()) return made;
    std::vector<char> separators;
    const std::vector<std::string> all = pieces(&separators);
    made.push_back(all.front());
    for (std::size_t i = 1; i < all.size(); ++i) {
      const std::string longer = made.back() + " " + all[i];
      const bool fits = rich_width(page.measure, rich(longer), page.style.text()) <= width + 0.01f;
      if (separators[i - 1] == '\n' || !fits)
        made.push_back(all[i]);
      else
        made.back() = longer;
    }
    return made;
  }
};

class Reader {
 public:
  explicit Reader(std::filesystem::path file) : file_(std::move(file)) {}

  Result<ComposedFigure> read(const std::string& width, const std::string& height) {
    HEADROOM_TRY(const std::string text, read_text_file(file_, kMostBytes));
    Json json;
    std::vector<std::set<std::string>> open;  // names of the members of each object that is being read
    std::string twice;
    const auto look = [&](int, Json::parse_event_t event, Json& value) {
      if (event == Json::parse_event_t::object_start) open.emplace_back();
      if (event == Json::parse_event_t::object_end) open.pop_back();
      if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
        twice = value.get<std::string>();
      return true;
    };
    try {
      json = Json::parse(text, look, true, true);
    } catch (const Json::parse_error& error) {
      // "[json.exception.parse_error.101] parse error at line 3, column 5: …"
      const std::string what = error.what();
      const std::size_t from = what.find("line ");
      return Error(ErrorCode::Corrupt,
                   "the figure file is no JSON: " + (from == std::string::npos ? what : what.substr(from)))
          .in_file(file_.string());
    }
    if (!twice.empty()) return wrong(twice, "once in an object", "twice");
    HEADROOM_TRY_VOID(
        known(json, "the figure", {"width", "height", "gap", "letters", "theme", "title", "run", "runs", "rows"}));
    HEADROOM_TRY(const std::string own_width, text_of(json, "width", "174mm"));
    HEADROOM_TRY(composed_.figure.width_mm, page_length(width.empty() ? own_width : width));
    HEADROOM_TRY(composed_.letters, text_of(json, "letters", "a"));
    HEADROOM_TRY(composed_.theme, text_of(json, "theme", "paper"));
    if (json.contains("title") && !json["title"].is_string()) return wrong("title", "a text", json["title"].dump());
    HEADROOM_TRY(composed_.figure.title, text_of(json, "title", ""));
    if (composed_.theme != "paper" && composed_.theme != "slides")
      return wrong("theme", "paper or slides", composed_.theme);
    if (json.contains("gap")) {
      HEADROOM_TRY(const double gap, millimetres(json, "gap"));
      composed_.figure.gap_mm = static_cast<float>(gap);
    }
    if (!json.contains("rows") || !json["rows"].is_array() || json["rows"].empty())
      return wrong("rows", "a list of rows, each with its panels",
                   json.contains("rows") ? json["rows"].dump() : "none");
    share_ranges(json);
    for (const Json& row : json["rows"]) HEADROOM_TRY_VOID(read_row(json, row));
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
  [[nodiscard]] Error wrong(const std::string& member, const std::string& expected, const std::string& found) const {
    Error error(ErrorCode::InvalidArgument, "member \"" + member + "\" of the figure file cannot be used");
    return error.wanted(expected, found).in_file(file_.string());
  }

  // Refuses members that nothing reads.
  Result<void> known(const Json& object, const std::string& of, std::vector<std::string_view> names) const {
    names.insert(names.end(), std::begin(kOptions), std::end(kOptions));
    if (!object.is_object()) return wrong(of, "an object", object.dump());
    for (const auto& [name, value] : object.items()) {
      if (std::ranges::find(names, name) != names.end()) continue;
      const std::string_view nearest =
          *std::ranges::min_element(names, {}, [&](std::string_view other) { return edit_distance(name, other); });
      return Error(ErrorCode::InvalidArgument,
                   of + " has a member \"" + name + "\" that is not known; nearest: " + std::string(nearest))
          .in_file(file_.string());
    }
    return {};
  }

  Result<std::string> text_of(const Json& object, const std::string& member, const std::string& usual) const {
    if (!object.contains(member)) return usual;
    const Json& value = object[member];
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number()) return full_text(value.get<double>());
    return wrong(member, "a text", value.dump());
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
      return wrong(member, "a length with mm, cm, in or pt", text);
    return value * factor;
  }

  // The options of a panel: its own, else the figure's.
  Result<FigureOptions> options(const Json& figure, const Json& panel) const {
    FigureOptions options;
    const auto member = [&](const char* name) -> const Json* {
      return panel.contains(name) ? &panel[name] : figure.contains(name) ? &figure[name] : nullptr;
    };
    const std::pair<const char*, std::string*> texts[] = {
        {"head", &options.heads},       {"layers", &options.layers},
        {"heads", &options.only_heads}, {"keys", &options.keys},
        {"cell", &options.cell},        {"range", &options.range},
        {"scale", &options.scale},      {"colour_map", &options.colour_map}};
    for (const auto& [name, to] : texts)
      if (member(name) != nullptr) {
        HEADROOM_TRY(*to, text_of(panel.contains(name) ? panel : figure, name, ""));
      }
    if (panel.contains("rows")) {
      HEADROOM_TRY(options.rows, text_of(panel, "rows", ""));
    }
    if (const Json* quantity = member("quantity")) {
      if (!quantity->is_string()) return wrong("quantity", "a text", quantity->dump());
      std::string rest = quantity->get<std::string>();
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
    const auto number = [&](const char* name, auto& to) -> Result<void> {
      const Json* value = member(name);
      if (value == nullptr) return {};
      if (!value->is_number()) return wrong(name, "a number", value->dump());
      to = value->get<std::remove_reference_t<decltype(to)>>();
      return {};
    };
    HEADROOM_TRY_VOID(number("epsilon", options.epsilon));
    HEADROOM_TRY_VOID(number("top", options.top));
    if (const Json* names = member("names")) options.names = names->is_boolean() && names->get<bool>();
    if (const Json* paired = member("paired")) options.paired = paired->is_boolean() && paired->get<bool>();
    return options;
  }

  Result<std::vector<FigureRun>> runs_of(const Json& figure, const Json& panel) {
    const Json& object = panel.contains("run") || panel.contains("runs") ? panel : figure;
    std::vector<std::string> names;
    if (object.contains("run") && object["run"].is_string()) names.push_back(object["run"].get<std::string>());
    if (object.contains("runs") && object["runs"].is_array())
      for (const Json& name : object["runs"])
        if (name.is_string()) names.push_back(name.get<std::string>());
    if (names.empty()) return wrong("run", "the path of a run file", "none");
    return opened(names);
  }

  // A list of texts, or one; empty where there is no such member.
  Result<std::vector<std::string>> names_of(const Json& object, const char* member) const {
    std::vector<std::string> names;
    if (!object.contains(member)) return names;
    const Json list = object[member].is_array() ? object[member] : Json::array({object[member]});
    for (const Json& name : list) {
      if (!name.is_string()) return wrong(member, "a path, or a list of paths", object[member].dump());
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
    HEADROOM_TRY_VOID(known(row, "a row", {"height", "panels"}));
    if (!row.contains("panels") || !row["panels"].is_array() || row["panels"].empty())
      return wrong("panels", "a list of panels", row.dump());
    composed_.figure.rows.emplace_back();
    double height = 40.0;
    if (row.contains("height")) {
      HEADROOM_TRY(height, millimetres(row, "height"));
    }
    composed_.figure.row_heights_mm.push_back(static_cast<float>(height));
    for (const Json& panel : row["panels"]) {
      HEADROOM_TRY(std::unique_ptr<FigurePanel> made, read_panel(figure, panel));
      if (panel.contains("width")) {
        if (!panel["width"].is_number() || !(panel["width"].get<double>() > 0.0))
          return wrong("width", "of a panel a share above 0", panel["width"].dump());
        made->weight = panel["width"].get<float>();
      }
      composed_.figure.rows.back().push_back(composed_.figure.panels.size());
      composed_.figure.panels.push_back(std::move(made));
    }
    return {};
  }

  Result<std::unique_ptr<FigurePanel>> read_panel(const Json& figure, const Json& panel) {
    HEADROOM_TRY_VOID(known(panel, "a panel", {"kind", "panel", "width", "rows", "run", "runs", "text", "empty"}));
    if (panel.contains("text") || panel.contains("empty")) {
      auto text = std::make_unique<TextPanel>();
      HEADROOM_TRY(text->words, text_of(panel, "text", ""));
      text->lettered = false;
      return std::unique_ptr<FigurePanel>(std::move(text));
    }
    HEADROOM_TRY(const std::string name, text_of(panel, "kind", ""));
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
    HEADROOM_TRY(const std::string which, text_of(panel, "panel", ""));
    set_letters(made, "a");
    for (auto& one : made.panels) one->bare_y = false;  // what stood at its left may be elsewhere
    std::string names;
    for (auto& one : made.panels) {
      if (which.empty() || one->id == which || one->name == which) return std::move(one);
      names += (names.empty() ? "" : ", ") + one->id + " (" + one->name + ")";
    }
    return wrong("panel", names, which);
  }

  std::filesystem::path file_;
  ComposedFigure composed_;
  std::map<std::string, std::vector<double>, std::less<>> shared_;  // by quantity, of panels without a range
};

}  // namespace

Result<ComposedFigure> read_composed(const std::filesystem::path& file, const std::string& width,
                                     const std::string& height) {
  return Reader(file).read(width, height);
}

}  // namespace headroom
