// The one place that knows which Dear ImGui this is: its context, its OpenGL 3 backend, draw lists of our own and its
// widgets above them, for versions 1.86 to 1.93. Shapes are triangles of our own (tessellate.h): those of Dear ImGui
// differ between versions, and since 1.93 take their soft edges from its own font texture. Main thread only, with a
// current GL context.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "app/plot/geometry.h"

namespace headroom {

// What the widgets get of the person's input, in device pixels.
struct WidgetInput {
  float x = 0.0f, y = 0.0f, wheel = 0.0f, scale = 1.0f;  // scale: device pixels per logical one
  std::array<bool, 3> down{};
  double seconds = 0.0;  // since the frame before
};

class ImguiDrawLists {
 public:
  explicit ImguiDrawLists(int count);
  ~ImguiDrawLists();
  ImguiDrawLists(const ImguiDrawLists&) = delete;
  ImguiDrawLists& operator=(const ImguiDrawLists&) = delete;

  // False if the backend could not be started.
  [[nodiscard]] bool ready() const;

  // clear() follows. Shapes and whatever else names no texture take the texel at (`white`, `white`).
  void begin_frame(float width, float height, float white);
  // Empties the lists, which begin with `texture`; the frame's widgets stay.
  void clear(unsigned texture);
  [[nodiscard]] ImDrawList& list(int index);
  // Draws the lists in order into the bound framebuffer, then the frame's widgets; the same again if called again.
  void render();

  // Each triangle and each callback in the order in which they are drawn: what it covers inside its clip, and a number
  // for how. `texture_content`, `callback_content`: what a texture holds and what a callback with such data draws, as
  // numbers.
  void visit(const std::function<std::uint64_t(unsigned texture)>& texture_content,
             const std::function<std::uint64_t(const void* data)>& callback_content,
             const std::function<void(const Rect& box, std::uint64_t content)>& add) const;
  // As render(), but these parts of the frame alone, which do not overlap.
  void render(std::span<const Rect> parts);
  [[nodiscard]] bool has_widgets() const;  // in this frame

  // Dear ImGui's own widgets may be called between these two, after begin_frame(). They keep no settings.
  void begin_widgets(const WidgetInput& input);
  void end_widgets();
  // Between these two: the pointer is over a window of the widgets, or holds one.
  [[nodiscard]] static bool widgets_want_pointer();

  struct Work {
    std::size_t draw_calls = 0, vertices = 0, indices = 0, widget_vertices = 0;
  };
  [[nodiscard]] const Work& last_work() const;  // of the last render()

  static void push_texture(ImDrawList& list, unsigned texture);
  static void pop_texture(ImDrawList& list);
  // `callback` runs in its place among the list's shapes, where it draws in `box` alone (device pixels inside the
  // list's clip): that, or the part of it that is drawn, is its command's clip. The backend's state is set again after
  // it.
  static void add_callback(ImDrawList& list, const Rect& box, ImDrawCallback callback, void* data);

  [[nodiscard]] static const char* version();

 private:
  struct State;
  void draw(std::vector<ImDrawList*>& lists);
  std::unique_ptr<State> state_;
};

}  // namespace headroom
