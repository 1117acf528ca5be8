// What the map panel is about: the selected head's map, or why there is none and what can be done. Read from the state
// once a frame; borrows from it. Main thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/plot/theme.h"
#include "app/session/state.h"

namespace headroom {

enum class MapStatus : std::uint8_t {
  Nothing,      // no run is shown
  NoHead,       // none is selected
  NotComputed,  // its layer is not there (yet)
  NotKept,      // its layer has no queries and keys to make maps from
  Pooled,       // a run file's pooled maps
  Ready,
};

struct MapSubject {
  MapStatus status = MapStatus::Nothing;
  std::string headline, why;    // of a state without a map
  std::string action, command;  // what can be done about it; empty: nothing
  const RunEntry* run = nullptr;
  const RunSnapshot* data = nullptr;
  const LayerSnapshot* layer = nullptr;
  std::shared_ptr<const MapSource> source;
  const MapSource::Head* head = nullptr;
  const HeadProgram* program = nullptr;
  HeadRef ref;
  std::int64_t length = 0;          // positions of the run
  std::int64_t rows = 0, keys = 0;  // of the map; 0: all positions
  bool differential = false, causal = true;
  std::int64_t sliding = 0;     // keys a row sees; 0: all before it
  MapKind kind = MapKind::Net;  // what is shown: a kind that the head lacks gives way to net
  Pooling pooling = Pooling::MaxMagnitude;
  bool is_signed = false;  // diverging colours, centred on 0
  bool is_logits = false;
  std::vector<float> pooled;  // of a run file, [pooled_blocks, pooled_blocks]
  std::int64_t pooled_blocks = 0;

  [[nodiscard]] bool has_map() const { return status == MapStatus::Ready; }
  [[nodiscard]] TileKey like() const;  // of its tiles
  [[nodiscard]] TileKey like(MapKind other) const;
  // Of a row and of a key, which are of two sequences in calls of cross-attention.
  [[nodiscard]] std::string token(std::int64_t i) const;  // for the readout: "␣Public"; empty without texts
  [[nodiscard]] std::string key_token(std::int64_t i) const;
  [[nodiscard]] std::string label(std::int64_t i) const;  // for axes; the index without texts
  [[nodiscard]] std::string key_label(std::int64_t i) const;
  // Attention received by every key, of what is shown; empty where it is not known.
  [[nodiscard]] std::span<const float> received() const;
  // The exact value of one cell of what is shown; not-a-number where it is masked.
  [[nodiscard]] double value(std::int64_t query, std::int64_t key) const;
  // Its text; "masked", or "not finite" where the query sees the key and the value is no number.
  [[nodiscard]] std::string value_text(std::int64_t query, std::int64_t key) const;
  [[nodiscard]] double value_of(MapKind other, std::int64_t query, std::int64_t key) const;
};

[[nodiscard]] MapSubject map_subject(const State& state);
// The selected head in another run than the one shown.
[[nodiscard]] MapSubject map_subject(const State& state, const RunEntry* entry);
[[nodiscard]] kernels::WindowMap window_map(MapKind kind);
// "a", "w", "a¹", "a²", "λ·a²", "z".
[[nodiscard]] std::string value_symbol(MapKind kind, bool differential);
// As the tool bar names it: "weights" or "net", "first", …
[[nodiscard]] std::string kind_title(MapKind kind, bool differential);
// Why a head cannot show this map; empty: it can.
[[nodiscard]] std::string kind_disabled(const MapSubject& subject, MapKind kind);

// Sum, entropy in nats and Euclidean norm of a row's visible weights; entropy is not-a-number for signed rows.
struct RowNumbers {
  double sum = 0.0, entropy = 0.0, l2 = 0.0;
};
[[nodiscard]] RowNumbers row_numbers(std::span<const float> row, bool is_signed);

}  // namespace headroom
