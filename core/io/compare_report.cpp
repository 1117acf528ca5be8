#include "core/io/compare.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/format.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

// Columns: quantity, status, largest absolute and relative difference, where the absolute one is.
using Row = std::array<std::string, 5>;

// Columns are aligned by code points, so that "×" counts as one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

Row quantity_row(const QuantityComparison& quantity) {
  Row row{escape_for_terminal(quantity.name), std::string(status_name(quantity.status)), "", "", ""};
  std::replace(row[1].begin(), row[1].end(), '_', ' ');
  if (quantity.absolute.found) {
    row[2] = format("%.3g", quantity.absolute.difference);
    row[3] = format("%.3g", quantity.relative.difference);
    row[4] = describe_place(quantity.axes, quantity.absolute.at) +
             format(": %.9g, %.9g", quantity.absolute.value_a, quantity.absolute.value_b);
  }
  if (!quantity.first_a.empty()) {
    if (!row[4].empty()) row[4] += "; ";
    row[4] += describe_place(quantity.axes, quantity.first_at) + ": " + quantity.first_a + ", " + quantity.first_b;
  }
  if (!quantity.found_a.empty() || !quantity.found_b.empty()) {
    row[4] = quantity.found_a + (quantity.found_a.empty() || quantity.found_b.empty() ? "" : " | ") + quantity.found_b;
  }
  row[4] = escape_for_terminal(row[4]);
  if (quantity.differing > 0) {
    row[4] += format(" (%lld of %lld differ)", static_cast<long long>(quantity.differing),
                     static_cast<long long>(quantity.elements));
  }
  return row;
}

bool is_identical(const QuantityComparison& quantity) {
  return quantity.status == QuantityStatus::Equal && !quantity.absolute.found;
}

Json place_json(const QuantityComparison& quantity, const std::vector<std::int64_t>& at) {
  Json out = Json::object();
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::string& name = axis < quantity.axes.size() ? quantity.axes[axis] : std::string();
    // An axis without a name, or with one that is taken, goes by its number.
    const bool usable = !name.empty() && !out.contains(name);
    out[usable ? name : "axis_" + std::to_string(axis)] = at[axis];
  }
  return out;
}

Json extreme_json(const QuantityComparison& quantity, const ExtremeDifference& extreme) {
  if (!extreme.found) return nullptr;
  return {{"at", place_json(quantity, extreme.at)}, {"a", extreme.value_a}, {"b", extreme.value_b}};
}

Json quantity_json(const QuantityComparison& quantity) {
  Json out{{"name", quantity.name}, {"status", status_name(quantity.status)}};
  const bool compared = quantity.status == QuantityStatus::Equal || quantity.status == QuantityStatus::Different;
  if (!compared) {
    out["a"] = quantity.found_a.empty() ? Json() : Json(quantity.found_a);
    out["b"] = quantity.found_b.empty() ? Json() : Json(quantity.found_b);
    return out;
  }
  out["elements"] = quantity.elements;
  out["differing"] = quantity.differing;
  out["max_absolute"] = quantity.absolute.difference;
  out["max_absolute_at"] = extreme_json(quantity, quantity.absolute);
  out["max_relative"] = quantity.relative.difference;
  out["max_relative_at"] = extreme_json(quantity, quantity.relative);
  out["non_finite_mismatches"] = quantity.non_finite_mismatches;
  if (!quantity.first_a.empty()) {
    out["first_mismatch"] = {
        {"at", place_json(quantity, quantity.first_at)}, {"a", quantity.first_a}, {"b", quantity.first_b}};
  }
  return out;
}

}  // namespace

std::string_view status_name(QuantityStatus status) {
  switch (status) {
    case QuantityStatus::Equal: return "equal";
    case QuantityStatus::Different: return "different";
    case QuantityStatus::OnlyInA: return "only_in_a";
    case QuantityStatus::OnlyInB: return "only_in_b";
    case QuantityStatus::AxesDiffer: return "axes_differ";
    case QuantityStatus::TypesDiffer: return "types_differ";
  }
  return "unknown";
}

std::string describe_place(const std::vector<std::string>& axes, const std::vector<std::int64_t>& at) {
  if (at.empty()) return "–";
  std::string out;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    if (axis > 0) out += ", ";
    const bool named = axis < axes.size() && !axes[axis].empty();
    out += (named ? axes[axis] : "axis " + std::to_string(axis)) + " " + std::to_string(at[axis]);
  }
  return out;
}

std::string comparison_table(const FileComparison& comparison) {
  std::vector<Row> rows{{"quantity", "status", "max absolute", "max relative", "where: a, b"}};
  long long identical = 0;
  long long unequal = 0;
  for (const QuantityComparison& quantity : comparison.quantities) {
    if (quantity.status != QuantityStatus::Equal) ++unequal;
    if (is_identical(quantity)) {
      ++identical;
    } else {
      rows.push_back(quantity_row(quantity));
    }
  }
  std::string out;
  if (rows.size() > 1) {
    std::array<std::size_t, 5> widths{};
    for (const Row& row : rows) {
      for (std::size_t column = 0; column < row.size(); ++column) {
        widths[column] = std::max(widths[column], width(row[column]));
      }
    }
    for (const Row& row : rows) {
      std::string line;
      for (std::size_t column = 0; column < row.size(); ++column) {
        line += row[column] + std::string(widths[column] - width(row[column]) + 2, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
  }
  const auto total = static_cast<long long>(comparison.quantities.size());
  out += format("%lld quantities: %lld identical, %lld within the tolerance, %lld not equal (rtol %g, atol %g)\n",
                total, identical, total - identical - unequal, unequal, comparison.tolerance.relative,
                comparison.tolerance.absolute);
  return out;
}

std::string comparison_json(const FileComparison& comparison) {
  Json out{{"a", comparison.path_a},
           {"b", comparison.path_b},
           {"equal", comparison.equal()},
           {"rtol", comparison.tolerance.relative},
           {"atol", comparison.tolerance.absolute},
           {"quantities", Json::array()}};
  for (const QuantityComparison& quantity : comparison.quantities) out["quantities"].push_back(quantity_json(quantity));
  // Names and strings come from files: what is not UTF-8 is replaced.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace headroom
