// What the program itself costs, for those who work on it (F12): frame times, jobs, tiles of maps, uploads, OpenGL, and
// Dear ImGui's own metrics window. Drawn with Dear ImGui's widgets above the window. Main thread only.
#pragma once

#include <string>

#include "app/session/session.h"
#include "app/ui/input.h"
#include "app/window/frame_loop.h"
#include "app/window/job_log.h"

namespace headroom {

class DeveloperPanel {
 public:
  // All outlive it.
  DeveloperPanel(FrameLoop& loop, Session& session, const JobLog& jobs) : loop_(loop), session_(session), jobs_(jobs) {}

  // After FrameLoop::begin_frame() and before end_frame(), in a frame that shows it: its windows, on the input as it
  // came. Afterwards the input is what is left for the window below: no pointer where one of these has it.
  void draw(Input& input);

 private:
  void draw_frames() const;
  void draw_jobs() const;
  void draw_tiles() const;
  void draw_uploads() const;
  void draw_opengl();

  FrameLoop& loop_;
  Session& session_;
  const JobLog& jobs_;
  double last_s_ = 0.0;  // Input::time of the frame before
  bool metrics_ = false;
};

}  // namespace headroom
