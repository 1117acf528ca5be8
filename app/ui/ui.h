// The widgets: an immediate-mode layer on a Painter. A widget never changes the program's state: it queues a command
// line, which runs once the frame is drawn. What a widget must remember between frames lies in UiState. Main thread
// only.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/painter.h"
#include "app/plot/theme.h"
#include "app/ui/input.h"

namespace headroom {

using WidgetId = std::uint64_t;

struct Interaction {
  bool hovered = false;   // the pointer is on it, nothing lies above, and no other widget is held
  bool pressed = false;   // the left button went down on it in this frame
  bool held = false;      // the left button went down on it and is still down
  bool released = false;  // let go, wherever
  bool clicked = false;   // let go on it without having dragged
  bool double_clicked = false;
  bool right_clicked = false;
  bool dragging = false;  // held and moved by more than 4 pixels
  Vec2 drag;              // since the last frame, while dragging
  Vec2 pressed_at;        // where the button went down
  float wheel = 0.0f;     // notches while hovered; taken: no other widget sees them
};

struct MenuItem {
  std::string title;
  std::string detail;   // dimmed, after the title
  std::string command;  // a command line; its key, and why it is disabled, come from the table of commands
  bool checked = false;
  bool separator = false;       // a hairline above it
  std::vector<MenuItem> items;  // a submenu
};

struct Choice {
  std::string title;
  std::string command;
  bool selected = false;
  std::string disabled;  // the reason; empty: it can be chosen
};

// Card: a plain button on a raised ground. Ghost: no ground of its own until the pointer is over it.
enum class ButtonStyle : std::uint8_t { Plain, Primary, Ghost, Card };
enum class Icon : std::uint8_t {
  Play,
  Stop,
  Warning,
  Error,
  Close,
  Maximise,
  Restore,
  ChevronDown,
  ChevronRight,
  Check,
  Drop,
  Search,
  Pin,
  Folder,
  Copy,
  Info
};

// How parts of a text are told apart: every other one is shaded, a line stands where each ends, or not at all.
enum class PartStyle { Shades, Marks, Off };

struct TextFieldOptions {
  std::string hint;
  bool multiline = false;
  bool mono = false;
  bool focus = false;        // takes the keyboard in this frame
  bool select_stem = false;  // with it, what stands before the last dot is selected
  std::string prefix;        // dimmed, inside at the left: "filter"
  bool clear_button = false;
  std::span<const std::size_t> ends;  // of parts of the text (tokens): bytes, ascending
  PartStyle parts = PartStyle::Shades;
  std::size_t read_to = std::string::npos;  // the text from this byte on is dimmed: it is not read
  bool line_numbers = false;                // at the left, of a multiline text's own lines
  bool keeps_tab = false;                   // Tab is its own, and does not leave it
  bool bare = false;                        // no ground and no frame; the text begins at the area's left edge
  bool blanks = false;                      // those that a line of mono text begins or ends with are seen, as ␣
  float size = 12.0f;                       // of the letters
};

struct TextFieldResult {
  bool changed = false, submitted = false,
       cancelled = false;                 // cancelled: Escape; submitted: Enter (multiline: Ctrl+Enter)
  std::size_t caret = std::string::npos;  // the byte that it stands before; npos: the field has no keyboard
};

// Whether a command line can run now, and how it is called elsewhere: asked for menus, buttons and palettes.
class CommandLookup {
 public:
  virtual ~CommandLookup() = default;
  [[nodiscard]] virtual std::string disabled_reason(std::string_view command_line) const = 0;  // empty: enabled
  [[nodiscard]] virtual std::string key_text(std::string_view command_line) const = 0;         // "Ctrl+R" or empty
};

// What the widgets remember. Owned by the application; opaque to panels.
struct UiState;
struct UiStateDeleter {
  void operator()(UiState* memory) const;
};
using UiStatePtr = std::unique_ptr<UiState, UiStateDeleter>;
[[nodiscard]] UiStatePtr make_ui_state();
// The same with every menu closed and nothing in hand: for a frame that the person does not see.
[[nodiscard]] UiStatePtr copy_at_rest(const UiState& memory);

enum class StopKind : std::uint8_t { Panel, Press, Slider, Field };  // what Tab reaches

class Clipboard {
 public:
  virtual ~Clipboard() = default;
  [[nodiscard]] virtual std::string get() = 0;
  virtual void set(const std::string& text) = 0;
};

// The pointer belongs to the topmost thing of the previous frame, which is what the person saw: of nested areas the
// smallest one has it, a menu or a modal overlay has it alone. The wheel goes to the innermost scroll() view, else to
// the innermost interact() area. Texts are drawn with control characters and bidirectional overrides made visible.
class Ui {
 public:
  Ui(Painter& painter, const Theme& theme, const Input& input, UiState& memory, const CommandLookup& commands,
     Clipboard& clipboard);
  ~Ui();
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;

