#include "core/maps/map_tiles.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>

#include "core/base/mutex.h"
#include "core/base/worker.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;
using MapValues = std::shared_ptr<const std::vector<float>>;

// Tiles of fewer cells take tens of milliseconds: coarse ones of them come first. Of the others the coarser one takes
// longer, and the picture is there sooner when the finer ones come first.
constexpr double kQuickCells = 4096.0 * 4096.0;
constexpr std::size_t kKeptLines = 64;

std::int64_t tile_cells(std::int32_t level) { return std::int64_t{kTileSize} << level; }

std::int64_t tiles_across(std::int64_t length, std::int32_t level) {
  return (length + tile_cells(level) - 1) / tile_cells(level);
}

double cells_of(const MapSource& source, const TileKey& key) {
  const double side = static_cast<double>(std::min(tile_cells(key.level), source.length));
  return side * side * (source.causal && key.row == key.column ? 0.5 : 1.0);
}

// Beyond the level at which the whole map is one tile: it has 64² texels at least, for thumbnails.
constexpr std::int32_t kCoarserLevels = 2;

bool inside(const MapSource& source, const TileKey& key) {
  if (key.level < 0 || key.level > top_level(source.length) + kCoarserLevels) return false;
  const std::int64_t across = tiles_across(source.length, key.level);
  return key.row >= 0 && key.column >= 0 && key.row < across && key.column < across && source.find(key.head) != nullptr;
}

// Whether two tiles are the same, which is all that the worker asks.
Worker::Key worker_key(const TileKey& key) {
  const auto bits = [](auto value, int shift) { return static_cast<std::uint64_t>(value) << shift; };
  return {key.source, bits(key.head, 32) | bits(key.map, 24) | bits(key.pooling, 16) | bits(key.level, 0),
          bits(key.row, 32) | bits(key.column, 0)};
}

// One row or column of a map.
struct Line {
  std::uint64_t source = 0;
  std::int64_t head = 0;
  kernels::WindowMap map = kernels::WindowMap::Net;
  bool is_row = true;
  std::int64_t index = 0;
  friend auto operator<=>(const Line&, const Line&) = default;
};

// A few threads that share the tasks of one piece of work with the thread that asks.
class Lanes {
 public:
  Lanes(int threads, const std::function<void()>& start_thread) {
    for (int i = 1; i < threads; ++i)
      threads_.emplace_back([this, start_thread](const std::stop_token& token) {
        if (start_thread) start_thread();
        work(token);
      });
  }
  ~Lanes() {
    for (std::jthread& thread : threads_) thread.request_stop();
    changed_.notify_all();
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  void run(std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
    {
      const MutexLock lock(mutex_);
      body_ = &body;
      tasks_ = tasks;
      next_ = 0;
      ++round_;
    }
    changed_.notify_all();
    take_part(body, tasks);
    const MutexLock lock(mutex_);
    body_ = nullptr;  // who has not begun yet stays out
    changed_.wait(mutex_, [&]() HEADROOM_REQUIRES(mutex_) { return inside_ == 0; });
  }

 private:
  void take_part(const std::function<void(std::int64_t)>& body, std::int64_t tasks) {
    for (std::int64_t task = next_++; task < tasks; task = next_++) body(task);
  }
  void work(const std::stop_token& token) {
    std::uint64_t seen = 0;
    const MutexLock lock(mutex_);
    while (true) {
      if (!changed_.wait(mutex_, token, [&]() HEADROOM_REQUIRES(mutex_) { return round_ != seen; })) return;
      seen = round_;
      if (!body_) continue;
      ++inside_;
      const auto* body = body_;
      const std::int64_t tasks = tasks_;
      {
        const MutexUnlock unlocked(mutex_);
        take_part(*body, tasks);
      }
      --inside_;
      changed_.notify_all();
    }
  }

  Mutex mutex_;
  std::condition_variable_any changed_;
  const std::function<void(std::int64_t)>* body_ HEADROOM_GUARDED_BY(mutex_) = nullptr;
  std::int64_t tasks_ HEADROOM_GUARDED_BY(mutex_) = 0;
  std::uint64_t round_ HEADROOM_GUARDED_BY(mutex_) = 0;
  int inside_ HEADROOM_GUARDED_BY(mutex_) = 0;
  std::atomic<std::int64_t> next_{0};
  std::vector<std::jthread> threads_;  // last: they use the others
};

double now_seconds() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

}  // namespace

