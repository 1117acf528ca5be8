// The group /program: the head program as it ran, what-ifs included, and the numbers of the layer that the formulas
// need.
#include "core/measure/program_fields.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/numbers.h"

namespace headroom {
namespace {

template <typename Kind>
using Named = std::pair<Kind, std::string_view>;

// Each has every kind.
constexpr std::array kLambdaSources = std::to_array<Named<LambdaSource>>({
    {LambdaSource::None, "none"},
    {LambdaSource::LayerScalar, "layer_scalar"},
    {LambdaSource::Projection, "projection"},
    {LambdaSource::RawProjection, "raw_projection"},
    {LambdaSource::Constant, "constant"},
    {LambdaSource::Recorded, "recorded"},
});
constexpr std::array kSinkSources = std::to_array<Named<SinkSource>>({
    {SinkSource::None, "none"},
    {SinkSource::Zero, "zero"},
    {SinkSource::Learned, "learned"},
});
constexpr std::array kNormalizers = std::to_array<Named<Normalizer>>({
    {Normalizer::Softmax, "softmax"},
    {Normalizer::Softpick, "softpick"},
});

// A field of the program, or of one of its maps: program.*Map.*Field.
template <auto... Path>
auto& field_of(auto& program) {
  return (program.*....*Path);
}

template <auto... Path>
ProgramField number(const Quantity& quantity) {
  return {.quantity = quantity,
          .get = [](const HeadRecord& head,
                    std::span<double> out) { out[0] = static_cast<double>(field_of<Path...>(head.program)); },
          .set =
              [](HeadProgram& program, std::span<const double> values) {
                auto& field = field_of<Path...>(program);
                field = static_cast<std::remove_cvref_t<decltype(field)>>(values[0]);
              }};
}

template <auto Map>
ProgramField blocks(const Quantity& quantity) {
  return {.quantity = quantity,
          .get =
              [](const HeadRecord& head, std::span<double> out) {
                const std::vector<std::int64_t>& values = (head.program.*Map).value_blocks;
                for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<double>(values[i]);
              },
          .set =
              [](HeadProgram& program, std::span<const double> values) {
                for (const double value : values)
                  if (value >= 0.0) (program.*Map).value_blocks.push_back(static_cast<std::int64_t>(value));
              }};
}

template <const auto& Table, auto Field>
ProgramField kind(const Quantity& quantity) {
  return {.quantity = quantity,
          .get_text =
              [](const HeadRecord& head) {
                for (const auto& [each, name] : Table)
                  if (each == head.program.*Field) return std::string(name);
                return std::string();
              },
          .set_text =
              [](HeadProgram& program, std::string_view text) {
                for (const auto& [each, name] : Table)
                  if (name == text) return program.*Field = each, true;
                return false;
              }};
}

ProgramField hidden_keys(const Quantity& quantity) {
  return {.quantity = quantity,
          .get_text =
              [](const HeadRecord& head) {
                std::string text;
                for (const std::int64_t key : head.program.hidden_keys)
                  text += (text.empty() ? "" : ",") + std::to_string(key);
                return text;
              },
          .set_text =
              [](HeadProgram& program, std::string_view text) {
                while (!text.empty()) {
                  std::int64_t key = 0;
                  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key);
                  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
                  if (error != std::errc() || (!text.empty() && text[0] != ',')) return false;
                  program.hidden_keys.push_back(key);
                  if (!text.empty()) text.remove_prefix(1);
                }
                return true;
              }};
}

double epsilon_of(const NormSpec& norm) { return norm.kind == NormKind::None ? kNaN : norm.epsilon; }

std::vector<ProgramField> of_heads() {
  return {
      number<&HeadProgram::first, &HeadProgram::Map::query_block>(
          {.name = "q1",
           .type = ElementType::Int32,
           .long_name = "query block of the first map",
           .formula = "block of head_dim rows of the query projection",
           .remark = "−1: no such map"}),
      number<&HeadProgram::first, &HeadProgram::Map::key_block>(
          {.name = "k1",
           .type = ElementType::Int32,
           .long_name = "key block of the first map",
           .formula = "block of head_dim rows of the key projection",
           .remark = "−1: no such map"}),
      number<&HeadProgram::second, &HeadProgram::Map::query_block>(
          {.name = "q2",
           .type = ElementType::Int32,
           .long_name = "query block of the second map",
           .formula = "block of head_dim rows of the query projection",
           .remark = "−1: no such map"}),
      number<&HeadProgram::second, &HeadProgram::Map::key_block>(
          {.name = "k2",
           .type = ElementType::Int32,
           .long_name = "key block of the second map",
           .formula = "block of head_dim rows of the key projection",
           .remark = "−1: no such map"}),
      blocks<&HeadProgram::first>({.name = "value_blocks1",
                                   .axes = {axis::kValueSlot},
                                   .type = ElementType::Int32,
                                   .long_name = "values of the first map",
                                   .formula = "blocks of value_dim rows of the value projection, side by side",
                                   .remark = "−1: no such map, or fewer blocks than slots"}),
      blocks<&HeadProgram::second>({.name = "value_blocks2",
                                    .axes = {axis::kValueSlot},
                                    .type = ElementType::Int32,
                                    .long_name = "values of the second map",
                                    .formula = "blocks of value_dim rows of the value projection, side by side",
                                    .remark = "−1: no such map, or fewer blocks than slots"}),
      kind<kLambdaSources, &HeadProgram::lambda>(
          {.name = "lambda_source",
           .type = ElementType::String,
           .long_name = "where λ comes from",
           .formula = "none, layer_scalar, projection, raw_projection, constant or recorded"}),
      kind<kSinkSources, &HeadProgram::sink>({.name = "sink",
                                              .type = ElementType::String,
                                              .long_name = "implicit key",
                                              .formula = "none, zero (off-by-one) or learned",
                                              .remark = "its logit is weights/sink_logit"}),
      kind<kNormalizers, &HeadProgram::normalizer>(
          {.name = "normalizer",
           .type = ElementType::String,
           .long_name = "what makes weights of logits",
           .formula = "softmax or softpick",
           .remark = "softpick has no implicit key; files without this dataset are of softmax",
           .sources = {source::kLogits}}),
      hidden_keys({.name = "hidden_keys",
                   .type = ElementType::String,
                   .long_name = "hidden keys",
                   .formula = "positions that no row of the head sees, ascending, separated by commas",
                   .sources = {source::kVisibleKeys}}),
      {.quantity = {.name = "lambda_constant",
                    .type = ElementType::Float64,
                    .long_name = "constant λ",
                    .formula = "λ of the source `constant`",
                    .remark = "NaN with any other source",
                    .range = "(−∞, ∞)"},
       .get =
           [](const HeadRecord& head, std::span<double> out) {
             out[0] = head.program.lambda == LambdaSource::Constant ? head.program.lambda_constant : kNaN;
           },
       .set =
           [](HeadProgram& program, std::span<const double> values) {
             if (!std::isnan(values[0])) program.lambda_constant = values[0];
           }},
      number<&HeadProgram::post_scale>({.name = "post_scale",
                                        .type = ElementType::Float64,
                                        .long_name = "factor of the head's output",
                                        .formula = "1, or 1 − λ_init for DIFF V1",
                                        .range = "[0.2, 1.01]"}),
      number<&HeadProgram::temperature>({.name = "temperature",
                                         .type = ElementType::Float64,
                                         .long_name = "temperature of the logits",
                                         .formula = "T",
                                         .range = "(0, ∞)",
                                         .sources = {source::kLogits}}),
      {{.name = "alibi_slope",
        .type = ElementType::Float64,
        .long_name = "slope of ALiBi",
        .formula = "b_d = −alibi_slope·abs(d)",
        .remark = "NaN in layers without ALiBi; only in files of models that have it",
        .range = "(−∞, ∞)",
        .sources = {source::kLogits, source::kAlibi}}},
      {{.name = "distance_bias",
        .axes = {axis::kDistance},
        .type = ElementType::Float64,
        .long_name = "learned bias of the logits by distance",
        .formula = "b_d at d = p − j",
        .remark =
            "NaN in layers without one and at distances that they do not have; only in files of models that have it",
        .range = "(−∞, ∞)",
        .sources = {source::kLogits, source::kBuckets}}},
      {.quantity = {.name = "norm_epsilon",
                    .type = ElementType::Float64,
                    .long_name = "ε of the head norm",
                    .formula = "ε",
                    .remark = "NaN without a head norm",
                    .range = "[0, 1)"},
       .get = [](const HeadRecord& head,
                 std::span<double> out) { out[0] = head.norm_epsilon < 0.0 ? kNaN : head.norm_epsilon; }},
      number<&HeadProgram::first_enabled>({.name = "first_enabled",
                                           .type = ElementType::UInt8,
                                           .long_name = "whether the first map counts",
                                           .formula = "0: w = −λ a²",
                                           .range = "[0, 1]"}),
      number<&HeadProgram::post_norm>({.name = "post_norm",
                                       .type = ElementType::UInt8,
                                       .long_name = "whether there is a head norm",
                                       .formula = "1: RMSNorm of the head's context",
                                       .range = "[0, 1]"}),
      number<&HeadProgram::gated>({.name = "gated",
                                   .type = ElementType::UInt8,
                                   .long_name = "whether there is a gate",
                                   .formula = "1: the head's output is multiplied with σ(W_g x)",
                                   .range = "[0, 1]"}),
      number<&HeadProgram::enabled>({.name = "enabled",
                                     .type = ElementType::UInt8,
                                     .long_name = "whether the head puts anything out",
                                     .formula = "0: its output is 0",
                                     .range = "[0, 1]"}),
      number<&HeadProgram::averaged>({.name = "averaged",
                                      .type = ElementType::UInt8,
                                      .long_name = "whether the head puts out its mean",
                                      .formula = "1: its output is the mean of its outputs over the sequence",
                                      .range = "[0, 1]"}),
  };
}

std::vector<LayerField> of_layers() {
  return {
      {{.name = "logit_scale",
        .type = ElementType::Float64,
        .long_name = "logit scale",
        .formula = "s",
        .remark = "1/√head_dim where the config says nothing else",
        .range = "(−∞, ∞)",
        .sources = {source::kLogits}},
       [](const BlockSpec& block) { return block.attention.scale; }},
      {{.name = "softcap",
        .type = ElementType::Float64,
        .long_name = "soft-cap of the logits",
        .formula = "C",
        .remark = "NaN without one",
        .range = "(0, ∞)",
        .sources = {source::kLogits}},
       [](const BlockSpec& block) { return block.attention.softcap > 0.0 ? block.attention.softcap : kNaN; }},
      {{.name = "causal",
        .type = ElementType::UInt8,
        .long_name = "whether rows see no later key",
        .formula = "1: causal",
        .range = "[0, 1]",
        .sources = {source::kVisibleKeys}},
       [](const BlockSpec& block) { return block.attention.causal ? 1.0 : 0.0; }},
      {{.name = "window",
        .type = ElementType::Int32,
        .long_name = "sliding window",
        .formula = "W",
        .remark = "0: none",
        .range = "[0, ∞)",
        .sources = {source::kVisibleKeys}},
       [](const BlockSpec& block) { return static_cast<double>(block.attention.window); }},
      {{.name = "chunk",
        .type = ElementType::Int32,
        .long_name = "positions of a chunk",
        .formula = "C",
        .remark = "0: none",
        .range = "[0, ∞)",
        .sources = {source::kVisibleKeys}},
       [](const BlockSpec& block) { return static_cast<double>(block.attention.chunk); }},
      {{.name = "always_visible",
        .type = ElementType::Int32,
        .long_name = "first keys that window and chunks leave visible",
        .formula = "S",
        .remark = "0: none",
        .range = "[0, ∞)",
        .sources = {source::kVisibleKeys}},
       [](const BlockSpec& block) { return static_cast<double>(block.attention.always_visible); }},
      {{.name = "head_dim",
        .type = ElementType::Int32,
        .long_name = "channels of a query or key block",
        .formula = "d",
        .range = "[1, ∞)"},
       [](const BlockSpec& block) { return static_cast<double>(block.attention.head_dim); }},
      {{.name = "value_dim",
        .type = ElementType::Int32,
        .long_name = "channels of a value block",
        .formula = "d_v",
        .range = "[1, ∞)"},
       [](const BlockSpec& block) { return static_cast<double>(block.attention.value_dim); }},
      {{.name = "input_norm_epsilon",
        .type = ElementType::Float64,
        .long_name = "ε of the norm before attention",
        .formula = "ε of the norm that makes x_i of the residual stream",
        .remark = "NaN without one",
        .range = "[0, 1)"},
       [](const BlockSpec& block) { return epsilon_of(block.attention_branch.before); }},
      {{.name = "qk_norm_epsilon",
        .type = ElementType::Float64,
        .long_name = "ε of the norms of queries and keys",
        .formula = "ε of qk-norm",
        .remark = "NaN without one",
        .range = "[0, 1)"},
       [](const BlockSpec& block) {
         return block.attention.qk_norm == QkNormScope::None ? kNaN : epsilon_of(block.attention.q_norm);
       }},
  };
}

Quantity in_group(Quantity quantity) {
  quantity.group = "program";
  if (quantity.sources.empty()) quantity.sources = {source::kHeadPrograms};
  return quantity;
}

}  // namespace

std::span<const ProgramField> program_fields() {
  static const std::vector<ProgramField> table = [] {
    std::vector<ProgramField> fields = of_heads();
    for (ProgramField& field : fields) field.quantity = in_group(std::move(field.quantity));
    return fields;
  }();
  return table;
}

std::span<const LayerField> layer_fields() {
  static const std::vector<LayerField> table = [] {
    std::vector<LayerField> fields = of_layers();
    for (LayerField& field : fields) {
      field.quantity = in_group(std::move(field.quantity));
      field.quantity.per = Per::Layer;
      field.quantity.may_be_absent = false;
    }
    return fields;
  }();
  return table;
}

std::vector<Quantity> program_quantities() {
  std::vector<Quantity> table;
  for (const ProgramField& field : program_fields()) table.push_back(field.quantity);
  for (const LayerField& field : layer_fields()) table.push_back(field.quantity);
  return table;
}

}  // namespace headroom
