// What /program and /weights of a run file hold, and the kinds of attention: of each layer from its record, of the
// whole model from its description. Handed out region by region, to whoever writes or keeps it. Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/measure/layer_record.h"
#include "core/run/run_layout.h"

namespace headroom {

// As RunFileWriter::write and write_strings take them: `path` of a dataset that define_run defines.
struct RegionSink {
  std::function<Result<void>(std::string_view path, std::span<const std::int64_t> start,
                             std::span<const std::int64_t> count, const std::vector<double>& values)>
      numbers;
  std::function<Result<void>(std::string_view path, std::span<const std::int64_t> start,
                             std::span<const std::int64_t> count, const std::vector<std::string>& values)>
      texts;
};
[[nodiscard]] RegionSink region_sink(RunFileWriter& writer);

// Of the layer at place `l` of the axis, as it was measured.
[[nodiscard]] Result<void> layer_program(const LayerRecord& record, const RunShape& shape, std::int64_t l,
                                         const RegionSink& to);
// Parameters by their account, and what the formulas need of a layer beside its head programs.
[[nodiscard]] Result<void> model_parameters(const ModelSpec& model, const RunShape& shape, const RegionSink& to);
[[nodiscard]] Result<void> model_program(const ModelSpec& model, const RunShape& shape, const RegionSink& to);

}  // namespace headroom
