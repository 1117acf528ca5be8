// A study without recipes, for claims that need no model, and a backend that nothing may ask. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/reproduce/study.h"
#include "core/training/training.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {

class IdleBackend final : public ComputeBackend {
 public:
  Result<AttentionChoice> choose_attention(const ForwardOptions&) override { return refusal(); }
  Result<ForwardSummary> run(const ModelSource&, const ModelSpec&, const ForwardOptions&, ForwardObserver&) override {
    return refusal();
  }
  Result<ForwardSummary> run_variants(const ModelSource&, const ModelSpec&, const ForwardOptions&, const VariantSweep&,
                                      VariantObserver&) override {
    return refusal();
  }
  Result<BenchmarkReport> benchmark(const BenchmarkRequest&, const std::function<void(double, const std::string&)>&,
                                    const kernels::StopRequested&) override {
    return refusal();
  }
  Result<TrainingOutcome> train(const TrainingRequest&, TrainingObserver&) override { return refusal(); }
  BackendInfo info() override { return {}; }

 private:
  static Error refusal() { return Error(ErrorCode::Unsupported, "nothing is to be run here"); }
};

// An assets folder with `recipes`, and what becomes of it.
struct StudyFolder {
  TempFolder folder;
  IdleBackend backend;
  StudyOptions options;

  StudyFolder() {
    options.assets = folder.path();
    options.output = folder.path() / "out";
    std::filesystem::create_directory(options.assets / "recipes");
  }
  [[nodiscard]] Result<std::unique_ptr<Study>> create() { return Study::create(backend, options, {}, {}); }
  [[nodiscard]] std::unique_ptr<Study> created() {
    auto study = create();
    if (!study) throw std::runtime_error(describe(study.error()));
    return std::move(*study);
  }
};

}  // namespace headroom::test
