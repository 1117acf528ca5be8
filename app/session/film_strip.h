// One picture of the training view's film strip: a kept checkpoint run on a prompt, and the maps of one layer's heads,
// each at most kFilmSide cells a side. What runs is what a run of the window runs, so that a picture's numbers are
// those of a fresh run of the checkpoint. Compute thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/session/state.h"
#include "core/run/compute.h"

namespace headroom {

inline constexpr std::int64_t kFilmSide = 128, kFilmTokens = 128;

struct FilmRequest {
  FilmFrame frame;         // with its checkpoint, and the run where there is one already
  std::int64_t layer = 0;  // whose maps are wanted
  std::string device, dtype, backend;
  std::filesystem::path prompt_text;  // read where a checkpoint has no example prompt
};

struct FilmResult {
  FilmFrame frame;
  std::string prompt;  // "the checkpoint's example, 64 tokens"
};

// Errors are those of opening and running a checkpoint; InvalidArgument where it has no such layer; Cancelled.
[[nodiscard]] Result<FilmResult> make_film_frame(ComputeBackend& backend, FilmRequest request,
                                                 const kernels::StopRequested& stop);

// The maps of a layer as the strip holds them: cells of `frame.cell_tokens` tokens a side, each its weight of the
// largest magnitude.
[[nodiscard]] Result<void> pool_film_maps(const MapSource& maps, FilmFrame& frame, const kernels::StopRequested& stop);

}  // namespace headroom
