#include "app/window/imgui_compat.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "app/window/frame_tiles.h"

namespace headroom {
namespace {

ImTextureID texture_id(unsigned texture) {
#if IMGUI_VERSION_NUM >= 19140  // an integer since 1.91.4
  return static_cast<ImTextureID>(texture);
#else
  return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(texture));  // NOLINT(performance-no-int-to-ptr)
#endif
}

// The texture as a number, which GetTexID() gives as a pointer in some versions.
unsigned texture_of(const ImDrawCmd& command) {
#if IMGUI_VERSION_NUM >= 19140
  return static_cast<unsigned>(command.GetTexID());
#else
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(command.GetTexID()));
#endif
}

Rect clip_of(const ImDrawCmd& command) {
  return {command.ClipRect.x, command.ClipRect.y, command.ClipRect.z, command.ClipRect.w};
}

Rect box_of(const ImDrawVert& a, const ImDrawVert& b, const ImDrawVert& c) {
  return {std::min({a.pos.x, b.pos.x, c.pos.x}), std::min({a.pos.y, b.pos.y, c.pos.y}),
          std::max({a.pos.x, b.pos.x, c.pos.x}), std::max({a.pos.y, b.pos.y, c.pos.y})};
}

std::uint64_t with_vertex(std::uint64_t sum, const ImDrawVert& vertex) {
  static_assert(sizeof(ImDrawVert) == 20);
  std::uint64_t words[2];
  std::uint32_t last = 0;
  std::memcpy(words, &vertex, sizeof words);
  std::memcpy(&last, reinterpret_cast<const char*>(&vertex) + sizeof words, sizeof last);
  return mixed(mixed(mixed(sum, words[0]), words[1]), last);
}

std::uint64_t with_rect(std::uint64_t sum, const Rect& rect) {
  std::uint64_t words[2];
  static_assert(sizeof(Rect) == sizeof words);
  std::memcpy(words, &rect, sizeof words);
  return mixed(mixed(sum, words[0]), words[1]);
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
  // Of each list what render() of some parts draws; kept for their memory.
  std::vector<ImVector<ImDrawIdx>> part_indices;
  std::vector<ImVector<ImDrawCmd>> part_commands;

  // What of the list's commands lies in `part`, after what is there.
  static void add_part(const ImDrawList& list, const Rect& part, ImVector<ImDrawIdx>& indices,
                       ImVector<ImDrawCmd>& commands) {
    bool ran = false;  // the callback before: the state is set again after it
    for (const ImDrawCmd& command : list.CmdBuffer) {
      const Rect clip = clip_of(command).intersected(part);
      if (command.UserCallback != nullptr) {
        const bool resets = command.UserCallbackData == nullptr;
        const bool seen = resets ? std::exchange(ran, false) : !clip.empty();
        if (!resets) ran = seen;
        if (!seen) continue;
        commands.push_back(command);
        commands.back().ClipRect = {clip.x0, clip.y0, clip.x1, clip.y1};
        continue;
      }
      if (clip.empty()) continue;
      const int first = indices.Size;
      const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
      const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
      for (const ImDrawIdx* end = index + command.ElemCount; index < end; index += 3) {
        const Rect box = box_of(vertices[index[0]], vertices[index[1]], vertices[index[2]]);
        if (box.x1 < clip.x0 || box.x0 > clip.x1 || box.y1 < clip.y0 || box.y0 > clip.y1) continue;
        indices.push_back(index[0]), indices.push_back(index[1]), indices.push_back(index[2]);
      }
      if (indices.Size == first) continue;
      commands.push_back(command);
      ImDrawCmd& drawn = commands.back();
      drawn.ClipRect = {clip.x0, clip.y0, clip.x1, clip.y1};
      drawn.IdxOffset = static_cast<unsigned>(first);
      drawn.ElemCount = static_cast<unsigned>(indices.Size - first);
    }
  }
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
  std::vector<ImDrawList*> filled;
  for (const auto& list : state_->lists) {
    list->_PopUnusedDrawCmd();
    if (list->CmdBuffer.Size > 0) filled.push_back(list.get());
  }
  draw(filled);
}

void ImguiDrawLists::render(std::span<const Rect> parts) {
  State& s = *state_;
  s.part_indices.resize(s.lists.size()), s.part_commands.resize(s.lists.size());
  std::vector<ImDrawList*> filled;
  for (std::size_t i = 0; i < s.lists.size(); ++i) {
    ImDrawList& list = *s.lists[i];
    list._PopUnusedDrawCmd();
    s.part_indices[i].resize(0), s.part_commands[i].resize(0);
    for (const Rect& part : parts) State::add_part(list, part, s.part_indices[i], s.part_commands[i]);
    if (s.part_commands[i].Size > 0) filled.push_back(&list);
  }
  // The lists hold them while they are drawn.
  const auto exchange = [&s] {
    for (std::size_t i = 0; i < s.lists.size(); ++i) {
      s.lists[i]->IdxBuffer.swap(s.part_indices[i]);
      s.lists[i]->CmdBuffer.swap(s.part_commands[i]);
    }
  };
  exchange();
  draw(filled);
  exchange();
}

void ImguiDrawLists::visit(const std::function<std::uint64_t(unsigned)>& texture_content,
                           const std::function<std::uint64_t(const void*)>& callback_content,
                           const std::function<void(const Rect&, std::uint64_t)>& add) const {
  for (const auto& list : state_->lists)
    for (const ImDrawCmd& command : list->CmdBuffer) {
      const Rect clip = clip_of(command);
      if (clip.empty()) continue;
      if (command.UserCallback != nullptr) {
        if (command.UserCallbackData != nullptr) add(clip, with_rect(callback_content(command.UserCallbackData), clip));
        continue;
      }
      const std::uint64_t begun = with_rect(texture_content(texture_of(command)), clip);
      const ImDrawVert* vertices = list->VtxBuffer.Data + command.VtxOffset;
      const ImDrawIdx* index = list->IdxBuffer.Data + command.IdxOffset;
      for (const ImDrawIdx* end = index + command.ElemCount; index < end; index += 3) {
        const ImDrawVert &a = vertices[index[0]], &b = vertices[index[1]], &c = vertices[index[2]];
        const Rect box = box_of(a, b, c);
        if (box.x1 < clip.x0 || box.x0 > clip.x1 || box.y1 < clip.y0 || box.y0 > clip.y1) continue;
        add({std::max(box.x0, clip.x0), std::max(box.y0, clip.y0), std::min(box.x1, clip.x1),
             std::min(box.y1, clip.y1)},
            with_vertex(with_vertex(with_vertex(begun, a), b), c));
      }
    }
}

bool ImguiDrawLists::has_widgets() const { return state_->widgets; }

void ImguiDrawLists::draw(std::vector<ImDrawList*>& filled) {
  ImGui::SetCurrentContext(state_->context);
  ImDrawData data;
  data.Clear();
  Work work;
  for (const ImDrawList* list : filled) {
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

void ImguiDrawLists::add_callback(ImDrawList& list, const Rect& box, ImDrawCallback callback, void* data) {
  list.PushClipRect({box.x0, box.y0}, {box.x1, box.y1}, false);
  list.AddCallback(callback, data);
  list.PopClipRect();
#if IMGUI_VERSION_NUM >= 19280  // the backend says it since 1.92.8
  list.AddCallback(ImGui::GetPlatformIO().DrawCallback_ResetRenderState, nullptr);
#else
  list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
#endif
}

const char* ImguiDrawLists::version() { return IMGUI_VERSION; }

}  // namespace headroom
