// What the side panels of what-if and compare are made of: a column of parts that scrolls, headings, lines of names and
// values; and the bars of attention received that both panels have. Main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"
#include "core/compare/run_difference.h"

namespace headroom {

// Parts one below the other. What does not lie wholly in view is not drawn, so that no text is cut.
class PartColumn {
 public:
  // Parts are as wide as `area`, less the padding at both sides.
  PartColumn(PanelContext& context, Rect area) : context_(context), area_(area) {}
  void add(float height, std::function<void(Rect)> draw);
  void space(float height);
  // A title with a hint at its right, a hairline above it unless it is the first.
  void heading(std::string title, std::string hint);
  // "name   value", the value in mono.
  void value(std::string name, std::string value, Color color);
  // Text that wraps.
  void note(std::string text, Color color);
  void draw(std::string_view id) { draw(id, area_); }
  void draw(std::string_view id, Rect area);
  [[nodiscard]] float height() const { return height_; }

 private:
  struct Part {
    float top, height;
    std::function<void(Rect)> draw;
  };
  PanelContext& context_;
  Rect area_;
  std::vector<Part> parts_;
  float height_ = 0.0f;
};

// Grouped bars: attention received by keys in A and B, what each changes by above it.
struct ReceivedBars {
  std::string name_a, name_b;
  Color a, b;
  std::span<const KeyChange> keys;
  const RunSnapshot* run = nullptr;    // its tokens name the keys
  TokenAxis axis = TokenAxis::Tokens;  // those of this sequence
  int decimals = 2;
  std::string none;  // said where there are no keys
};
// What stands above them: of all keys key 0 may have lost most, or nothing. `wide`: with what the bars are.
[[nodiscard]] std::string received_title(std::span<const KeyChange> keys, bool wide);
void draw_received_bars(PanelContext& context, Rect area, const ReceivedBars& bars);

// Attention received by every key, net for differential heads; empty where the run kept none.
[[nodiscard]] std::span<const float> attention_received(const LayerSnapshot& layer, std::int64_t head);

}  // namespace headroom
