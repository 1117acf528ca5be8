// The what-if and the compare panel without a display: two runs made up from random queries and keys, a session that
// runs what the panels ask for, a painter that records, a pointer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/panels/chrome/window_layout.h"
#include "app/panels/compare/compare_panel.h"
#include "app/panels/heads/heads_panel.h"
#include "app/panels/panel.h"
#include "app/panels/parts/compare_cache.h"
#include "app/panels/parts/run_cache.h"
#include "app/panels/what_if/what_if_panel.h"
#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "app/plot/theme.h"
#include "app/session/session.h"
#include "tests/core/maps/live_maps.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/catch.h"
#include "tests/support/snapshots.h"
#include "tests/support/without_tiles.h"

namespace headroom::test {

struct PairOptions {
  std::int64_t length = 200, other_length = 0;  // 0: the same
  bool maps_a = true, maps_b = true, hostile = false, series = true;
  std::string kind = "softmax";
  std::string demo = "diff_v2";  // the checkpoint of both runs
};

// Three layers of five heads; heads 0, 2 and 4 have maps, one set a layer.
inline std::shared_ptr<const RunSnapshot> run_with_maps(const PairOptions& options, std::int64_t length, bool maps,
                                                        unsigned seed) {
  SnapshotOptions made;
  made.kind = options.kind;
  made.layers = 3;
  made.heads = 5;
  made.length = length;
  made.hostile = options.hostile;
  made.series = options.series;
  auto run = std::make_shared<RunSnapshot>(*make_snapshot(made));
  for (std::size_t l = 0; l < run->data.size(); ++l) {
    auto layer = std::make_shared<LayerSnapshot>(*run->data[l]);
    if (maps) {
      MadeMaps of_layer;
      of_layer.length = length;
      of_layer.head_dim = 4;
      of_layer.seed = seed + static_cast<unsigned>(l);
      layer->maps = made_maps(of_layer);
      for (std::size_t h = 0; h < layer->heads.size(); ++h)
        if (const MapSource::Head* head = layer->maps->find(layer->heads[h])) layer->programs[h] = head->program;
    }
    // So that the two runs differ.
    for (auto& [name, values] : layer->summary)
      for (double& value : values) value += name == "sink_score" ? 0.001 * seed : 0.0;
    for (auto& [name, values] : layer->series)
      if (name == "keys/attention_received")
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(noise(seed, i, l));
    run->data[l] = layer;
  }
  run->next_token_loss = 2.5 + 0.01 * seed;
  run->seconds = 3.0;
  return run;
}

class CompareBench {
 public:
  explicit CompareBench(const PairOptions& options = {}) { show(options); }

  void show(const PairOptions& options) {
    State& state = session.edit();
    state.runs.clear();
    state.models.clear();
    ModelEntry model;
    model.id = 7;
    model.name = options.hostile ? "Модель\x1b[31m \u202e"
                                   "eman a very long name of a checkpoint that does not fit anywhere"
                                 : "demo";
    model.model = std::make_shared<OpenedModel>(required(open_model(demo_folder() / "backcopy" / options.demo, {})));
    state.models.push_back(model);
    for (const int id : {1, 2}) {
      RunEntry entry;
      entry.id = id;
      entry.model = 7;
      entry.name = model.name;
      entry.status = RunStatus::Done;
      const bool b = id == 2;
      entry.data = run_with_maps(options, b && options.other_length > 0 ? options.other_length : options.length,
                                 b ? options.maps_b : options.maps_a, b ? 40u : 3u);
      if (b) {
        entry.base = 1;
        entry.what_ifs = {"normalizer=softmax_one"};
        entry.name = "what-if: normalizer=softmax_one";
      }
      state.runs.push_back(std::move(entry));
    }
    state.view = {};
    state.view.run = 1;
    state.view.other_run = 2;
    state.view.centre = CentreView::Compare;
    state.view.selection.head = HeadRef{1, 2};
    tiles = std::make_unique<TileStore>(std::size_t{256} << 20, 1, [] {});
    memory = std::make_unique<CompareCache>([] {});
  }

  // A quick what-if of the first head in the state of `status`; its data where it is done.
  RunEntry& quick(const std::string& change, RunStatus status, int id = 9) {
    State& state = session.edit();
    std::erase_if(state.runs, [](const RunEntry& run) { return run.quick; });
    RunEntry entry;
    entry.id = id;
    entry.model = 7;
    entry.base = 1;
    entry.quick = true;
    entry.what_ifs = {"L1.H2:" + change};
    entry.name = "what-if: L1.H2:" + change;
    entry.status = status;
    entry.doing = status == RunStatus::Running ? "layer 1 of 3" : "";
    if (status == RunStatus::Failed)
      entry.error = Error(ErrorCode::OutOfMemory, "the device has no memory left for layer 1");
    if (status == RunStatus::Done) {
      auto data = std::make_shared<RunSnapshot>(*state.runs[1].data);
      entry.data = data;
    }
    state.runs.push_back(std::move(entry));
    state.view.other_run = id;
    state.view.centre = CentreView::WhatIf;
    state.view.what_if.changes = {change};
    return state.runs.back();
  }

