#include "app/window/imgui_compat.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {
namespace {

ImTextureID texture_id(unsigned texture) {
#if IMGUI_VERSION_NUM >= 19140  // an integer since 1.91.4
  return static_cast<ImTextureID>(texture);
#else
  return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(texture));  // NOLINT(performance-no-int-to-ptr)
#endif
}

}  // namespace

struct ImguiDrawLists::State {
  ImGuiContext* context = nullptr;
  bool ready = false;
  ImDrawListSharedData shared;
  std::vector<std::unique_ptr<ImDrawList>> lists;
  float width = 1.0f, height = 1.0f;
  bool widgets = false;  // the frame has some
  Work work;
};

ImguiDrawLists::ImguiDrawLists(int count) : state_(std::make_unique<State>()) {
  state_->context = ImGui::CreateContext();
  ImGui::SetCurrentContext(state_->context);
  ImGui::GetIO().IniFilename = nullptr;
  state_->ready = ImGui_ImplOpenGL3_Init("#version 330 core");
  // 16-bit indices, and more than 65,536 vertices in a list.
#if IMGUI_VERSION_NUM >= 19300  // one set of flags for lists and primitives since 1.93.0
  state_->shared.InitialDrawFlags = ImDrawFlags_UseVtxOffset;
#else
  state_->shared.InitialFlags = ImDrawListFlags_AllowVtxOffset;
#endif
  for (int i = 0; i < count; ++i) state_->lists.push_back(std::make_unique<ImDrawList>(&state_->shared));
}

ImguiDrawLists::~ImguiDrawLists() {
  state_->lists.clear();
  ImGui::SetCurrentContext(state_->context);
  if (state_->ready) ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(state_->context);
}

bool ImguiDrawLists::ready() const { return state_->ready; }

void ImguiDrawLists::begin_frame(float width, float height, float white) {
  ImGui::SetCurrentContext(state_->context);
  ImGui::GetIO().DisplaySize = {width, height};
  ImGui_ImplOpenGL3_NewFrame();
  state_->width = width;
  state_->height = height;
  state_->widgets = false;
  state_->shared.TexUvWhitePixel = {white, white};
  state_->shared.ClipRectFullscreen = {0.0f, 0.0f, width, height};
}

void ImguiDrawLists::clear(unsigned texture) {
  ImGui::SetCurrentContext(state_->context);
  for (const auto& list : state_->lists) {
    list->_ResetForNewFrame();
    push_texture(*list, texture);
    list->PushClipRectFullScreen();
  }
}

ImDrawList& ImguiDrawLists::list(int index) { return *state_->lists[static_cast<std::size_t>(index)]; }

void ImguiDrawLists::render() {
  ImGui::SetCurrentContext(state_->context);
  ImDrawData data;
  data.Clear();
  std::vector<ImDrawList*> filled;
  Work work;
  for (const auto& list : state_->lists) {
    list->_PopUnusedDrawCmd();
    if (list->CmdBuffer.Size == 0) continue;
    filled.push_back(list.get());
    data.TotalVtxCount += list->VtxBuffer.Size;
    data.TotalIdxCount += list->IdxBuffer.Size;
    work.draw_calls += static_cast<std::size_t>(list->CmdBuffer.Size);
  }
  work.vertices = static_cast<std::size_t>(data.TotalVtxCount);
  work.indices = static_cast<std::size_t>(data.TotalIdxCount);
  data.Valid = true;
#if IMGUI_VERSION_NUM >= 18973  // an ImVector since 1.89.8
  for (ImDrawList* list : filled) data.CmdLists.push_back(list);
#else
  data.CmdLists = filled.data();
#endif
#if IMGUI_VERSION_NUM < 19290  // the vector's own size since 1.92.9
  data.CmdListsCount = static_cast<int>(filled.size());
#endif
  data.DisplayPos = {0.0f, 0.0f};
  data.DisplaySize = {state_->width, state_->height};
  data.FramebufferScale = {1.0f, 1.0f};
  ImGui_ImplOpenGL3_RenderDrawData(&data);
  if (ImDrawData* widgets = state_->widgets ? ImGui::GetDrawData() : nullptr) {
    work.widget_vertices = static_cast<std::size_t>(widgets->TotalVtxCount);
    ImGui_ImplOpenGL3_RenderDrawData(widgets);
  }
  state_->work = work;
}

void ImguiDrawLists::begin_widgets(const WidgetInput& input) {
  ImGui::SetCurrentContext(state_->context);
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = std::clamp(static_cast<float>(input.seconds), 1e-4f, 1.0f);
#if IMGUI_VERSION_NUM >= 18700  // events since 1.87
  io.AddMousePosEvent(input.x, input.y);
  for (int button = 0; button < 3; ++button)
    io.AddMouseButtonEvent(button, input.down[static_cast<std::size_t>(button)]);
  if (input.wheel != 0.0f) io.AddMouseWheelEvent(0.0f, input.wheel);
#else
  io.MousePos = {input.x, input.y};
  for (std::size_t button = 0; button < 3; ++button) io.MouseDown[button] = input.down[button];
  io.MouseWheel = input.wheel;
#endif
#if IMGUI_VERSION_NUM >= 19200
  ImGui::GetStyle().FontScaleMain = input.scale;
#else
  io.FontGlobalScale = input.scale;
#endif
  ImGui::NewFrame();
}

void ImguiDrawLists::end_widgets() {
  ImGui::Render();
  state_->widgets = true;
}

bool ImguiDrawLists::widgets_want_pointer() { return ImGui::GetIO().WantCaptureMouse; }
const ImguiDrawLists::Work& ImguiDrawLists::last_work() const { return state_->work; }

#if IMGUI_VERSION_NUM >= 19200  // renamed in 1.92.0
void ImguiDrawLists::push_texture(ImDrawList& list, unsigned texture) { list.PushTexture(texture_id(texture)); }
void ImguiDrawLists::pop_texture(ImDrawList& list) { list.PopTexture(); }
#else
void ImguiDrawLists::push_texture(ImDrawList& list, unsigned texture) { list.PushTextureID(texture_id(texture)); }
void ImguiDrawLists::pop_texture(ImDrawList& list) { list.PopTextureID(); }
#endif

void ImguiDrawLists::add_callback(ImDrawList& list, ImDrawCallback callback, void* data) {
  list.AddCallback(callback, data);
#if IMGUI_VERSION_NUM >= 19280  // the backend says it since 1.92.8
  list.AddCallback(ImGui::GetPlatformIO().DrawCallback_ResetRenderState, nullptr);
#else
  list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
#endif
}

const char* ImguiDrawLists::version() { return IMGUI_VERSION; }

}  // namespace headroom
