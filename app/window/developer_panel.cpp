#include "app/window/developer_panel.h"

#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "app/window/imgui_compat.h"
#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::size_t kFramesShown = 240, kJobsShown = 12;

std::string binary_size(auto count) {
  const double bytes = static_cast<double>(count);
  return bytes < 1048576.0 ? format("%.1f KiB", bytes / 1024.0) : format("%.1f MiB", bytes / 1048576.0);
}

double quantile_of(std::vector<float> values, double q) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  return static_cast<double>(values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))]);
}

// The built-in font has ASCII alone.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80)
      out += c;
    else if (byte >= 0xc0)  // the first of a character's bytes
      out += '?';
  }
  return out;
}

void plot_times(const char* label, const std::vector<float>& all) {
  const std::vector<float> last(all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), kFramesShown)), all.end());
  const std::string text = format("%s ms: p50 %.2f  p95 %.2f  max %.2f", label, quantile_of(last, 0.5),
                                  quantile_of(last, 0.95), quantile_of(last, 1.0));
  ImGui::TextUnformatted(text.c_str());
  ImGui::PlotHistogram(format("##%s", label).c_str(), last.data(), static_cast<int>(last.size()), 0, nullptr, 0.0f,
                       static_cast<float>(std::max(1.0, 1.1 * quantile_of(last, 1.0))),
                       {ImGui::GetContentRegionAvail().x, 3.0f * ImGui::GetTextLineHeight()});
}

}  // namespace

void DeveloperPanel::draw(Input& input) {
  ImguiDrawLists& lists = loop_.painter().draw_lists();
  const float scale = loop_.window().scale();
  WidgetInput given;
  given.scale = scale;
  given.x = input.pointer_inside ? input.pointer.x * scale : -1.0f;
  given.y = input.pointer_inside ? input.pointer.y * scale : -1.0f;
  given.wheel = input.wheel.y;
  // A press and its release may come with one frame.
  for (std::size_t button = 0; button < given.down.size(); ++button)
    given.down[button] = input.down[button] || input.pressed[button];
  given.seconds = input.time - last_s_;
  last_s_ = input.time;
  lists.begin_widgets(given);

  const float width = 380.0f * scale;
  ImGui::SetNextWindowPos({(input.window.x1 - 12.0f) * scale - width, 80.0f * scale}, ImGuiCond_FirstUseEver);
  ImGui::SetNextWindowSize({width, std::min(720.0f, input.window.height() - 110.0f) * scale}, ImGuiCond_FirstUseEver);
  bool open = true;
  if (ImGui::Begin("Developer (F12)", &open)) {
    if (ImGui::CollapsingHeader("Frames", ImGuiTreeNodeFlags_DefaultOpen)) draw_frames();
    if (ImGui::CollapsingHeader("Jobs", ImGuiTreeNodeFlags_DefaultOpen)) draw_jobs();
    if (ImGui::CollapsingHeader("Tiles of maps", ImGuiTreeNodeFlags_DefaultOpen)) draw_tiles();
    if (ImGui::CollapsingHeader("Uploads and memory", ImGuiTreeNodeFlags_DefaultOpen)) draw_uploads();
    if (ImGui::CollapsingHeader("OpenGL", ImGuiTreeNodeFlags_DefaultOpen)) draw_opengl();
  }
  ImGui::End();
  if (metrics_) ImGui::ShowMetricsWindow(&metrics_);
  if (ImguiDrawLists::widgets_want_pointer()) {
    input.pointer_inside = false;
    input.pointer = {-1.0f, -1.0f};
    input.pressed = {};
    input.clicks = 0;
    input.wheel = {};
  }
  lists.end_widgets();
  if (!open) session_.run_line("developer off");
}

void DeveloperPanel::draw_frames() const {
  ImGui::Text("%lld frames; none is drawn while nothing happens", static_cast<long long>(loop_.frame_count()));
  plot_times("build", loop_.times().build);
  plot_times("whole", loop_.times().total);
}

void DeveloperPanel::draw_jobs() const {
  const State& state = session_.state();
  ImGui::Text("%s; %zu jobs ended", session_.busy() ? "working" : "idle", jobs_.count());
  for (const RunEntry& run : state.runs)
    if (run.status == RunStatus::Running || run.status == RunStatus::Waiting)
      ImGui::TextUnformatted(format("run %d %s: %lld layers", run.id, plain(run.name).c_str(),
                                    static_cast<long long>(run.data ? run.data->finished_layers() : 0))
                                 .c_str());
  const std::vector<JobLog::Job> jobs = jobs_.latest();
  if (jobs.empty() || !ImGui::BeginTable("jobs", 2, ImGuiTableFlags_RowBg)) return;
  for (std::size_t i = 0; i < std::min(jobs.size(), kJobsShown); ++i) {
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(jobs[i].name.c_str());
    ImGui::TableNextColumn();
    ImGui::Text("%.2f ms", 1e3 * jobs[i].seconds);
  }
  ImGui::EndTable();
}

void DeveloperPanel::draw_tiles() const {
  const TileStore::Statistics tiles = session_.tiles().statistics();
  ImGui::Text("%zu kept, %s of %s", tiles.tiles, binary_size(tiles.bytes).c_str(),
              binary_size(tiles.budget_bytes).c_str());
  ImGui::Text("%zu waiting, %llu computed, %llu dropped unbegun", tiles.waiting,
              static_cast<unsigned long long>(tiles.computed), static_cast<unsigned long long>(tiles.dropped));
  const LayerSnapshot* layer = session_.state().selected_layer();
  if (!layer || !layer->maps) return;
  const std::vector<std::size_t> kept = session_.tiles().kept_by_level(layer->maps->id);
  for (std::size_t level = 0; level < kept.size(); ++level)
    if (kept[level] > 0) ImGui::BulletText("level %zu of this layer: %zu tiles", level, kept[level]);
}

void DeveloperPanel::draw_uploads() const {
  const ImguiPainter::Work work = loop_.painter().work();
  ImGui::Text("%llu maps uploaded, %s", static_cast<unsigned long long>(work.map_uploads),
              binary_size(work.map_uploaded_bytes).c_str());
  ImGui::Text("textures: maps %s, glyphs %s", binary_size(work.map_bytes).c_str(),
              binary_size(work.glyph_bytes).c_str());
  ImGui::Text("the process: %s resident", binary_size(session_.state().memory_bytes).c_str());
}

void DeveloperPanel::draw_opengl() {
  const ImguiPainter::Work work = loop_.painter().work();
  ImGui::TextWrapped("%s", plain(loop_.window().gl_description()).c_str());
  ImGui::Text("%lld errors and warnings", static_cast<long long>(loop_.gl_error_count()));
  ImGui::Text("%zu draw calls, %zu vertices, %zu indices", work.draw_calls, work.vertices, work.indices);
  ImGui::Text("and %zu vertices of these windows", work.widget_vertices);
  ImGui::Checkbox((std::string("Metrics of Dear ImGui ") + ImguiDrawLists::version()).c_str(), &metrics_);
}

}  // namespace headroom
