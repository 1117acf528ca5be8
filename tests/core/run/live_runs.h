// Runs in memory of the demo models, for tests that compare them with run files and with one another. Each model is
// opened once a test; the backend is the program's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/run/live_run.h"
#include "tests/support/catch.h"
#include "tests/support/required.h"

namespace headroom::test {

[[nodiscard]] inline std::filesystem::path demo_folder() {
  return std::filesystem::path(HEADROOM_FIXTURES).parent_path().parent_path() / "assets" / "demo";
}

[[nodiscard]] inline ComputeBackend& live_backend() { return *required(load_compute()); }

// A demo model and a prompt of its vocabulary, the same at every call.
struct LiveModel {
  explicit LiveModel(const std::string& name, std::size_t length = 96)
      : model(std::make_shared<OpenedModel>(required(open_model(demo_folder() / name, {})))) {
    auto made = std::make_shared<Prompt>();
    std::uint32_t state = 7;
    for (std::size_t i = 0; i < length; ++i) {
      state = state * 1664525U + 1013904223U;
      made->ids.push_back(static_cast<std::int32_t>((state >> 8) % static_cast<std::uint32_t>(model->spec.vocab_size)));
    }
    prompt = made;
  }

  [[nodiscard]] LiveRunRequest request() const {
    LiveRunRequest request;
    request.model = model;
    request.prompt = prompt;
    return request;
  }
  [[nodiscard]] AnalysisRequest analysis(const std::filesystem::path& output) const {
    AnalysisRequest request;
    request.model = model.get();
    request.prompt = *prompt;
    request.output = output;
    return request;
  }

  std::shared_ptr<const OpenedModel> model;
  std::shared_ptr<const Prompt> prompt;
};

using Snapshot = std::shared_ptr<const RunSnapshot>;

[[nodiscard]] inline Snapshot live(const LiveRunRequest& request) {
  return required(run_live(live_backend(), request, {}, {}, {}));
}

}  // namespace headroom::test
