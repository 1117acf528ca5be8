// The strip beside a head's number: every head of the model as a thin line, this head among them. Pure
// layout, safe from any thread; drawing on the main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/plot/number_view.h"
#include "app/plot/painter.h"
#include "app/plot/theme.h"

namespace headroom {

// The range of a strip: all finite values of all heads, and the threshold. Where a few extreme values would press the
// rest together (the range is more than three times that from the 2 % to the 98 % quantile), those quantiles widened by
// a tenth; values beyond stand at the end, and the strip shows an arrow there.
struct StripRange {
  double low = 0.0, high = 1.0;
  bool clips_low = false, clips_high = false;
  [[nodiscard]] bool empty() const { return !(high > low); }  // no finite values, or all the same
};
[[nodiscard]] StripRange strip_range(NumberView all, std::optional<double> threshold = {});

struct StripMark {
  Rect rect;
  float opacity = 1.0f;  // of heads: 30 % each, more where several share a pixel column
  enum class Role : std::uint8_t { Head, Threshold, Selected } role = Role::Head;
};
// Lines of 1 px for all heads (one mark per pixel column), then the threshold, then the selected head 3 px wide and
// inside the rectangle. A head without a finite value has no line. All values the same: one line in the middle.
[[nodiscard]] std::vector<StripMark> lay_out_strip(const Rect& rect, NumberView all, double selected,
                                                   std::optional<double> threshold = {});
void draw_strip(Painter& painter, const Rect& rect, NumberView all, double selected, std::optional<double> threshold,
                const Theme& theme);
// What the strip says on hover about its ends: "", "values below 0.1 stand at the left end", ….
[[nodiscard]] std::string strip_hint(const StripRange& range, int decimals);

}  // namespace headroom
