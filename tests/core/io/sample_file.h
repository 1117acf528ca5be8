// A small run file with every element type, axes of every kind and the awkward shapes; the Python interop test knows
// the same values by formula.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/io/run_file_writer.h"

namespace headroom::test {

inline constexpr std::int64_t kLayers = 3;
inline constexpr std::int64_t kHeads = 5;
inline constexpr std::int64_t kPositions = 2100;  // a layer of /rows is above 64 KiB only with all heads

// Exact in float32, different everywhere; NaN in one place of each layer.
inline double sample_lse(std::int64_t layer, std::int64_t head, std::int64_t position) {
  if (head == 1 && position == 7) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(layer * 16384 + head * 2200 + position) / 4.0 - 100.0;
}

// False with the error's text in `failure` where a step fails.
inline bool fill_sample(RunFileWriter& writer, std::string& failure) {
  const auto ok = [&](const Result<void>& result) {
    if (!result) failure = describe(result.error());
    return result.has_value();
  };
  using Index = std::vector<std::int64_t>;
  bool good = ok(writer.set_attribute("", "title", std::string("Sample ✓ of every kind"))) &&
              ok(writer.set_attribute("", "empty", std::string())) &&
              ok(writer.set_attribute("", "seed", std::int64_t{-7})) && ok(writer.set_attribute("", "epsilon", 1e-5)) &&
              ok(writer.set_attribute("", "long_text", std::string(100'000, 'x'))) &&
              ok(writer.set_attribute("program", "overrides", std::string("[]")));

  const auto axis = [&](AxisDef definition) { good = good && ok(writer.add_axis(definition)); };
  axis({.group = "",
        .name = "layer",
        .size = kLayers,
        .values = {0, 2, 5},
        .type = ElementType::Int32,
        .labels = {},
        .units = "1",
        .long_name = "model layer"});
  axis({.group = "",
        .name = "head",
        .size = kHeads,
        .values = {},
        .type = ElementType::Int32,
        .labels = {},
        .units = "",
        .long_name = ""});
  axis({.group = "",
        .name = "quantile",
        .size = 2,
        .values = {0.25, 0.5},
        .type = ElementType::Float64,
        .labels = {},
        .units = "1",
        .long_name = "quantile"});
  axis({.group = "",
        .name = "bound",
        .size = 2,
        .values = {},
        .type = ElementType::String,
        .labels = {"softmax", "dïff"},
        .units = "",
        .long_name = "bound"});
  axis({.group = "rows",
        .name = "position",
        .size = kPositions,
        .values = {},
        .type = ElementType::Int32,
        .labels = {},
        .units = "",
        .long_name = ""});
  axis({.group = "",
        .name = "nothing",
        .size = 0,
        .values = {},
        .type = ElementType::Int32,
        .labels = {},
        .units = "",
        .long_name = ""});

  const auto dataset = [&](const std::string& group, const std::string& name, std::vector<std::string> axes,
                           ElementType type, bool missing) {
    DatasetDef definition;
    definition.group = group;
    definition.name = name;
    definition.axes = std::move(axes);
    definition.type = type;
    definition.units = type == ElementType::Float32 ? "nat" : "1";
    definition.long_name = "long name of " + name;
    definition.definition = "definition of " + name;
    definition.attributes = {{"source", "metrics"}};
    definition.missing_values = missing;
    good = good && ok(writer.add_dataset(definition));
  };
  dataset("", "sink_null", {}, ElementType::Float64, false);
  dataset("", "kv_head", {"layer", "head"}, ElementType::Int32, true);
  dataset("", "attention_kind", {"layer"}, ElementType::String, false);
  dataset("", "inside", {"layer", "head", "bound"}, ElementType::Float32, false);
  dataset("", "none", {"layer", "nothing"}, ElementType::Float32, false);
  dataset("", "untouched", {"head", "quantile"}, ElementType::Float64, false);
  dataset("rows", "lse", {"layer", "head", "position"}, ElementType::Float32, false);
  dataset("rows", "is_special", {"position"}, ElementType::UInt8, false);
  dataset("hist", "count", {"layer", "head"}, ElementType::Int64, false);

  const auto write = [&](const std::string& path, const Index& start, const Index& count,
                         const std::vector<double>& values) {
    good = good && ok(writer.write(path, start, count, values));
  };
  write("sink_null", {}, {}, {0.125});
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    std::vector<double> lse;
    std::vector<double> kv;
    std::vector<double> counts;
    std::vector<double> inside;
    for (std::int64_t head = 0; head < kHeads; ++head) {
      kv.push_back(head == 4 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(head / 2));
      counts.push_back(static_cast<double>(layer * 4294967296 + head));
      for (int bound = 0; bound < 2; ++bound)
        inside.push_back(static_cast<double>(layer * 100 + head * 10 + bound) / 8);
      for (std::int64_t position = 0; position < kPositions; ++position)
        lse.push_back(sample_lse(layer, head, position));
    }
    write("rows/lse", {layer, 0, 0}, {1, kHeads, kPositions}, lse);
    write("kv_head", {layer, 0}, {1, kHeads}, kv);
    write("hist/count", {layer, 0}, {1, kHeads}, counts);
    write("inside", {layer, 0, 0}, {1, kHeads, 2}, inside);
  }
  write("rows/is_special", {1}, {2}, {1, 1});
  const Index last{1};
  const std::vector<std::string> kinds{"softmax", "diff_v2 λ"};
  return good && ok(writer.write_strings("attention_kind", last, Index{2}, kinds));
}

// Empty where the file is written, otherwise the error's text.
inline std::string write_sample(const std::filesystem::path& path, bool force = false) {
  auto writer = RunFileWriter::create(path, {.force = force, .inputs = {}});
  if (!writer) return describe(writer.error());
  std::string failure;
  if (!fill_sample(**writer, failure)) return failure;
  const Result<void> committed = (*writer)->commit();
  return committed ? std::string() : describe(committed.error());
}

}  // namespace headroom::test
