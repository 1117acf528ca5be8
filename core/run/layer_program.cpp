#include "core/run/layer_program.h"

#include <algorithm>
#include <cstddef>

#include "core/measure/program_fields.h"

namespace headroom {
namespace {

Result<void> head_programs(const LayerRecord& record, const RunShape& shape, std::int64_t l, const RegionSink& to) {
  const std::size_t heads = record.heads.size();
  for (const ProgramField& field : program_fields()) {
    if (!field.get && !field.get_text) continue;
    std::vector<std::int64_t> count = {1, static_cast<std::int64_t>(heads)};
    std::size_t size = 1;
    for (const std::int64_t extent : extents(field.quantity, shape)) {
      count.push_back(extent);
      size *= static_cast<std::size_t>(extent);
    }
    std::vector<std::int64_t> start(count.size(), 0);
    start[0] = l;
    if (field.get_text) {
      std::vector<std::string> texts;
      for (const HeadRecord& head : record.heads) texts.push_back(field.get_text(head));
      HEADROOM_TRY_VOID(to.texts(path_of(field.quantity), start, count, texts));
      continue;
    }
    std::vector<double> values(heads * size, -1.0);
    for (std::size_t h = 0; h < heads; ++h) field.get(record.heads[h], std::span(values).subspan(h * size, size));
    HEADROOM_TRY_VOID(to.numbers(path_of(field.quantity), start, count, values));
  }
  return {};
}

Result<void> learned_biases(const LayerRecord& record, const RunShape& shape, std::int64_t l, const RegionSink& to) {
  if (shape.bias_behind < 0 || !record.bias) return {};
  const DistanceBias& bias = *record.bias;
  for (std::size_t h = 0; h < record.heads.size(); ++h) {
    const std::int64_t start[] = {l, static_cast<std::int64_t>(h), shape.bias_ahead - bias.ahead},
                       count[] = {1, 1, bias.distances()};
    const double* first = bias.of_head(record.heads[h].head) - bias.ahead;
    HEADROOM_TRY_VOID(
        to.numbers("program/distance_bias", start, count, std::vector<double>(first, first + bias.distances())));
  }
  return {};
}

}  // namespace

RegionSink region_sink(RunFileWriter& writer) {
  return {
      [&writer](std::string_view path, std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                const std::vector<double>& values) { return writer.write(path, start, count, values); },
      [&writer](std::string_view path, std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                const std::vector<std::string>& values) { return writer.write_strings(path, start, count, values); }};
}

Result<void> layer_program(const LayerRecord& record, const RunShape& shape, std::int64_t l, const RegionSink& to) {
  const std::int64_t layer_start[] = {l}, one[] = {1};
  const std::vector<std::string> kind = {record.kind};
  HEADROOM_TRY_VOID(to.texts("attention_kind", layer_start, one, kind));
  const std::vector<double> init = {record.lambda_init};
  HEADROOM_TRY_VOID(to.numbers("weights/lambda_init", layer_start, one, init));
  const std::int64_t cube_start[] = {l, 0, 0};
  const std::int64_t heads = static_cast<std::int64_t>(record.heads.size());
  const std::int64_t alignment_count[] = {
      1, heads, static_cast<std::int64_t>(record.output_alignment.size()) / std::max<std::int64_t>(heads, 1)};
  if (!record.output_alignment.empty())
    HEADROOM_TRY_VOID(to.numbers("weights/output_alignment", cube_start, alignment_count, record.output_alignment));
  HEADROOM_TRY_VOID(head_programs(record, shape, l, to));
  return learned_biases(record, shape, l, to);
}

Result<void> model_parameters(const ModelSpec& model, const RunShape& shape, const RegionSink& to) {
  const auto kinds = static_cast<std::int64_t>(parameter_kinds().size());
  for (std::size_t l = 0; l < shape.layers.size(); ++l) {
    const auto counts = attention_parameters(model.blocks[static_cast<std::size_t>(shape.layers[l])]);
    std::vector<double> values;
    for (const std::string& kind : parameter_kinds()) values.push_back(static_cast<double>(counts.at(kind)));
    const std::int64_t start[] = {static_cast<std::int64_t>(l), 0}, count[] = {1, kinds};
    HEADROOM_TRY_VOID(to.numbers("weights/parameters", start, count, values));
  }
  return {};
}

Result<void> model_program(const ModelSpec& model, const RunShape& shape, const RegionSink& to) {
  for (std::size_t l = 0; l < shape.layers.size(); ++l) {
    const BlockSpec& block = model.blocks[static_cast<std::size_t>(shape.layers[l])];
    const AttentionSpec& attention = block.attention;
    const std::int64_t start[] = {static_cast<std::int64_t>(l)}, count[] = {1};
    for (const LayerField& field : layer_fields()) {
      const std::vector<double> value = {field.get(block)};
      HEADROOM_TRY_VOID(to.numbers(path_of(field.quantity), start, count, value));
    }
    if (attention.bias.slopes.empty()) continue;
    std::vector<double> slopes;
    for (const std::int64_t head : shape.heads) slopes.push_back(attention.bias.slopes[static_cast<std::size_t>(head)]);
    const std::int64_t first[] = {static_cast<std::int64_t>(l), 0},
                       heads[] = {1, static_cast<std::int64_t>(slopes.size())};
    HEADROOM_TRY_VOID(to.numbers("program/alibi_slope", first, heads, slopes));
  }
  return {};
}

}  // namespace headroom
