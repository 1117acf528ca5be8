// The map panel without a display: a session with a run made up from random queries and keys, a painter that records,
// and a pointer. Every command line that the panel asks for is run by the session and must succeed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/panels/map/map_panel.h"
#include "app/panels/panel.h"
#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "app/plot/theme.h"
#include "app/session/session.h"
#include "tests/core/maps/live_maps.h"
#include "tests/support/catch.h"
#include "tests/support/without_tiles.h"

namespace headroom::test {

// White space, control bytes, wide letters, emoji, right-to-left overrides, broken UTF-8, long words.
inline std::vector<std::string> hostile_tokens(std::int64_t n) {
  const std::vector<std::string> kinds = {std::string(19, ' '),
                                          " the",
                                          "\n\n",
                                          "\t",
                                          " Donaudampfschifffahrtsgesellschaftskapitän",
                                          "漢字仮名交じり文",
                                          "👩‍👩‍👧‍👦",
                                          "\x1b[31m",
                                          "\xff\xfe",
                                          "\u202e"
                                          "abc",
                                          " the",
                                          "",
                                          ".",
                                          " é́́́",
                                          "הקדמה",
                                          " License",
                                          std::string(300, 'W'),
                                          "\r\n"};
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(kinds[static_cast<std::size_t>(i) % kinds.size()]);
  return out;
}

// One layer of made_maps() as a finished run; head 0 is softmax, 2 a pair, 4 has hidden keys and a sink.
struct MadeRun {
  MadeMaps maps;
  bool keep_maps = true;
  bool v1 = false;           // λ init and the norm's gain
  bool broken_rows = false;  // rows 40 … 59 have no finite log-sum-exp
  std::int64_t layers = 2;   // of which the first is computed
  std::int64_t pooled = 0;   // blocks of pooled maps
};

inline std::shared_ptr<const RunSnapshot> made_run(const MadeRun& made) {
  auto source = std::const_pointer_cast<MapSource>(made_maps(made.maps));
  const std::int64_t n = source->length;
  if (made.broken_rows)
    for (MapSource::Head& head : source->heads)
      for (std::int64_t i = 40; i < std::min<std::int64_t>(60, n); ++i) head.lse[0][static_cast<std::size_t>(i)] = NAN;
  auto layer = std::make_shared<LayerSnapshot>();
  layer->layer = 0;
  layer->kind = made.v1 ? "diff_v1" : "softmax";
  layer->length = n;
  layer->lambda_init = made.v1 ? 0.2 : NAN;
  auto& received = layer->series["keys/attention_received"];
  auto& net = layer->series["keys/attention_received_net"];
  for (const MapSource::Head& head : source->heads) {
    layer->heads.push_back(head.head);
    layer->programs.push_back(head.program);
    layer->summary["lambda_mean"].push_back(0.4);
    // Exact means for short maps; any positive numbers will do for long ones.
    std::vector<double> first(static_cast<std::size_t>(n)), second(first), both(first);
    for (std::int64_t k = 0; k < n; ++k) {
      if (n > 400) {
        first[static_cast<std::size_t>(k)] = 1.0 / static_cast<double>(1 + (k * 37) % n);
        continue;
      }
      double count = 0.0;
      for (std::int64_t q = k; q < n; ++q) {
        const MapSource::Cell cell = source->cell(head.head, q, k);
        if (!cell.visible) continue;
        count += 1.0;
        first[static_cast<std::size_t>(k)] += cell.first;
        second[static_cast<std::size_t>(k)] += cell.second;
        both[static_cast<std::size_t>(k)] += cell.net;
      }
      for (auto* sums : {&first, &second, &both}) (*sums)[static_cast<std::size_t>(k)] /= std::max(1.0, count);
    }
    for (const auto* values : {&first, &second})
      for (const double v : *values) received.push_back(static_cast<float>(v));
    for (const double v : both) net.push_back(static_cast<float>(v));
    if (made.v1)
      for (std::int64_t i = 0; i < n; ++i)
        layer->series["rows/norm_gain"].push_back(1.0f + 0.5f * static_cast<float>(i % 37));
    if (made.pooled > 0)
      for (std::int64_t i = 0; i < made.pooled * made.pooled; ++i) {
        const bool masked = i % made.pooled > i / made.pooled;
        const float largest = masked ? NAN : 1.0f / static_cast<float>(1 + i);
        layer->series["maps/pooled_max_abs"].push_back(largest);
        layer->series["maps/pooled_signed_extreme"].push_back(head.head == 2 && i % 2 == 1 ? -largest : largest);
      }
  }
  if (made.keep_maps) layer->maps = source;
  auto run = std::make_shared<RunSnapshot>();
  auto prompt = std::make_shared<Prompt>();
  prompt->texts = hostile_tokens(n);
  prompt->ids.assign(static_cast<std::size_t>(n), 1);
  run->prompt = prompt;
  run->length = n;
  run->heads = layer->heads;
  run->all_layers = made.layers;
  for (std::int64_t l = 0; l < made.layers; ++l) run->layers.push_back(l), run->data.push_back(nullptr);
  run->data[0] = layer;
  run->model_name = "a model with a rather long name, instruct";
  return run;
}

class NoKeys final : public CommandLookup {
 public:
  explicit NoKeys(const Session& session) : session_(session) {}
  std::string disabled_reason(std::string_view line) const override {
    return session_.commands().disabled_reason(session_.state(), line);
  }
  std::string key_text(std::string_view) const override { return ""; }

