// What the self-check finds wrong in a corpus goes with the file: made by a backend whose numbers are wrong.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/corpus/shard_origin.h"
#include "core/io/run_file.h"
#include "core/training/training.h"
#include "tests/app/session/made_corpus.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

// Passes on what a corpus hears, with one row sum of the first head changed.
class WrongSum final : public ForwardObserver {
 public:
  explicit WrongSum(ForwardObserver& to) : to_(to) {}
  Result<void> on_layer(LayerRecord record) override {
    if (record.layer == 1) record.heads.front().statistics.weight_sum[3] = 0.5;
    return to_.on_layer(std::move(record));
  }
  void on_progress(double fraction, const std::string& what) override { to_.on_progress(fraction, what); }
  [[nodiscard]] bool stop_requested() const override { return to_.stop_requested(); }

 private:
  ForwardObserver& to_;
};

class WrongBackend final : public ComputeBackend {
 public:
  explicit WrongBackend(ComputeBackend& to) : to_(to) {}
  Result<AttentionChoice> choose_attention(const ForwardOptions& options) override {
    return to_.choose_attention(options);
  }
  Result<ForwardSummary> run(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                             ForwardObserver& observer) override {
    WrongSum wrong(observer);
    return to_.run(source, model, options, wrong);
  }
  Result<std::vector<ForwardSummary>> run_batch(const ModelSource& source, const ModelSpec& model,
                                                const ForwardOptions& options,
                                                std::span<const std::vector<std::int32_t>> sequences,
                                                std::span<ForwardObserver* const> observers) override {
    std::vector<std::unique_ptr<WrongSum>> wrong;
    std::vector<ForwardObserver*> passed;
    for (ForwardObserver* const observer : observers)
      passed.push_back(wrong.emplace_back(std::make_unique<WrongSum>(*observer)).get());
    return to_.run_batch(source, model, options, sequences, passed);
  }
  Result<ForwardSummary> run_variants(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                                      const VariantSweep& sweep, VariantObserver& observer) override {
    return to_.run_variants(source, model, options, sweep, observer);
  }
  Result<BenchmarkReport> benchmark(const BenchmarkRequest& request,
                                    const std::function<void(double, const std::string&)>& progress,
                                    const kernels::StopRequested& stop) override {
    return to_.benchmark(request, progress, stop);
  }
  Result<TrainingOutcome> train(const TrainingRequest& request, TrainingObserver& observer) override {
    return to_.train(request, observer);
  }
  BackendInfo info() override { return to_.info(); }

 private:
  ComputeBackend& to_;
};

CATCH_TEST_CASE("corpus view: what the self-check found wrong is said when the file is opened", "[corpus]") {
  SessionBench bench;
  const TempFolder folder;
  const std::filesystem::path path = folder.path() / "all.h5";
  auto inner = bench->runner().compute().backend();
  CATCH_REQUIRE(inner.has_value());
  WrongBackend wrong(**inner);
  const std::vector<std::string> ran = make_corpus(bench, path, {.sequences = 3, .pieces = 1, .backend = &wrong});
  CATCH_REQUIRE(ran.size() == 3);
  for (std::size_t s = 0; s < ran.size(); ++s) {
    CATCH_INFO(ran[s]);
    CATCH_CHECK(ran[s].starts_with("sequence " + std::to_string(s) + ": L1.H0 row 3: the row sum is 0.5"));
  }
  {
    const auto file = RunFile::open(path);
    CATCH_REQUIRE(file.has_value());
    CATCH_CHECK(*read_violations(**file) == ran);
  }
  // The finished file says it to who asks for it once more, though nothing runs.
  CATCH_CHECK(make_corpus(bench, path, {.sequences = 3, .pieces = 1}) == ran);

  bench.run("open " + quote_word(path.string()));
  for (const std::string& sentence : ran)
    CATCH_CHECK(std::ranges::any_of(bench.state().messages, [&](const Message& message) {
      return message.level == MessageLevel::Error && message.text == "all: self-check: " + sentence;
    }));
}

}  // namespace
}  // namespace headroom::test
