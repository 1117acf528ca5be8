// Names of what a head program is made of, as run files hold them. Constants and pure functions; safe from any thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/model_spec.h"

namespace headroom {

template <typename Kind>
struct NamedKind {
  Kind kind;
  std::string_view name;
};

inline constexpr std::array kLambdaSources = {
    NamedKind<LambdaSource>{LambdaSource::None, "none"},
    NamedKind<LambdaSource>{LambdaSource::LayerScalar, "layer_scalar"},
    NamedKind<LambdaSource>{LambdaSource::Projection, "projection"},
    NamedKind<LambdaSource>{LambdaSource::RawProjection, "raw_projection"},
    NamedKind<LambdaSource>{LambdaSource::Constant, "constant"},
    NamedKind<LambdaSource>{LambdaSource::Recorded, "recorded"},
};

inline constexpr std::array kSinkSources = {
    NamedKind<SinkSource>{SinkSource::None, "none"},
    NamedKind<SinkSource>{SinkSource::Zero, "zero"},
    NamedKind<SinkSource>{SinkSource::Learned, "learned"},
};

inline constexpr std::array kNormalizers = {
    NamedKind<Normalizer>{Normalizer::Softmax, "softmax"},
    NamedKind<Normalizer>{Normalizer::Softpick, "softpick"},
};

// `kinds` is one of the tables above and has every kind.
template <typename Kinds, typename Kind>
[[nodiscard]] std::string name_of(const Kinds& kinds, Kind kind) {
  for (const auto& each : kinds)
    if (each.kind == kind) return std::string(each.name);
  return "";
}

template <typename Kinds>
[[nodiscard]] auto kind_named(const Kinds& kinds, std::string_view name) -> std::optional<decltype(kinds[0].kind)> {
  for (const auto& each : kinds)
    if (each.name == name) return each.kind;
  return std::nullopt;
}

// "none, zero, learned"
template <typename Kinds>
[[nodiscard]] std::string names_of(const Kinds& kinds) {
  std::string names;
  for (const auto& each : kinds) names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

}  // namespace headroom