std::int32_t top_level(std::int64_t length) {
  std::int32_t level = 0;
  while (tile_cells(level) < length) ++level;
  return level;
}

std::int32_t tile_level(const TileView& view) {
  const std::int32_t top = top_level(view.length);
  std::int32_t level = 0;
  // A little slack, so that a zoom of exactly 2^−L does not fall to the next level by rounding.
  while (level < top && std::ldexp(view.pixels_per_cell, level) < 1.0 - 1e-9) ++level;
  return level;
}

std::vector<TileKey> visible_tiles(const TileView& view, const TileKey& like, bool causal) {
  std::vector<TileKey> tiles;
  if (view.length <= 0) return tiles;
  const double size = static_cast<double>(tile_cells(like.level)), length = static_cast<double>(view.length);
  const std::int64_t across = tiles_across(view.length, like.level);
  struct Range {
    std::int64_t begin, end;
  };
  const auto range = [&](double low, double high) -> Range {
    low = std::max(low, 0.0), high = std::min(high, length);
    if (!(low < high)) return {0, 0};
    return {static_cast<std::int64_t>(low / size), std::min(across, static_cast<std::int64_t>(std::ceil(high / size)))};
  };
  const Range rows = range(view.query0, view.query1), columns = range(view.key0, view.key1);
  const std::int64_t side = tile_cells(like.level);
  for (std::int64_t row = rows.begin; row < rows.end; ++row)
    for (std::int64_t column = columns.begin; column < columns.end; ++column) {
      if (causal && column * side > std::min((row + 1) * side, view.length) - 1) continue;
      TileKey key = like;
      key.row = row;
      key.column = column;
      tiles.push_back(key);
    }
  const double middle_row = (view.query0 + view.query1) / (2.0 * size) - 0.5;
  const double middle_column = (view.key0 + view.key1) / (2.0 * size) - 0.5;
  const auto distance = [&](const TileKey& key) {
    return std::hypot(static_cast<double>(key.row) - middle_row, static_cast<double>(key.column) - middle_column);
  };
  std::ranges::stable_sort(tiles, {}, distance);
  return tiles;
}

struct TileStore::State {
  using Source = std::shared_ptr<const MapSource>;

  // Main thread only.
  struct Kept {
    std::shared_ptr<const Tile> tile;
    std::list<TileKey>::iterator use;
  };
  std::map<TileKey, Kept> tiles;
  std::list<TileKey> uses;  // least recent first
  std::size_t bytes = 0, budget = 0;
  struct KeptLine {
    MapValues values;
    std::uint64_t used = 0;
  };
  std::map<Line, KeptLine> lines;
  std::uint64_t line_uses = 0, frame = 0;

  struct Job {
    Source source;
    TileKey key;
    double cells = 0.0;
    [[nodiscard]] bool quick() const { return cells <= kQuickCells; }
  };
  struct LineJob {
    Source source;
    std::uint64_t frame = 0;  // that asked last
    std::uint64_t order = 0;
  };
  struct Running {
    TileKey key;
    std::stop_token told;  // that nobody wants it any more
  };
  mutable Mutex mutex;
  std::set<TileKey> wanted HEADROOM_GUARDED_BY(mutex);   // in this frame
  std::set<TileKey> waiting HEADROOM_GUARDED_BY(mutex);  // of those, what has not begun
  std::optional<Running> running HEADROOM_GUARDED_BY(mutex);
  std::set<TileKey> finished_keys HEADROOM_GUARDED_BY(mutex);  // computed and not taken in yet
  std::map<Line, LineJob> line_jobs HEADROOM_GUARDED_BY(mutex);
  std::set<Line> line_keys
      HEADROOM_GUARDED_BY(mutex);  // computed and not taken in yet, and those that are being computed
  std::uint64_t line_orders HEADROOM_GUARDED_BY(mutex) = 0;
  std::vector<std::shared_ptr<const Tile>> finished HEADROOM_GUARDED_BY(mutex);
  std::vector<std::pair<Line, MapValues>> finished_lines HEADROOM_GUARDED_BY(mutex);
  std::uint64_t computed HEADROOM_GUARDED_BY(mutex) = 0;
  std::uint64_t dropped HEADROOM_GUARDED_BY(mutex) = 0;
  std::uint64_t serial HEADROOM_GUARDED_BY(mutex) = 0;
  Trace trace HEADROOM_GUARDED_BY(mutex);