  Painter& painter;
  const Theme& theme;
  const Input& input;
  [[nodiscard]] const TextMeasure& measure() const { return painter.measure(); }
  [[nodiscard]] float width(std::string_view text, const TextStyle& style) const;

  // Scopes of ids, so that equal names in two panels are two widgets.
  void push_id(std::string_view name);
  void pop_id();
  [[nodiscard]] WidgetId id(std::string_view name) const;

  // The keyboard goes through what is drawn by Tab, in the order of the calls: through panels, each followed by its
  // controls, and controls of no panel. Between these two the controls are those of the panel of that name, whose
  // frame is `area`; Tab at it queues "panel.focus NAME". `focused`: it has the focus by that command.
  void panel_stop(std::string_view name, Rect area, bool focused);
  void end_panel_stop();
  // The keyboard is at a control, which has its ring and takes Enter and Space.
  [[nodiscard]] bool control_focused() const;
  // This key is not a command's now.
  [[nodiscard]] bool takes(const KeyPress& press) const;

  // Clips what is drawn and where widgets take the pointer.
  void push_clip(Rect clip);
  void pop_clip();

  // What a panel keeps between frames by name, within the scopes of ids; forgotten when it was not asked for in a
  // frame.
  [[nodiscard]] std::string& kept_text(std::string_view name);
  [[nodiscard]] double& kept_number(std::string_view name, double initial = 0.0);
  [[nodiscard]] std::any& kept_value(std::string_view name);
  // True in the first frame in which this name is asked for, and again after a frame without it.
  [[nodiscard]] bool appeared(std::string_view name);

  // Draws menus, tooltips and the like above everything; last call of a frame. True if another frame is due at once;
  // what is due later (a blinking caret, a tooltip) is what wait_seconds() says.
  bool finish();
  // Something changes by itself after so many seconds.
  void wake_in(double seconds);
  // Seconds until something changes by itself; infinite if nothing does.
  [[nodiscard]] double wait_seconds() const;
  [[nodiscard]] Cursor cursor() const;
  // Command lines queued in this frame, in order; the queue is empty afterwards.
  [[nodiscard]] std::vector<std::string> take_commands();
  void run(std::string command_line);
  // A text field has the keyboard, or had it when the frame began: single keys are text, not commands.
  [[nodiscard]] bool wants_text() const;
  // A menu is open, or was when the frame began: its keys are not commands.
  [[nodiscard]] bool popup_open() const;
  // Takes all keys of this frame, as a menu does.
  void capture_keys();
  // Whether this key was pressed (or repeats) in this frame with exactly these modifiers and no menu is open.
  [[nodiscard]] bool key(Key key, Modifiers modifiers = {}) const;
  void close_popups();

  // From here to end_overlay() widgets lie above the panels; `area` catches the pointer (modal: everything does).
  void begin_overlay(std::string_view name, Rect area, bool modal);
  void end_overlay();

  [[nodiscard]] Interaction interact(std::string_view id, Rect area, Cursor cursor = Cursor::Arrow);
  // The same for a control that Tab reaches, and that Enter and Space press there: it is clicked.
  [[nodiscard]] Interaction pressable(std::string_view id, Rect area, bool enabled = true,
                                      Cursor cursor = Cursor::Arrow);
  [[nodiscard]] bool hovered(Rect area) const;  // the pointer is there and nothing lies above
  void set_cursor(Cursor cursor);
  void tooltip(Rect area, std::string_view text);  // after the pointer rested there for 0.4 s; '\n' parts lines

