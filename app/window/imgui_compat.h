// The one place that knows which Dear ImGui this is: its context, its OpenGL 3 backend and draw lists of our own, for
// versions 1.86 to 1.93. Shapes are triangles of our own (tessellate.h): those of Dear ImGui differ between versions,
// and since 1.93 take their soft edges from its own font texture. Main thread only, with a current GL context.
#pragma once

#include <imgui.h>

#include <memory>

namespace headroom {

class ImguiDrawLists {
 public:
  explicit ImguiDrawLists(int count);
  ~ImguiDrawLists();
  ImguiDrawLists(const ImguiDrawLists&) = delete;
  ImguiDrawLists& operator=(const ImguiDrawLists&) = delete;

  // False if the backend could not be started.
  [[nodiscard]] bool ready() const;

  // Empties the lists. Shapes and whatever else names no texture take the texel at (`white`, `white`) of `texture`.
  void begin_frame(float width, float height, unsigned texture, float white);
  [[nodiscard]] ImDrawList& list(int index);
  // Draws the lists in order into the bound framebuffer; the same again if called again.
  void render();

  static void push_texture(ImDrawList& list, unsigned texture);
  static void pop_texture(ImDrawList& list);
  // `callback` runs in its place among the list's shapes; the backend's state is set again after it.
  static void add_callback(ImDrawList& list, ImDrawCallback callback, void* data);

  [[nodiscard]] static const char* version();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headroom