  std::function<void()> wake;
  Lanes lanes;
  std::stop_source ends;
  Worker worker;  // last: its jobs use all the others. Tiles are wanted of it, lines submitted: those come first

  State(std::size_t most_bytes, int threads, std::function<void()> on_result, const std::function<void()>& start_thread)
      : budget(most_bytes),
        wake(std::move(on_result)),
        lanes(threads, start_thread),
        worker({.at_start = start_thread}) {}

  // Main thread.
  void want(std::span<const WantedTiles> tiles_wanted) {
    std::vector<Job> jobs;
    {
      const MutexLock lock(mutex);
      wanted.clear();
      for (const WantedTiles& of : tiles_wanted)
        if (of.source) add_wanted(of.source, of.keys, jobs);
      for (const TileKey& key : waiting) dropped += wanted.contains(key) ? 0 : 1;
      waiting.clear();
      for (const Job& job : jobs)
        if (!running || running->key != job.key || running->told.stop_requested()) waiting.insert(job.key);
    }
    sort_by_urgency(jobs);
    std::vector<Worker::Wanted> list;
    list.reserve(jobs.size());
    for (const Job& job : jobs)
      list.push_back({worker_key(job.key), [this, job](const std::stop_token& token) { run_tile(job, token); }});
    worker.want(std::move(list));
  }
  void add_wanted(const Source& source, std::span<const TileKey> keys, std::vector<Job>& jobs)
      HEADROOM_REQUIRES(mutex) {
    for (const TileKey& key : keys) {
      if (key.source != source->id || !inside(*source, key) || !wanted.insert(key).second) continue;
      if (tiles.contains(key) || finished_keys.contains(key)) continue;
      jobs.push_back({source, key, cells_of(*source, key)});
    }
  }
  // Where tile priority is decided.
  static void sort_by_urgency(std::vector<Job>& jobs) {
    std::ranges::stable_sort(jobs, {}, [](const Job& job) {
      return std::tuple(!job.quick(), job.quick() ? -job.key.level : job.key.level);
    });
  }

  // The worker's thread, from here on.
  void run_tile(const Job& job, const std::stop_token& token) {
    const MutexLock lock(mutex);
    waiting.erase(job.key);
    if (finished_keys.contains(job.key)) return;  // it ended while it was wanted again
    running = {job.key, token};
    const Trace traced = trace;
    std::shared_ptr<Tile> tile;
    {
      const MutexUnlock unlocked(mutex);
      const double begin_s = now_seconds();
      tile = compute(job, token);
      if (traced) traced(tile ? "tile" : "tile given up", begin_s, now_seconds());
    }
    running.reset();
    if (!tile) return;
    ++computed;
    tile->serial = ++serial;
    finished_keys.insert(job.key);
    finished.push_back(std::move(tile));
    const MutexUnlock unlocked(mutex);
    if (wake) wake();
  }

  void run_lines() HEADROOM_REQUIRES(mutex) {
    while (!line_jobs.empty() && !ends.stop_requested()) run_line();
  }

  // The line that was asked for last.
  void run_line() HEADROOM_REQUIRES(mutex) {
    const auto latest = std::ranges::max_element(line_jobs, {}, [](const auto& job) { return job.second.order; });
    const Line line = latest->first;
    const Source source = latest->second.source;
    line_jobs.erase(latest);
    line_keys.insert(line);
    const Trace traced = trace;
    MapValues values;
    {
      const MutexUnlock unlocked(mutex);
      const double begin_s = now_seconds();
      values = compute_line(*source, line);
      if (traced) traced(line.is_row ? "row" : "column", begin_s, now_seconds());
    }
    if (!values) return;
    finished_lines.emplace_back(line, std::move(values));
    const MutexUnlock unlocked(mutex);
    if (wake) wake();
  }

