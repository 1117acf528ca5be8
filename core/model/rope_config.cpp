#include "core/model/rope_config.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::string_view kPartial = "partial_rotary_factor";

Result<RopeScaling> read_scaling(const nlohmann::json& object, const std::string& scope, const RopeDefaults& defaults,
                                 double max_positions, double original, std::int64_t rotary_dim) {
  RopeScaling scaling;
  if (object.is_null()) return scaling;
  if (!object.is_object())
    return refuse_config("rope scaling is not an object", scope, "an object", object.type_name());
  ConfigReader config(object, scope + ".");
  HEADROOM_TRY(const std::string old_name, config.text("type", "default"));
  HEADROOM_TRY(const std::string name, config.text("rope_type", old_name));
  (void)config.raw("rope_theta");
  if (!defaults.partial_key.empty()) (void)config.raw(kPartial);
  if (defaults.three_positions)
    for (const char* key : {"mrope_section", "mrope_interleaved"}) (void)config.raw(key);
  std::vector<std::string> ignored;
  if (name == "default" || name == "none") {
    HEADROOM_TRY_VOID(config.check_unread(true, ignored));
    return scaling;
  }
  for (const RopeScalingKind kind : {RopeScalingKind::Linear, RopeScalingKind::Dynamic, RopeScalingKind::Llama3,
                                     RopeScalingKind::Yarn, RopeScalingKind::LongRope, RopeScalingKind::Proportional})
    if (name == name_of(kind) || (name == "su" && kind == RopeScalingKind::LongRope)) scaling.kind = kind;
  if (scaling.kind == RopeScalingKind::None) {
    Error error(ErrorCode::Unsupported, "unknown rope scaling");
    error.at_tensor(scope + ".rope_type")
        .wanted("default, linear, dynamic, llama3, yarn, longrope or proportional", name);
    return error;
  }
  HEADROOM_TRY(scaling.original_max_positions, config.number("original_max_position_embeddings", max_positions));
  const bool longrope = scaling.kind == RopeScalingKind::LongRope;
  const bool trained_shorter =
      longrope || scaling.kind == RopeScalingKind::Llama3 || scaling.kind == RopeScalingKind::Yarn;
  if (original > 0.0 && trained_shorter) scaling.original_max_positions = original;
  const double reach = max_positions / scaling.original_max_positions;
  HEADROOM_TRY(scaling.factor,
               config.number("factor", longrope || scaling.kind == RopeScalingKind::Yarn ? std::optional(reach)
                                       : scaling.kind == RopeScalingKind::Proportional   ? std::optional(1.0)
                                                                                         : std::nullopt));
  if (scaling.kind == RopeScalingKind::Proportional) {
    HEADROOM_TRY(scaling.share, config.number(kPartial, 1.0));
    if (!(scaling.share > 0.0) || scaling.share > 1.0)
      return refuse_config("the share of rotated channels is out of range", scope + "." + std::string(kPartial),
                           "in (0, 1]", format("%g", scaling.share));
  }
  HEADROOM_TRY(scaling.low_freq_factor, config.number("low_freq_factor", 1.0));
  HEADROOM_TRY(scaling.high_freq_factor, config.number("high_freq_factor", 4.0));
  HEADROOM_TRY(scaling.beta_fast, config.number("beta_fast", 32.0));
  HEADROOM_TRY(scaling.beta_slow, config.number("beta_slow", 1.0));
  HEADROOM_TRY(scaling.truncate, config.boolean("truncate", true));
  HEADROOM_TRY(scaling.mscale, config.number("mscale", 0.0));
  HEADROOM_TRY(scaling.mscale_all_dim, config.number("mscale_all_dim", 0.0));
  HEADROOM_TRY(scaling.attention_factor, config.number("attention_factor", 0.0));
  HEADROOM_TRY(scaling.short_factor, config.numbers("short_factor"));
  HEADROOM_TRY(scaling.long_factor, config.numbers("long_factor"));
  HEADROOM_TRY(scaling.short_mscale, config.number("short_mscale", 0.0));
  HEADROOM_TRY(scaling.long_mscale, config.number("long_mscale", 0.0));
  HEADROOM_TRY_VOID(config.check_unread(true, ignored));
  if (!(scaling.factor > 0.0))
    return refuse_config("rope scaling needs a positive factor", scope + ".factor", "> 0",
                         format("%g", scaling.factor));
  if (!(scaling.original_max_positions > 0.0))
    return refuse_config("rope scaling needs a positive original length", scope + ".original_max_position_embeddings",
                         "> 0", format("%g", scaling.original_max_positions));
  if (longrope)
    for (const auto* factors : {&scaling.short_factor, &scaling.long_factor})
      if (static_cast<std::int64_t>(factors->size()) != rotary_dim / 2)
        return refuse_config("longrope needs one factor per pair of channels", scope + ".short_factor, long_factor",
                             std::to_string(rotary_dim / 2), std::to_string(factors->size()));
  return scaling;
}

}  // namespace