 private:
  const Session& session_;
};

class NoClipboard final : public Clipboard {
 public:
  std::string get() override { return text; }
  void set(const std::string& to) override { text = to; }
  std::string text;
};

class MapBench {
 public:
  explicit MapBench(const MadeRun& made = {}, HeadRef head = {0, 0}) { show(made, head); }

  void show(const MadeRun& made, HeadRef head) {
    State& state = session.edit();
    RunEntry entry;
    entry.id = 1;
    entry.status = RunStatus::Done;
    entry.data = made_run(made);
    state.runs = {entry};
    state.view = {};
    state.view.run = 1;
    state.view.selection.head = head;
    tiles = std::make_unique<TileStore>(std::size_t{256} << 20, 1, [] {});
  }

  // One frame of the panel at `frame`; what it asks for is run afterwards.
  const RecordingPainter& draw(const std::function<void(PanelContext&, Rect)>& panel = draw_map_panel) {
    (void)tiles->collect();
    painter = std::make_unique<RecordingPainter>(measure, window(), scale);
    hover = {};
    facts.clear();
    lines.clear();
    input.window = window();
    input.time += 0.016;
    {
      const NoKeys lookup(session);
      Ui ui(*painter, dark ? dark_theme() : light_theme(), input, *memory, lookup, clipboard);
      PanelContext context{ui, session.state(), *tiles, session.commands(), hover, facts};
      panel(context, frame);
      tiles->want(context.wanted);
      (void)ui.finish();
      lines = ui.take_commands();
    }
    session.edit().hover = hover;
    for (const std::string& line : lines) {
      CATCH_INFO("command: " << line);
      const Result<void> result = session.execute(line);
      CATCH_INFO((result ? std::string() : describe(result.error())));
      CATCH_REQUIRE(result.has_value());
    }
    input.pressed = input.released = {};
    input.clicks = 0;
    input.wheel = {};
    return *painter;
  }

  const RecordingPainter& draw_without_tiles() {
    without_tiles(tiles, [this] { draw(); });
    return *painter;
  }

  // Frames until every tile, row and column that is shown has arrived.
  const RecordingPainter& settle() {
    for (int i = 0; i < 2000; ++i) {
      draw();
      if (fact("map.texels_pending") == 0.0 && i > 2 && tiles->statistics().waiting == 0) return draw();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    CATCH_FAIL("tiles did not arrive");
    return *painter;
  }

  double fact(std::string_view name) const {
    const std::string* text = facts.find(name);
    return text ? std::stod(*text) : NAN;
  }
  std::string text_fact(std::string_view name) const {
    const std::string* text = facts.find(name);
    return text ? *text : "";
  }
  void run(const std::string& line) {
    CATCH_INFO(line);
    CATCH_REQUIRE(session.execute(line).has_value());
  }
  void move(Vec2 to) {
    input.pointer = to;
    input.pointer_inside = true;
  }
  void press(int button, int clicks = 1) {
    input.pressed[static_cast<std::size_t>(button)] = input.down[static_cast<std::size_t>(button)] = true;
    input.clicks = clicks;
    draw();
  }
  void release(int button) {
    input.released[static_cast<std::size_t>(button)] = true;
    input.down[static_cast<std::size_t>(button)] = false;
    draw();
  }
  void click(Vec2 at, int clicks = 1) {
    move(at);
    draw();  // the pointer belongs to what was drawn in the frame before
    press(kLeftButton, clicks);
    release(kLeftButton);
  }
  [[nodiscard]] const RunSnapshot& data() const { return *session.state().data(); }
  [[nodiscard]] const MapSource& source() const { return *data().layer(0)->maps; }
  [[nodiscard]] Rect window() const { return {0, 0, frame.x1 + 20, frame.y1 + 20}; }
  // Where the cells are: the map's target as it was recorded.
  [[nodiscard]] Rect body() const { return {frame.x0, frame.y0 + measure::kPanelTitle, frame.x1, frame.y1}; }

  PlainMeasure measure;
  Session session{Session::Options{}};
  std::unique_ptr<TileStore> tiles;
  std::unique_ptr<RecordingPainter> painter;
  UiStatePtr memory = make_ui_state();
  NoClipboard clipboard;
  Input input;
  Hover hover;
  Facts facts;
  std::vector<std::string> lines;
  Rect frame{301, 69, 1099, 774};
  float scale = 1.0f;
  bool dark = true;
};

}  // namespace headroom::test