  // Null where the store ends.
  MapValues compute_line(const MapSource& source, const Line& line) {
    kernels::WindowRequest request;
    request.map = line.map;
    request.row_begin = line.is_row ? line.index : 0;
    request.rows = line.is_row ? 1 : source.length;
    request.key_begin = line.is_row ? 0 : line.index;
    request.keys = line.is_row ? source.length : 1;
    auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(source.length));
    kernels::WindowCells cells;
    cells.mean = values->data();
    cells.stride = request.keys;
    const auto stop = [&] { return ends.stop_requested(); };
    if (!source.window_of(line.head, request, cells, parallel(), stop)) return nullptr;
    return values;
  }

  [[nodiscard]] kernels::ParallelFor parallel() {
    return [this](std::int64_t tasks, const std::function<void(std::int64_t)>& body) { lanes.run(tasks, body); };
  }

  // Null where it was given up because nobody wants it any more.
  std::shared_ptr<Tile> compute(const Job& job, const std::stop_token& token) {
    const MapSource& source = *job.source;
    const std::int64_t side = tile_cells(job.key.level);
    kernels::WindowRequest request;
    request.map = job.key.map;
    request.row_begin = job.key.row * side;
    request.key_begin = job.key.column * side;
    request.reduction = std::int64_t{1} << job.key.level;
    const std::int64_t end_row = std::min(source.length, request.row_begin + side);
    request.keys = std::min(source.length, request.key_begin + side) - request.key_begin;
    auto tile = std::make_shared<Tile>();
    tile->key = job.key;
    tile->rows = static_cast<std::int32_t>((end_row - request.row_begin + request.reduction - 1) / request.reduction);
    tile->columns = static_cast<std::int32_t>(request.cell_columns());
    auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(tile->rows) *
                                                       static_cast<std::size_t>(tile->columns));
    // Rows of texels at a time, so that a line never waits for a whole tile.
    const double per_row = job.cells / tile->rows;
    const auto step = static_cast<std::int64_t>(std::clamp(kQuickCells / 4.0 / per_row, 1.0, 256.0));
    for (std::int64_t row = 0; row < tile->rows; row += step) {
      request.row_begin = job.key.row * side + row * request.reduction;
      request.rows = std::min(end_row, request.row_begin + step * request.reduction) - request.row_begin;
      kernels::WindowCells cells;
      cells.stride = tile->columns;
      float* const at = values->data() + row * cells.stride;
      switch (job.key.pooling) {
        case Pooling::MaxMagnitude: cells.max_magnitude = at; break;
        case Pooling::Mean: cells.mean = at; break;
        case Pooling::Positive: cells.positive = at; break;
        case Pooling::Negative: cells.negative = at; break;
      }
      // What is quick is kept, wanted or not: the way back needs it.
      const auto stop = [&] { return job.quick() ? ends.stop_requested() : token.stop_requested(); };
      if (!source.window_of(job.key.head, request, cells, parallel(), stop)) return nullptr;
      const MutexLock lock(mutex);
      run_lines();
    }
    tile->values = std::move(values);
    return tile;
  }

  // Main thread only, from here on.
  void use(Kept& kept) { uses.splice(uses.end(), uses, kept.use); }

  static std::size_t size_of(const Tile& tile) { return tile.values->size() * sizeof(float); }

  void keep(std::shared_ptr<const Tile> tile) {
    if (tiles.contains(tile->key)) return;
    bytes += size_of(*tile);
    const TileKey key = tile->key;
    tiles.emplace(key, Kept{std::move(tile), uses.insert(uses.end(), key)});
  }

  void evict() {
    const MutexLock lock(mutex);
    for (auto at = uses.begin(); bytes > budget && at != uses.end();) {
      if (wanted.contains(*at)) {
        ++at;
        continue;
      }
      const auto kept = tiles.find(*at);
      bytes -= size_of(*kept->second.tile);
      tiles.erase(kept);
      at = uses.erase(at);
    }
  }

  MapValues line(const Source& source, const Line& line) {
    if (const auto found = lines.find(line); found != lines.end()) {
      found->second.used = ++line_uses;
      return found->second.values;
    }
    if (line.index < 0 || line.index >= source->length || !source->find(line.head)) return nullptr;
    {
      const MutexLock lock(mutex);
      if (line_keys.contains(line)) return nullptr;
      if (!line_jobs.insert_or_assign(line, LineJob{source, frame, ++line_orders}).second) return nullptr;
    }
    worker.post([this] {
      const MutexLock lock(mutex);
      run_lines();
    });
    return nullptr;
  }

  void keep_line(const Line& line, MapValues values) {
    lines[line] = {std::move(values), ++line_uses};
    while (lines.size() > kKeptLines)
      lines.erase(std::ranges::min_element(lines, {}, [](const auto& kept) { return kept.second.used; }));
  }
};

