#include "app/session/film_strip.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/run/make_prompt.h"
#include "core/run/open_model.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

constexpr std::size_t kFilmKeepBytes = std::size_t{1} << 30;    // for the maps of a run while it is pooled
constexpr std::size_t kFilmStaysBytes = std::size_t{32} << 20;  // a run that holds more goes once it is pooled
constexpr std::uint64_t kLargestFilmText = std::uint64_t{1} << 20;
constexpr std::int64_t kFilmIds = 64;

struct FilmPrompt {
  Prompt prompt;
  std::string title;
};

// What a checkpoint brings along; else the beginning of a text; else its first ids.
Result<FilmPrompt> film_prompt_of(const OpenedModel& opened, const std::filesystem::path& text) {
  FilmPrompt result;
  const auto tokenizer = open_tokenizer(*opened.checkpoint);
  const Tokenizer* reads = tokenizer ? tokenizer->get() : nullptr;
  const auto titled = [&](const char* title) {
    result.title = format("%s, %zu tokens", title, result.prompt.ids.size());
    return result;
  };
  if (const auto example = opened.checkpoint->read_sibling(kExamplePromptFile)) {
    HEADROOM_TRY(result.prompt, prompt_of_ids(*example, reads, opened.spec, {}));
    return titled("the checkpoint's example");
  }
  PromptOptions options;
  options.max_tokens = kFilmTokens;
  if (opened.spec.max_positions > 0) options.max_tokens = std::min(options.max_tokens, opened.spec.max_positions);
  if (reads != nullptr) {
    HEADROOM_TRY(std::string words, read_text_file(text, kLargestFilmText));
    HEADROOM_TRY(result.prompt, prompt_of_text(std::move(words), *reads, opened.spec, options));
    return titled("GPL-3");
  }
  std::vector<std::int32_t> ids;
  for (std::int64_t id = 0; id < std::min(kFilmIds, opened.spec.vocab_size); ++id)
    ids.push_back(static_cast<std::int32_t>(id));
  HEADROOM_TRY(result.prompt, prompt_of_ids(ids_text(ids), nullptr, opened.spec, {}));
  return titled("ids from 0 on");
}

std::uint64_t next_film_generation() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::size_t film_run_bytes(const RunSnapshot& run) {
  std::size_t bytes = 0;
  for (const auto& layer : run.data) bytes += layer ? layer->kept_bytes() : 0;
  return bytes;
}

// The numbers of a run without what its maps are made of.
std::shared_ptr<const RunSnapshot> without_film_maps(const RunSnapshot& run) {
  auto lean = std::make_shared<RunSnapshot>(run);
  for (auto& layer : lean->data) {
    if (!layer) continue;
    auto copy = std::make_shared<LayerSnapshot>(*layer);
    copy->maps = nullptr;
    copy->series.clear();
    copy->key_norms.clear();
    copy->value_norms.clear();
    layer = std::move(copy);
  }
  return lean;
}

}  // namespace

Result<void> pool_film_maps(const MapSource& maps, FilmFrame& frame, const kernels::StopRequested& stop) {
  const std::int64_t length = std::max(maps.row_count(), maps.key_count());
  frame.cell_tokens = std::max<std::int64_t>(1, (length + kFilmSide - 1) / kFilmSide);
  frame.side = static_cast<std::int32_t>((length + frame.cell_tokens - 1) / frame.cell_tokens);
  frame.maps.clear();
  frame.is_signed = false;
  kernels::WindowRequest window;
  window.map = kernels::WindowMap::Net;
  window.rows = maps.row_count();
  window.keys = maps.key_count();
  window.reduction = frame.cell_tokens;
  const auto one_after_the_other = [](std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
    for (std::int64_t i = 0; i < tasks; ++i) body(i);
  };
  for (const MapSource::Head& head : maps.heads) {
    auto values = std::make_shared<std::vector<float>>(
        static_cast<std::size_t>(frame.side) * static_cast<std::size_t>(frame.side), std::nanf(""));
    kernels::WindowCells cells;
    cells.max_magnitude = values->data();
    cells.stride = frame.side;
    HEADROOM_TRY_VOID(maps.window_of(head.head, window, cells, one_after_the_other, stop));
    frame.maps.push_back(std::move(values));
    frame.is_signed = frame.is_signed || head.program.has_second();
  }
  frame.generation = next_film_generation();
  return {};
}

Result<FilmResult> make_film_frame(ComputeBackend& backend, FilmRequest request, const kernels::StopRequested& stop) {
  FilmResult result{std::move(request.frame), ""};
  FilmFrame& frame = result.frame;
  frame.running = false;
  const auto maps_of = [&](const RunSnapshot& run) {
    const LayerSnapshot* layer = run.layer(request.layer);
    return layer ? layer->maps : nullptr;
  };
  std::shared_ptr<const RunSnapshot> run = frame.run;
  if (!run || !maps_of(*run)) {
    HEADROOM_TRY(OpenedModel opened, open_model(frame.checkpoint.folder, {}));
    const auto model = std::make_shared<const OpenedModel>(std::move(opened));
    if (!std::ranges::count(model->spec.attention_layers(), request.layer)) {
      Error error(ErrorCode::InvalidArgument, "the checkpoint has no maps of this layer");
      return error.in_file(frame.checkpoint.folder.string()).wanted("layer " + std::to_string(request.layer), "none");
    }
    HEADROOM_TRY(FilmPrompt prompt, film_prompt_of(*model, request.prompt_text));
    result.prompt = prompt.title;
    LiveRunRequest live;
    live.model = model;
    live.prompt = std::make_shared<const Prompt>(std::move(prompt.prompt));
    HEADROOM_TRY(live.dtype, parse_dtype(request.dtype));
    live.device = request.device;
    live.backend = request.backend;
    live.keep_bytes = kFilmKeepBytes;
    HEADROOM_TRY(run, run_live(
                          backend, live, [](const std::shared_ptr<const RunSnapshot>&) {},
                          [](double, const std::string&) {}, stop));
  }
  const std::shared_ptr<const MapSource> maps = maps_of(*run);
  if (!maps) return Error(ErrorCode::OutOfMemory, "the maps of this layer take more than 1 GB");
  HEADROOM_TRY_VOID(pool_film_maps(*maps, frame, stop));
  frame.layer = request.layer;
  frame.run = film_run_bytes(*run) <= kFilmStaysBytes ? run : without_film_maps(*run);
  return result;
}

}  // namespace headroom