  // Draws text that fits `width`: elided in the middle, the whole of it in a tooltip.
  // Returns the width it took.
  float label(Vec2 baseline, std::string_view text, const TextStyle& style, float width);
  // The same with the text's vertical centre at `y` and, by `align`, its left end, centre or right end at `x`.
  float label_at(float x, float y, std::string_view text, const TextStyle& style, float width,
                 Painter::Align align = Painter::Align::Left);
  // Wrapped to `width`; returns its height (draw = false: only measures). At most `max_lines`, the last elided.
  float paragraph(Vec2 top_left, std::string_view text, const TextStyle& style, float width, float line_height,
                  bool draw = true, int max_lines = 1000);
  // Each returns true when it was chosen, after having queued its command (if not empty).
  bool button(Rect area, std::string_view text, std::string_view command, ButtonStyle style = ButtonStyle::Plain,
              std::optional<Icon> icon = {});
  bool icon_button(Rect area, Icon icon, std::string_view command, std::string_view tip);
  bool link(Vec2 baseline, std::string_view text, std::string_view command, const TextStyle& style);
  // One frame with parts side by side, as wide as its texts need; returns its width (draw = false: only measures).
  // `chosen`: the one that was pressed in this frame, for choices that are no commands; left as it is without one.
  float segmented(Vec2 top_left, float height, std::span<const Choice> choices, bool draw = true,
                  std::size_t* chosen = nullptr);
  // "label value ▾"; opens a menu below.
  void combo(std::string_view id, Rect area, std::string_view label, std::string_view value,
             const std::function<std::vector<MenuItem>()>& items);
  void menu_button(std::string_view id, Rect area, std::string_view text,
                   const std::function<std::vector<MenuItem>()>& items);
  // Opens the menu of a menu_button, combo or context_menu by its id, as a key would.
  void open_menu(std::string_view id);
  // Opens on a right click inside `area`.
  void context_menu(std::string_view id, Rect area, const std::function<std::vector<MenuItem>()>& items);
  bool check_box(Rect area, std::string_view text, bool checked, std::string_view command);
  [[nodiscard]] float button_width(std::string_view text, bool with_icon = false) const;
  bool radio(Rect area, std::string_view text, bool selected, std::string_view command);
  // The value while it is dragged; nothing otherwise.
  std::optional<double> slider(std::string_view id, Rect area, double value, double low, double high,
                               bool enabled = true);
  TextFieldResult text_field(std::string_view id, Rect area, std::string& value, const TextFieldOptions& options = {});
  void progress(Rect area, double fraction);  // 4 px high in the middle of the area; negative: unknown
  void icon(Icon icon, Vec2 centre, float size, Color color);
  void key_cap(Vec2 left_centre, std::string_view text);  // "Ctrl+P" as a cap
  [[nodiscard]] float key_cap_width(std::string_view text) const;
  // Scrolling of `content` pixels in `view`: the offset, a whole multiple of `step` where step > 0; draws the bar at
  // the right edge when there is something to scroll.
  float scroll(std::string_view id, Rect view, float content, float step = 0.0f);
  void scroll_to(std::string_view id, float offset_top,
                 float offset_bottom);  // makes that range visible in the next frame
  // A divider that was dragged: how far in this frame.
  float splitter(std::string_view id, Rect area, bool vertical);

 private:
  struct Frame;
  void move_focus();
  // True: the keyboard is at it.
  bool add_stop(WidgetId wid, Rect area, StopKind kind);
  [[nodiscard]] bool pressed_by_key() const;
  [[nodiscard]] std::optional<double> stepped_by_key(double value, double low, double high) const;
  void finish_focus();
  void finish_menus();
  void finish_tooltip();
  void open_popup(WidgetId owner, Rect anchor, int kind);
  bool menu_open(WidgetId owner) const;
  void show_menu(WidgetId owner, const std::function<std::vector<MenuItem>()>& items);

  std::unique_ptr<Frame> frame_;
  UiState& memory_;
  const CommandLookup& commands_;
  Clipboard& clipboard_;
};

}  // namespace headroom
