// A figure: panels as values, made of run files by the kinds (figure_kinds.h), placed on a page and drawn on any
// painter. A panel knows no widget, no window and no file format. Values are immutable once made; layout is pure and
// safe from any thread, drawing is as the painter says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/figures/figure_data.h"
#include "app/figures/page_style.h"
#include "app/figures/rich_text.h"
#include "core/base/result.h"
#include "core/model/head_address.h"
#include "core/run/quantity_info.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct FigureHistory;  // figure_runs.h

// Attribute of a run that was read of a file: the file's SHA-256, 64 digits.
inline constexpr const char* kFileHash = "file_sha256";
// And the first sentence of what the self-check found wrong in a corpus.
inline constexpr const char* kFirstViolation = "first_violation";

// One file: of a run, or of the history of a training.
struct FigureRun {
  std::filesystem::path path;
  std::shared_ptr<const RunSnapshot> run;
  std::shared_ptr<const FigureHistory> history = nullptr;

  [[nodiscard]] std::string name() const { return path.filename().string(); }  // in messages
  [[nodiscard]] std::string attribute(std::string_view name) const;            // of the file's root; empty: it has none
};

// What is asked for; what is left empty is the kind's choice.
struct FigureChoice {
  std::string kind;
  std::vector<HeadRef> heads;                    // the first is *the* head
  std::vector<std::int64_t> layers, only_heads;  // what is drawn of the others
  std::vector<QuantityRef> quantities;
  std::vector<std::string> own_quantities;                // as written; of kinds whose quantities are not of every run
  std::optional<std::array<std::int64_t, 2>> rows, keys;  // half open
  std::optional<std::array<std::int64_t, 2>> cell;        // lens of a map
  std::optional<double> low, high;                        // of colours, or of the value axis
  std::optional<ScaleKind> scale;
  std::optional<double> width_mm, height_mm;
  Colours colours = Colours::Headroom;
  SignedColours signed_colours = SignedColours::Headroom;
  enum class Points : std::uint8_t { Auto, Vector, Image } points = Points::Auto;
  double epsilon = 0.3;
  std::int64_t top = 12;
  bool names = false;              // model · head at the right
  std::vector<FigureRun> against;  // the second side of a comparison, in the order of the runs
  bool paired = false;             // heads of two checkpoints are pairs
  // By quantity: the values of all panels of a page whose colours have one range.
  std::map<std::string, std::vector<double>, std::less<>> together;
};

// Above this many marks a panel's points are one picture, unless vectors are asked for.
inline constexpr std::size_t kMostVectorMarks = 20000;
[[nodiscard]] inline bool as_image(const FigureChoice& choice, std::size_t marks) {
  return choice.points == FigureChoice::Points::Image ||
         (choice.points == FigureChoice::Points::Auto && marks > kMostVectorMarks);
}

// Around an inner rectangle, in points.
struct PanelRoom {
  float left = 0.0f, right = 0.0f, top = 0.0f, bottom = 0.0f;  // top: below the title line
};
struct PanelFrame {
  Rect outer, inner;
};

// The name of a series in its colour.
struct SeriesName {
  RichText text;
  Color color;
};

class FigurePanel {
 public:
  virtual ~FigurePanel() = default;

  // `inner`: about how large the inner rectangle will be.
  [[nodiscard]] virtual PanelRoom room(const Page& page, Vec2 inner) const = 0;
  // Below this the panel cannot be read.
  [[nodiscard]] virtual Vec2 least_inner(const Page& page) const {
    return {page.style.mm(14.0f), page.style.mm(10.0f)};
  }
  // Of an inner rectangle of that width, where the content asks for it, as text does; 0: it takes what there is.
  [[nodiscard]] virtual float needed_height(const Page& /*page*/, float /*width*/) const { return 0.0f; }
  // All but letter and titles.
  virtual void draw(Painter& painter, const PanelFrame& frame, const Page& page) const = 0;
  // How much of the title line draw() wrote behind the title.
  [[nodiscard]] virtual float title_written(const PanelFrame& /*frame*/, const Page& /*page*/) const { return 0.0f; }
  virtual void add_data(FigureData& data) const = 0;
  // One paragraph in the markup of rich_text.h: what the picture does not say, but for `source`.
  [[nodiscard]] virtual std::string caption() const = 0;

  std::string kind, name;  // "sinks", "layers": what a composed figure asks for
  std::string source;      // of which run, as its caption ends; said once for panels of the same
  std::string id;          // "a": in files and tables; set_letters() tells the panels of a figure apart
  std::string letter;      // as it is drawn; empty: none
  RichText title, right;   // the y title after the letter; head or group at the right end
  RichText brief;          // the title where that has no room; empty: there is no shorter one
  std::string model;       // before `right` as far as there is room, where names are asked for (title_line.h)
  float weight = 1.0f;     // share of the row's width
  // Left of `right`, in the title line: of series that have no room for a name beside them.
  std::vector<SeriesName> series_names;
  bool lettered = true;  // false: words alone, which nothing refers to
  bool bare_y = false;   // the panel at its left has the same y axis with its numbers
};

struct Figure {
  std::vector<std::unique_ptr<FigurePanel>> panels;
  std::vector<std::vector<std::size_t>> rows;  // panels side by side, from the top
  double width_mm = 84.0, height_mm = 58.0;    // as asked for, else the kind's own; height 0: as its rows ask for
  std::vector<float> row_heights_mm;           // of inner rectangles; empty: rows of one height fill the page
  // Of a page in columns: how many each panel takes, by its place among the panels, and the columns' own shares of the
  // width. Empty: rows know nothing of each other.
  std::vector<std::size_t> columns;
  std::vector<float> column_shares;
  std::vector<float> row_shares;   // of what rows without such heights leave for them; empty: all alike
  float gap_mm = 5.0f;             // between panels
  std::string title;               // of the whole page, above the panels; empty: none
  std::vector<std::string> notes;  // for stderr: what was chosen or left out
};

// Panels side by side where the figure is at least that wide, else below each other; its height is that of a row, times
// rows, where none is asked for.
void arrange(Figure& figure, const FigureChoice& choice, double usual_width_mm, double side_by_side_from_mm,
             double row_height_mm);
// The page becomes as much higher as the title takes, where its height is its own choice.
void set_title(Figure& figure, std::string title, bool own_height, bool slides);
void set_letters(Figure& figure, std::string_view form);  // "a", "A", "(a)", "none"

}  // namespace headroom
