// Panels that need no run of a model, on a made-up state: what they draw, what they run. One thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/chrome/window_layout.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "core/maps/map_tiles.h"
#include "core/run/open_model.h"
#include "tests/app/ui/ui_bench.h"

namespace headroom::test {

// Names as people and attackers choose them.
inline std::vector<std::string> hostile_names() {
  return {std::string(300, 'W'),
          "注意力模型-チェックポイント-漢字仮名交じり文の長い名前",
          "👩‍👩‍👧‍👦 family 🇨🇦",
          "\x1B[31mred\x1B[0m\n\ttwo lines",
          "\xE2\x80\xAE"
          "reversed "
          "הקדמה ארוכה",
          std::string("broken \xFF\xFE utf-8"),
          "a b",
          ""};
}

class PanelBench : public CommandLookup {
 public:
  using DrawPanel = std::function<void(PanelContext&)>;

  explicit PanelBench(DrawPanel draw, Vec2 size = {1440.0f, 900.0f}, float scale = 1.0f)
      : draw_(std::move(draw)), scale_(scale) {
    input.window = {0.0f, 0.0f, size.x / scale, size.y / scale};
    state.settings.scale = scale;
  }

  [[nodiscard]] std::string disabled_reason(std::string_view line) const override {
    return table.disabled_reason(state, line);
  }
  [[nodiscard]] std::string key_text(std::string_view line) const override { return table.key_of(state, line); }

  void frame() {
    painter = std::make_unique<RecordingPainter>(measure_, input.window, scale_);
    Ui ui(*painter, theme(), input, *memory_, *this, clipboard);
    Hover hover;
    PanelContext context{ui, state, tiles_, table, hover, facts, nullptr, nullptr, folders};
    context.readouts = readouts;
    draw_(context);
    ui.finish();
    wants_text = ui.wants_text();
    keys_taken = ui.popup_open();
    for (std::string& line : ui.take_commands()) commands.push_back(std::move(line));
    input.pressed = {};
    input.released = {};
    input.keys.clear();
    input.text.clear();
    input.wheel = {};
    input.clicks = 0;
    input.time += 1.0 / 60.0;
  }
  void move(Vec2 to) {
    input.pointer = to;
    input.pointer_inside = true;
    frame();
  }
  void click(Vec2 at, int clicks = 1) {
    move(at);
    input.down[0] = input.pressed[0] = true;
    input.clicks = clicks;
    frame();
    input.down[0] = false;
    input.released[0] = true;
    frame();
  }
  void key(Key key, Modifiers modifiers = {}) {
    input.keys.push_back({key, modifiers, false});
    frame();
  }
  void type(const std::string& text) {
    input.text = text;
    frame();
  }
  [[nodiscard]] Vec2 place(std::string_view part) const {
    const auto found = painter->find(part);
    if (found.empty()) return {-1.0f, -1.0f};
    return {found.back()->baseline.x + 0.5f * found.back()->width, found.back()->baseline.y - 4.0f};
  }
  [[nodiscard]] bool shows(std::string_view part) const { return painter->shows(part); }
  [[nodiscard]] std::vector<std::string> taken() { return std::exchange(commands, {}); }
  [[nodiscard]] const Theme& theme() const { return state.settings.dark ? dark_theme() : light_theme(); }
  [[nodiscard]] std::string wrong() const {
    std::string text;
    for (const std::string& line : painter->violations()) text += line + "\n";
    return text;
  }

  State state;
  CommandTable table = make_command_table();
  Facts facts;
  Readouts readouts;
  Input input;
  BenchClipboard clipboard;
  std::unique_ptr<RecordingPainter> painter;
  std::vector<std::string> commands;
  bool wants_text = false, keys_taken = false;
  FolderReader* folders = nullptr;

 private:
  DrawPanel draw_;
  float scale_;
  PlainMeasure measure_;
  UiStatePtr memory_ = make_ui_state();
  TileStore tiles_{std::size_t{1} << 20, 1, [] {}};
};

// A run of four tokens with one head of one layer; differential: two maps and λ = 0.5 in every row.
inline std::shared_ptr<const RunSnapshot> small_run(bool differential, const std::vector<std::string>& tokens = {
                                                                           "   ", " Public", "x", "\n"}) {
  constexpr std::int64_t kLength = 4;
  auto maps = std::make_shared<MapSource>();
  maps->id = next_map_source_id();
  maps->length = kLength;
  maps->head_dim = 1;
  maps->num_query_blocks = maps->num_key_blocks = 2;
  maps->queries = {1, 1, 1, 1, 1, 1, 1, 1};
  maps->keys = {0, 1, 2, 3, 3, 2, 1, 0};
  MapSource::Head head;
  head.program.first = {0, 0, {0}};
  head.program.lambda = differential ? LambdaSource::Projection : LambdaSource::None;
  if (differential) head.program.second = {1, 1, {0}};
  for (std::int64_t q = 0; q < kLength; ++q) {
    double first = 0.0, second = 0.0;
    for (std::int64_t k = 0; k <= q; ++k) {
      first += std::exp(static_cast<double>(maps->keys[static_cast<std::size_t>(k)]));
      second += std::exp(static_cast<double>(maps->keys[static_cast<std::size_t>(kLength + k)]));
    }
    head.lse[0].push_back(std::log(first));
    if (differential) {
      head.lse[1].push_back(std::log(second));
      head.lambda.push_back(0.5);
    }
  }
  auto layer = std::make_shared<LayerSnapshot>();
  layer->layer = 0;
  layer->length = kLength;
  layer->kind = differential ? "diff_v2" : "softmax";
  layer->heads = {0};
  layer->programs = {head.program};
  for (std::int64_t q = 0; q < kLength; ++q) {
    layer->series["rows/logit_max"].push_back(static_cast<float>(q));
    layer->series["rows/lse"].push_back(static_cast<float>(head.lse[0][static_cast<std::size_t>(q)]));
  }
  layer->summary["sink_score"] = {0.793};
  maps->heads.push_back(std::move(head));
  layer->maps = maps;
  auto prompt = std::make_shared<Prompt>();
  prompt->texts = tokens;
  prompt->ids = {1, 2, 3, 4};
  auto run = std::make_shared<RunSnapshot>();
  run->prompt = prompt;
  run->length = kLength;
  run->layers = {0};
  run->heads = {0};
  run->all_layers = 1;
  run->data = {layer};
  run->complete = true;
  return run;
}

inline void show_run(State& state, std::shared_ptr<const RunSnapshot> data, const std::string& name = "SmolLM2-135M") {
  ModelEntry model;
  model.id = 1;
  model.path = "/models/" + name;
  model.name = name;
  static const std::shared_ptr<const OpenedModel> kOpened = [] {
    auto opened = open_model(std::filesystem::path(HEADROOM_FIXTURES) / "../../assets/demo/backcopy/softmax", {});
    return opened ? std::make_shared<const OpenedModel>(std::move(*opened)) : nullptr;
  }();
  model.model = kOpened;
  state.models = {model};
  state.model = 1;
  RunEntry run;
  run.id = 2;
  run.model = 1;
  run.name = name;
  run.status = RunStatus::Done;
  run.data = std::move(data);
  run.seconds = 1.84;
  run.device = "cpu";
  run.dtype = "float32";
  run.prompt_title = "GPL-3";
  state.runs = {run};
  state.view.run = 2;
  state.view.selection.head = HeadRef{0, 0};
  state.prompt.title = "GPL-3";
}

}  // namespace headroom::test
