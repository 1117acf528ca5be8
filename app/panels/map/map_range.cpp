#include "app/panels/map/map_range.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/parts/data_range.h"
#include "app/plot/quantiles.h"
#include "app/plot/theme.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr double kTail = 0.005, kSignedTail = 0.001;

}  // namespace

double log_floor(std::int64_t length) {
  return std::min(1e-4,
                  std::pow(10.0, std::round(-std::log10(static_cast<double>(std::max<std::int64_t>(1, length))))));
}

ScaleKind shown_scale(const MapSubject& subject, const MapView& view) {
  const ScaleKind usual = subject.is_signed ? ScaleKind::Symlog : ScaleKind::Log10;
  const ScaleKind wanted = view.scale.value_or(usual);
  return subject.is_signed && wanted == ScaleKind::Log10 ? ScaleKind::Symlog : wanted;  // a logarithm has no sign
}

std::vector<std::int64_t> excluded_keys(const MapView& view, const Selection& selection) {
  std::vector<std::int64_t> out;
  if (!view.exclude_sink) return out;
  out.push_back(0);
  if (selection.key && *selection.key != 0) out.push_back(*selection.key);
  return out;
}

bool needs_data_range(const MapSubject& subject, const MapView& view) {
  (void)subject;
  return !view.range;
}

DataRange data_range(const MapSubject& subject, const MapView& view, std::span<const float> values) {
  const NumberView view_of(values);
  RobustRange range;
  if (subject.is_signed || shown_scale(subject, view) == ScaleKind::Symlog) {
    range = robust_signed_range(view_of, kSignedTail);
  } else if (shown_scale(subject, view) == ScaleKind::Log10) {
    // The largest is a sink or a token itself, and is what a map is looked at for.
    const double decades = -std::log10(log_floor(subject.length));
    const RobustRange all = robust_log_range(view_of, 0.0, decades);
    range = robust_log_range(view_of, kTail, decades);
    range.high = all.high;
    range.low = std::clamp(range.low, range.high * std::pow(10.0, -decades), 0.1 * range.high);
    range.clips_low = true;
    range.clips_high = false;
  } else {
    range = robust_range(view_of, kTail);
    if (!subject.is_logits) {  // weights begin at 0
      range.low = 0.0;
      range.clips_low = false;
    }
  }
  return {range.low, range.high, range.clips_low, range.clips_high};
}

MapRange map_range(const MapSubject& subject, const MapView& view, const std::optional<DataRange>& data,
                   const Theme& theme) {
  MapRange out;
  ColorScale& scale = out.scale;
  scale.kind = shown_scale(subject, view);
  const bool diverging = subject.is_signed || scale.kind == ScaleKind::Symlog;
  scale.map = diverging ? theme.diverging() : theme.sequential();
  double low = 0.0, high = 1.0;
  std::string how;
  if (view.range) {
    low = view.range->first;
    high = view.range->second;
    out.automatic = false;
    how = "range fixed, ";
    if (scale.kind == ScaleKind::Log10 && low <= 0.0) low = high > 0.0 ? high * 1e-4 : 1e-4;
    if (diverging) {
      high = std::max(std::abs(low), std::abs(high));
      low = -high;
    }
    out.clips_low = diverging || low > (subject.is_logits ? -1e300 : 0.0);
    out.clips_high = subject.is_logits || high < 1.0;
  } else if (data) {
    low = data->low;
    high = data->high;
    out.clips_low = data->clips_low || (scale.kind == ScaleKind::Log10 && low > 0.0);
    out.clips_high = data->clips_high;
    how = data->in_view ? "automatic, in view " : "automatic, ";
  } else {
    how = "automatic, ";
    if (diverging) {
      high = subject.is_logits ? 10.0 : 1.0;
      low = -high;
    } else if (scale.kind == ScaleKind::Log10) {
      low = log_floor(subject.length);
      out.clips_low = true;
    }
  }
  if (!(high > low)) high = low + 1.0;
  scale.low = static_cast<float>(low);
  scale.high = static_cast<float>(high);
  if (scale.kind == ScaleKind::Symlog)
    scale.threshold =
        static_cast<float>(std::pow(10.0, std::floor(std::log10(high)) - (subject.is_logits ? 1.0 : 2.0)));
  if (out.statement.empty())
    out.statement = how + (diverging ? "±" + short_text(high) : short_text(low) + " … " + short_text(high));
  return out;
}

MapRange overview_range(const MapSubject& subject, const MapView& view, const Theme& theme) {
  MapView usual = view;
  usual.scale.reset();
  usual.range.reset();
  usual.exclude_sink = false;
  return map_range(subject, usual, {}, theme);
}

}  // namespace headroom