Result<RopeSpec> read_rope(ConfigReader& config, const RopeDefaults& defaults, std::int64_t head_dim,
                           std::int64_t max_positions) {
  RopeSpec rope;
  rope.layout = defaults.layout;
  rope.max_positions = static_cast<double>(max_positions);
  const bool newer = config.has("rope_parameters");
  const nlohmann::json& parameters = config.raw("rope_parameters");
  const nlohmann::json& older = config.raw("rope_scaling");
  if (newer && older.is_object() && !older.empty()) {
    Error error(ErrorCode::Unsupported,
                "two descriptions of the rotary embedding, of which readers take different ones");
    error.at_tensor("rope_parameters, rope_scaling").wanted("one of them", "both");
    return error;
  }
  HEADROOM_TRY(rope.theta, config.number(defaults.theta_key, defaults.theta));
  double share = defaults.share;
  if (!defaults.partial_key.empty()) {
    HEADROOM_TRY(share, config.number(defaults.partial_key, share));
  }
  if (newer && parameters.is_object()) {
    ConfigReader nested(parameters, "rope_parameters.");
    HEADROOM_TRY(rope.theta, nested.number("rope_theta", rope.theta));
    if (!defaults.partial_key.empty()) {
      HEADROOM_TRY(share, nested.number(kPartial, share));
    }
  }
  if (!(rope.theta > 1.0))
    return refuse_config("rope_theta is out of range", std::string(defaults.theta_key), "> 1",
                         format("%g", rope.theta));
  if (!(share > 0.0) || share > 1.0)
    return refuse_config("the share of rotated channels is out of range", std::string(defaults.partial_key),
                         "in (0, 1]", format("%g", share));
  rope.rotary_dim = static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
  if (rope.rotary_dim % 2 != 0 || rope.rotary_dim == 0)
    return refuse_config("rotary embedding needs an even number of channels", "head_dim", "an even number",
                         std::to_string(rope.rotary_dim));
  // Beside the scaling, where Phi-3 keeps it.
  HEADROOM_TRY(const double original, config.number("original_max_position_embeddings", 0.0));
  HEADROOM_TRY(rope.scaling, read_scaling(newer ? parameters : older, newer ? "rope_parameters" : "rope_scaling",
                                          defaults, rope.max_positions, original, rope.rotary_dim));
  HEADROOM_TRY(rope.frequency_divisors, config.numbers("rope_frequency_divisors"));
  if (!rope.frequency_divisors.empty() &&
      static_cast<std::int64_t>(rope.frequency_divisors.size()) != rope.rotary_dim / 2)
    return refuse_config("rope_freqs has the wrong length", "rope_freqs.weight", std::to_string(rope.rotary_dim / 2),
                         std::to_string(rope.frequency_divisors.size()));
  for (const double divisor : rope.frequency_divisors)
    if (!(divisor > 0.0) || !std::isfinite(divisor))
      return refuse_config("rope_freqs divides a frequency by a useless number", "rope_freqs.weight", "> 0 and finite",
                           format("%g", divisor));
  return rope;
}

Result<LayerRopes> read_layer_ropes(ConfigReader& config, const RopeDefaults& full, const RopeDefaults& sliding,
                                    std::int64_t head_dim, std::int64_t max_positions) {
  LayerRopes ropes;
  const nlohmann::json parameters = config.raw("rope_parameters");
  if (parameters.is_null()) {
    HEADROOM_TRY(ropes.full, read_rope(config, full, head_dim, max_positions));
    HEADROOM_TRY(const double theta, config.number(sliding.theta_key, sliding.theta));
    const nlohmann::json plain = {{"rope_theta", theta}};
    ConfigReader own(plain);
    HEADROOM_TRY(ropes.sliding, read_rope(own, {.layout = sliding.layout}, head_dim, max_positions));
    return ropes;
  }
  for (const auto& [kind, defaults, rope] :
       {std::tuple("full_attention", &full, &ropes.full), std::tuple("sliding_attention", &sliding, &ropes.sliding)}) {
    const auto given = parameters.is_object() ? parameters.find(kind) : parameters.end();
    if (given == parameters.end())
      return refuse_config("the rotary embedding is not described for each kind of layer", "rope_parameters",
                           std::string("an object with ") + kind,
                           parameters.is_object() ? "none" : parameters.type_name());
    const nlohmann::json alone = {{"rope_parameters", *given}};
    ConfigReader own(alone, std::string("rope_parameters.") + kind + ": ");
    HEADROOM_TRY(*rope,
                 read_rope(own, {.layout = defaults->layout, .theta = defaults->theta}, head_dim, max_positions));
  }
  (void)config.raw("rope_theta");
  (void)config.raw("rope_scaling");
  (void)config.raw(sliding.theta_key);
  return ropes;
}

}  // namespace headroom
