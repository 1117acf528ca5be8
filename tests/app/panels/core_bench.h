// The program's own frame without a display: a session with the demos, and what its window draws of it. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/chrome/window_core.h"
#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "app/session/commands.h"
#include "tests/app/session/session_bench.h"

namespace headroom::test {

class KeptClipboard final : public Clipboard {
 public:
  std::string get() override { return text_; }
  void set(const std::string& text) override { text_ = text; }

 private:
  std::string text_;
};

class CoreBench {
 public:
  // `measure` outlives it; null: a plain one.
  explicit CoreBench(const char* demo, const TextMeasure* measure = nullptr)
      : core_(*session_.operator->(), clipboard_), measure_(measure ? *measure : plain_) {
    input_.window = {0, 0, 1440, 900};
    if (demo == nullptr) return;
    session_.run("demo " + std::string(demo));
    frame();
  }

  FrameResult frame() {
    input_.time += 0.016;
    painter = std::make_unique<RecordingPainter>(measure_, input_.window, scale_);
    const FrameResult result = core_.frame(*painter, input_);
    forget_frame(input_);
    session_.wait();
    return result;
  }
  // What a picture of the window has, and nothing else comes of.
  [[nodiscard]] std::unique_ptr<RecordingPainter> picture() {
    auto page = std::make_unique<RecordingPainter>(measure_, input_.window, scale_);
    core_.draw_for_picture(*page, input_.window);
    return page;
  }
  // In device pixels, as a person makes a window that size at that scale.
  void resize(Vec2 size, float scale) {
    scale_ = scale;
    session_->edit().settings.scale = scale;
    input_.window = {0, 0, size.x / scale, size.y / scale};
  }
  void point(Vec2 at) {
    input_.pointer = at, input_.pointer_inside = true;
    input_.time += 1.0;  // it rests there
  }
  [[nodiscard]] std::vector<std::string> drop(const std::string& path) {
    input_.dropped = {path};
    return frame().lines;
  }
  // One frame, which shows what the key did.
  void key(const char* name) {
    input_.keys.push_back(*parse_key(name));
    input_.modifiers = input_.keys.back().modifiers;
    frame();
    input_.modifiers = {};
  }
  void press(Vec2 at, std::size_t button = 0) {
    input_.pointer = at, input_.pointer_inside = true;
    frame();
    input_.pressed[button] = input_.down[button] = true, input_.clicks = 1;
    frame();
    input_.pressed[button] = input_.down[button] = false, input_.released[button] = true, input_.clicks = 0;
    frame();
  }
  void type(const std::string& text) {
    input_.text = text;
    frame();
  }
  [[nodiscard]] std::string fact(const char* name) {
    const std::string* found = core_.facts().find(name);
    return found ? *found : "no such fact";
  }
  [[nodiscard]] const State& state() const { return session_.state(); }
  SessionBench& session() { return session_; }
  [[nodiscard]] Rect window() const { return input_.window; }

  std::unique_ptr<RecordingPainter> painter;

 private:
  SessionBench session_;
  KeptClipboard clipboard_;
  WindowCore core_;
  PlainMeasure plain_;
  const TextMeasure& measure_;
  Input input_;
  float scale_ = 1.0f;
};

}  // namespace headroom::test
