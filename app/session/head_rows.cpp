#include "app/session/head_rows.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/base/number_text.h"
#include "core/run/head_table.h"

namespace headroom {
namespace {

// "12,262,"␣the"": what each line begins with.
std::string position_cells(const RunSnapshot& run, std::size_t position) {
  std::string text = std::to_string(position) + ",";
  if (run.prompt && position < run.prompt->ids.size()) text += std::to_string(run.prompt->ids[position]);
  text += ",";
  if (run.prompt && position < run.prompt->texts.size()) text += csv_text(run.prompt->texts[position]);
  return text;
}

}  // namespace

std::string head_rows_csv(const RunSnapshot& run, const LayerSnapshot& layer, std::int64_t head) {
  const auto length = static_cast<std::size_t>(layer.length);
  std::vector<std::span<const float>> columns;
  std::string csv = "position,id,text";
  for (const auto& [name, unused] : layer.series) {
    if (!name.starts_with("rows/") && !name.starts_with("keys/")) continue;
    const std::span<const float> values = layer.row_values(name, head);
    if (length == 0 || values.empty() || values.size() % length != 0) continue;
    const std::size_t parts = values.size() / length;
    for (std::size_t part = 0; part < parts; ++part) {
      csv += "," + name + (parts > 1 ? "[" + std::to_string(part) + "]" : "");
      columns.push_back(values.subspan(part * length, length));
    }
  }
  csv += "\n";
  for (std::size_t i = 0; i < length; ++i) {
    csv += position_cells(run, i);
    for (const std::span<const float> column : columns) csv += "," + full_text(static_cast<double>(column[i]));
    csv += "\n";
  }
  return csv;
}

std::string tokens_csv(const RunSnapshot& run) {
  std::string csv = "position,id,text\n";
  for (std::size_t i = 0; run.prompt && i < run.prompt->ids.size(); ++i) csv += position_cells(run, i) + "\n";
  return csv;
}

}  // namespace headroom