  const RecordingPainter& draw() {
    (void)tiles->collect();
    const Rect ground{0, 0, width / scale, height / scale};
    painter = std::make_unique<RecordingPainter>(measure, ground, scale);
    session.edit().hover = hover;
    hover = {};
    facts.clear();
    input.window = ground;
    input.time += 0.3;
    const Lookup lookup(session);
    {
      Ui ui(*painter, dark ? dark_theme() : light_theme(), input, *ui_memory, lookup, clipboard);
      PanelContext context{ui, session.state(), *tiles, session.commands(), hover, facts, &run_cache, memory.get()};
      const WindowLayout layout = window_layout(ground, session.state());
      centre = layout.centre.rect;
      side = layout.side.area();
      heads = layout.heads.rect;
      if (with_heads && layout.heads.drawn()) draw_heads_panel(context, heads);
      layout.centre.panel->draw(context, centre);
      if (!side.empty()) layout.side.panel->draw(context, side);
      tiles->want(context.wanted);
      (void)ui.finish();
      lines = ui.take_commands();
    }
    all_lines.insert(all_lines.end(), lines.begin(), lines.end());
    input.pressed = input.released = {};
    input.clicks = 0;
    input.wheel = {};
    return *painter;
  }

  const RecordingPainter& draw_without_tiles() {
    without_tiles(tiles, [this] { draw(); });
    return *painter;
  }

  // Frames until every tile and distance is there.
  const RecordingPainter& settle() {
    for (int i = 0; i < 3000; ++i) {
      draw();
      const bool distances = !memory->jobs() || memory->jobs()->results()->finished();
      if (i > 2 && distances && tiles->statistics().waiting == 0 &&
          (!facts.find("map.texels_pending") || *facts.find("map.texels_pending") == "0"))
        return draw();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CATCH_FAIL("tiles did not arrive");
    return *painter;
  }

  void move(Vec2 to) {
    input.pointer = to;
    input.pointer_inside = true;
  }
  std::vector<std::string> click(Vec2 at) {
    all_lines.clear();
    move(at);
    draw();
    input.pressed[0] = input.down[0] = true;
    input.clicks = 1;
    draw();
    input.released[0] = true;
    input.down[0] = false;
    draw();
    return all_lines;
  }
  std::vector<std::string> drag(Vec2 from, Vec2 to) {
    all_lines.clear();
    move(from);
    draw();
    input.pressed[0] = input.down[0] = true;
    input.clicks = 1;
    draw();
    for (int i = 1; i <= 4; ++i) {
      move(from + (to - from) * (0.25f * static_cast<float>(i)));
      draw();
    }
    input.released[0] = true;
    input.down[0] = false;
    draw();
    return all_lines;
  }
  double fact(std::string_view name) const {
    const std::string* text = facts.find(name);
    return text ? std::stod(*text) : NAN;
  }
  // The middle of the first text that holds `part`.
  Vec2 at(const std::string& part) const {
    const auto found = painter->find(part);
    CATCH_INFO(part);
    CATCH_REQUIRE_FALSE(found.empty());
    return found.front()->box.centre;
  }
  const MapSource& maps(std::size_t run, std::int64_t layer = 1) const {
    return *session.state().runs[run].data->layer(layer)->maps;
  }

  class Lookup final : public CommandLookup {
   public:
    explicit Lookup(const Session& session) : session_(session) {}
    std::string disabled_reason(std::string_view line) const override {
      return session_.commands().disabled_reason(session_.state(), line);
    }
    std::string key_text(std::string_view line) const override {
      return session_.commands().key_of(session_.state(), line);
    }

   private:
    const Session& session_;
  };
  class NoClipboard final : public Clipboard {
   public:
    std::string get() override { return ""; }
    void set(const std::string&) override {}
  };

  PlainMeasure measure;
  Session session{Session::Options{}};
  std::unique_ptr<TileStore> tiles;
  std::unique_ptr<CompareCache> memory;
  RunCache run_cache;
  std::unique_ptr<RecordingPainter> painter;
  UiStatePtr ui_memory = make_ui_state();
  NoClipboard clipboard;
  Input input;
  Hover hover;
  Facts facts;
  std::vector<std::string> lines, all_lines;
  Rect centre, side, heads;
  bool with_heads = false;  // the panel of the heads too
  float width = 1440, height = 900, scale = 1.0f;
  bool dark = true;
};

// What was drawn last at a point of a map: the texel's value; nothing where no map was drawn.
inline std::optional<float> drawn_at(const RecordingPainter& painter, Vec2 at) {
  std::optional<float> value;
  for (const RecordedMap& map : painter.maps()) {
    if (!map.target.contains(at) || !map.clip.contains(at)) continue;
    const float u = map.source.x0 + (at.x - map.target.x0) / map.target.width() * map.source.width();
    const float v = map.source.y0 + (at.y - map.target.y0) / map.target.height() * map.source.height();
    const auto x = std::clamp(static_cast<std::int32_t>(u), 0, map.image.width - 1);
    const auto y = std::clamp(static_cast<std::int32_t>(v), 0, map.image.height - 1);
    value = (*map.image.values)[static_cast<std::size_t>(y * map.image.width + x)];
  }
  return value;
}

inline void check_clean(const RecordingPainter& painter) {
  for (const std::string& line : painter.violations()) CATCH_CHECK(line == "");
}

}  // namespace headroom::test
