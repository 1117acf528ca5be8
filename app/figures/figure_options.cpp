#include "app/figures/figure_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/figures/figure.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/page_length.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr double kLeastEnd = 1e-30, kMostEnd = 1e30;  // of a range
constexpr std::int64_t kMostListed = 100;

Error bad_option(const std::string& option, const std::string& expected, const std::string& found) {
  Error error(ErrorCode::InvalidArgument, option + " \"" + found + "\" cannot be read");
  return error.wanted(expected, found);
}

std::optional<double> number_of(std::string_view text) {
  double value = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::int64_t> index(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) return {};
  return value;
}

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    result.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return result;
}

// "0,3-9"; nothing of an empty text.
Result<std::vector<std::int64_t>> index_list(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> result;
  if (text.empty()) return result;
  for (const std::string_view part : parts(text, ',')) {
    const auto ends = parts(part, '-');
    const auto first = index(ends.front()), last = index(ends.back());
    if (!first || !last || *last < *first || *last - *first > 100000 || ends.size() > 2)
      return bad_option(option, "indices and ranges, e.g. 0,3-9", text);
    for (std::int64_t i = *first; i <= *last; ++i) result.push_back(i);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

using Pair = std::optional<std::array<std::int64_t, 2>>;

Result<Pair> index_pair(const std::string& option, const std::string& text, char separator, bool ascending) {
  if (text.empty()) return Pair{};
  const auto ends = parts(text, separator);
  const auto first = index(ends.front()), last = index(ends.back());
  if (ends.size() != 2 || !first || !last || (ascending && *last <= *first))
    return bad_option(option, std::string("A") + separator + "B" + (ascending ? ", A below B" : ""), text);
  return Pair{{*first, *last}};
}

Result<void> read_range(const std::string& text, FigureChoice& choice) {
  if (text.empty()) return {};
  const auto ends = parts(text, ',');
  const auto end_of = [&](std::string_view end) { return end == "auto" ? std::optional<double>() : number_of(end); };
  choice.low = end_of(ends.front()), choice.high = end_of(ends.back());
  const bool known =
      ends.size() == 2 && (choice.low || ends.front() == "auto") && (choice.high || ends.back() == "auto");
  if (!known || (choice.low && choice.high && !(*choice.high > *choice.low)))
    return bad_option("--range", "LO,HI, LO below HI, or auto for one end", text);
  // Colours and places are of single precision.
  for (const std::optional<double>& end : {choice.low, choice.high})
    if (end && *end != 0.0 && !(std::abs(*end) >= kLeastEnd && std::abs(*end) <= kMostEnd))
      return bad_option("--range", "ends of 1e-30 to 1e30, or 0", text);
  return {};
}

// What the command line refuses by itself, a figure file may say.
Result<void> read_scale(const FigureOptions& options, FigureChoice& choice) {
  static constexpr std::array<std::pair<std::string_view, ScaleKind>, 3> kScales = {
      {{"linear", ScaleKind::Linear}, {"log", ScaleKind::Log10}, {"symlog", ScaleKind::Symlog}}};
  for (const auto& [name, kind] : kScales)
    if (options.scale == name) choice.scale = kind;
  if (!options.scale.empty() && !choice.scale) return bad_option("--scale", "linear, log or symlog", options.scale);
  const auto below = [](const std::optional<double>& end) { return end && *end <= 0.0; };
  if (choice.scale == ScaleKind::Log10 && (below(choice.low) || below(choice.high)))
    return bad_option("--range", "ends above 0, since --scale is log", options.range);
  return {};
}

Result<void> read_numbers(const FigureOptions& options, FigureChoice& choice) {
  if (!(options.epsilon >= 0.0 && options.epsilon <= 1.0))
    return bad_option("--epsilon", "a share of attention, 0 to 1", full_text(options.epsilon));
  if (options.top < 1 || options.top > kMostListed)
    return bad_option("--top", "1 to " + std::to_string(kMostListed), std::to_string(options.top));
  choice.epsilon = options.epsilon, choice.top = options.top;
  return {};
}

Result<void> read_colours(const std::string& name, FigureChoice& choice) {
  static constexpr std::array<std::pair<std::string_view, Colours>, 5> kSequential = {{{"headroom", Colours::Headroom},
                                                                                       {"viridis", Colours::Viridis},
                                                                                       {"cividis", Colours::Cividis},
                                                                                       {"magma", Colours::Magma},
                                                                                       {"grey", Colours::Grey}}};
  if (name.empty()) return {};
  for (const auto& [known, colours] : kSequential)
    if (name == known) choice.colours = colours;
  if (name == "puor") choice.signed_colours = SignedColours::PuOr;
  if (name == "vik") choice.signed_colours = SignedColours::Vik;
  const bool known = name == "puor" || name == "vik" ||
                     std::ranges::any_of(kSequential, [&](const auto& one) { return one.first == name; });
  if (known) return {};
  Error error(ErrorCode::InvalidArgument, "colour map \"" + name + "\": not known");
  error.wanted("headroom, viridis, cividis, magma, grey; signed: headroom, puor, vik", name);
  return error.advise(
      "maps whose lightness goes up and down, such as jet and rainbow, show edges that are not in the data");
}

}  // namespace

Result<FigureChoice> read_choice(const FigureOptions& options, const std::string& kind) {
  FigureChoice choice;
  choice.kind = kind;
  if (!options.heads.empty()) {
    HEADROOM_TRY(choice.heads, parse_heads(options.heads, ',', "--head"));
  }
  HEADROOM_TRY(choice.layers, index_list("--layers", options.layers));
  HEADROOM_TRY(choice.only_heads, index_list("--heads", options.only_heads));
  const auto found = find_figure_kind(kind);
  const bool own = found && (*found)->own_quantities;
  if (own) choice.own_quantities = options.quantities;
  for (const std::string& quantity : own ? std::vector<std::string>() : options.quantities) {
    HEADROOM_TRY(const QuantityRef ref, parse_quantity(quantity));
    choice.quantities.push_back(ref);
  }
  HEADROOM_TRY(choice.rows, index_pair("--rows", options.rows, ':', true));
  HEADROOM_TRY(choice.keys, index_pair("--keys", options.keys, ':', true));
  HEADROOM_TRY(choice.cell, index_pair("--cell", options.cell, ',', false));
  HEADROOM_TRY_VOID(read_range(options.range, choice));
  HEADROOM_TRY_VOID(read_colours(options.colour_map, choice));
  HEADROOM_TRY_VOID(read_scale(options, choice));
  HEADROOM_TRY_VOID(read_numbers(options, choice));
  if (options.points == "vector") choice.points = FigureChoice::Points::Vector;
  if (options.points == "image") choice.points = FigureChoice::Points::Image;
  if (!options.width.empty()) {
    HEADROOM_TRY(choice.width_mm, page_length(options.width));
  }
  if (!options.height.empty()) {
    HEADROOM_TRY(choice.height_mm, page_length(options.height));
  }
  if (options.theme == "slides" && !choice.width_mm) choice.width_mm = 240.0;
  choice.names = options.names;
  choice.paired = options.paired;
  return choice;
}

void note_without_effect(Figure& figure, const FigureKind& kind, const FigureOptions& options) {
  constexpr std::array<std::string_view, 4> kOfEveryPage = {"--width", "--height", "--theme", "--title"};
  const auto used = parts(kind.uses, ' ');
  for (const std::string& word : option_words(options))
    if (word.starts_with("--") && std::ranges::find(kOfEveryPage, word) == kOfEveryPage.end() &&
        std::ranges::find(used, word) == used.end())
      figure.notes.push_back(word + " changes nothing of " + kind.name);
}

Result<Figure> figure_of(const std::string& kind, std::span<const FigureRun> runs,
                         const std::vector<FigureRun>& against, const FigureOptions& options,
                         const std::string& letters) {
  HEADROOM_TRY(const FigureKind* const found, find_figure_kind(kind));
  HEADROOM_TRY(FigureChoice choice, read_choice(options, kind));
  choice.against = against;
  // Kinds arrange themselves by the sizes of paper, of which slides have the double.
  const double times = options.theme == "slides" ? 2.0 : 1.0;
  for (std::optional<double>* length : {&choice.width_mm, &choice.height_mm})
    if (*length) **length /= times;
  HEADROOM_TRY(Figure figure, make_figure(*found, runs, choice));
  figure.width_mm *= times, figure.height_mm *= times;
  note_without_effect(figure, *found, options);
  set_title(figure, options.title, options.height.empty(), options.theme == "slides");
  set_letters(figure, letters);
  return figure;
}

std::vector<std::string> option_words(const FigureOptions& options) {
  const FigureOptions none;
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::string& value, const std::string& usual = {}) {
    if (value != usual) words.insert(words.end(), {name, value});
  };
  std::string quantities;
  for (const std::string& quantity : options.quantities) quantities += (quantities.empty() ? "" : ",") + quantity;
  add("--head", options.heads);
  add("--layers", options.layers);
  add("--heads", options.only_heads);
  add("--quantity", quantities);
  add("--rows", options.rows);
  add("--keys", options.keys);
  add("--cell", options.cell);
  add("--range", options.range);
  add("--scale", options.scale);
  for (const std::string& file : options.against) add("--against", file);
  if (options.paired) words.emplace_back("--paired");
  if (options.epsilon != none.epsilon) add("--epsilon", full_text(options.epsilon));
  if (options.top != none.top) add("--top", std::to_string(options.top));
  if (options.names) words.emplace_back("--names");
  add("--title", options.title);
  add("--points", options.points);
  add("--colour-map", options.colour_map);
  add("--width", options.width);
  add("--height", options.height);
  add("--theme", options.theme, none.theme);
  return words;
}

}  // namespace headroom