TileStore::TileStore(std::size_t budget_bytes, int threads, std::function<void()> wake,
                     const std::function<void()>& start_thread)
    : state_(std::make_unique<State>(budget_bytes, threads, std::move(wake), start_thread)) {}

TileStore::~TileStore() { state_->ends.request_stop(); }

void TileStore::set_trace(Trace trace) {
  const MutexLock lock(state_->mutex);
  state_->trace = std::move(trace);
}

std::shared_ptr<const Tile> TileStore::find(const TileKey& key) {
  const auto found = state_->tiles.find(key);
  if (found == state_->tiles.end()) return nullptr;
  state_->use(found->second);
  return found->second.tile;
}

std::shared_ptr<const Tile> TileStore::find_covering(const TileKey& key) {
  constexpr std::int32_t kLevels = 48;
  TileKey at = key;
  for (; at.level < kLevels; ++at.level, at.row /= 2, at.column /= 2)
    if (std::shared_ptr<const Tile> tile = find(at)) return tile;
  return nullptr;
}

void TileStore::want(std::span<const WantedTiles> wanted) { state_->want(wanted); }

bool TileStore::collect() {
  std::vector<std::shared_ptr<const Tile>> tiles;
  std::vector<std::pair<Line, MapValues>> lines;
  {
    const MutexLock lock(state_->mutex);
    tiles.swap(state_->finished);
    lines.swap(state_->finished_lines);
    for (const auto& tile : tiles) state_->finished_keys.erase(tile->key);
    for (const auto& [line, values] : lines) state_->line_keys.erase(line);
    // A line that this frame and the one before did not ask for again is of a place the pointer has left.
    state_->dropped +=
        std::erase_if(state_->line_jobs, [&](const auto& job) { return job.second.frame + 2 <= state_->frame; });
  }
  ++state_->frame;
  for (auto& tile : tiles) state_->keep(std::move(tile));
  for (auto& [line, values] : lines) state_->keep_line(line, std::move(values));
  state_->evict();
  return !tiles.empty() || !lines.empty();
}

void TileStore::set_budget(std::size_t bytes) {
  state_->budget = bytes;
  state_->evict();
}

TileStore::Statistics TileStore::statistics() const {
  Statistics statistics;
  statistics.bytes = state_->bytes;
  statistics.budget_bytes = state_->budget;
  statistics.tiles = state_->tiles.size();
  const MutexLock lock(state_->mutex);
  statistics.waiting = state_->waiting.size() + state_->line_jobs.size();
  statistics.computed = state_->computed;
  statistics.dropped = state_->dropped;
  return statistics;
}

std::vector<std::size_t> TileStore::kept_by_level(std::uint64_t source) const {
  std::vector<std::size_t> levels;
  for (const auto& [key, kept] : state_->tiles) {
    if (key.source != source) continue;
    levels.resize(std::max(levels.size(), static_cast<std::size_t>(key.level) + 1));
    ++levels[static_cast<std::size_t>(key.level)];
  }
  return levels;
}

std::shared_ptr<const std::vector<float>> TileStore::row(const std::shared_ptr<const MapSource>& source,
                                                         std::int64_t head, kernels::WindowMap map,
                                                         std::int64_t query) {
  return source ? state_->line(source, {source->id, head, map, true, query}) : nullptr;
}

std::shared_ptr<const std::vector<float>> TileStore::column(const std::shared_ptr<const MapSource>& source,
                                                            std::int64_t head, kernels::WindowMap map,
                                                            std::int64_t key) {
  return source ? state_->line(source, {source->id, head, map, false, key}) : nullptr;
}

}  // namespace headroom
