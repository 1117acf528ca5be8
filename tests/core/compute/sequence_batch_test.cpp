// Which sequences pass the blocks together, seen from within: products of several sequences are made alike only then.
// That nothing depends on it, oracle/test_corpus_batches.py holds.
#include "core/compute/sequence_batch.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/compute/alike_products.h"
#include "core/run/open_model.h"
#include "tests/core/compute/layer_builder.h"
#include "tests/support/catch.h"
#include "tests/support/required.h"

namespace headroom::test {
namespace {

class Watcher final : public ForwardObserver {
 public:
  Result<void> on_layer(LayerRecord) override {
    const AlikeProducts* products = AlikeProducts::here();
    (products ? together : alone) += 1;
    if (products) shared = products->shared_shapes();
    return {};
  }
  [[nodiscard]] bool stop_requested() const override { return false; }
  int together = 0, alone = 0;
  std::int64_t shared = 0;
};

// Sequences of these lengths through a shipped model.
std::vector<Watcher> watched(const std::vector<std::size_t>& lengths, const TorchTarget& target) {
  const OpenedModel model =
      required(open_model(std::filesystem::path(HEADROOM_FIXTURES) / "../../assets/demo/bytes/diff_v2", {}));
  ForwardOptions options;
  options.layers = {0, 1}, options.heads = {0, 1};
  std::vector<std::vector<std::int32_t>> sequences;
  for (std::size_t s = 0; s < lengths.size(); ++s)
    for (sequences.emplace_back(); sequences.back().size() < lengths[s];)
      sequences.back().push_back(static_cast<std::int32_t>((7 * s + 3 * sequences.back().size()) % 256));
  std::vector<Watcher> watchers(lengths.size());
  std::vector<ForwardObserver*> observers;
  for (Watcher& watcher : watchers) observers.push_back(&watcher);
  CATCH_REQUIRE(run_sequences(model.source, model.spec, options, sequences, target, observers).has_value());
  return watchers;
}

const TorchTarget kSingle{at::kFloat, at::kFloat, at::kCPU, AttentionBackend::Cpu};

}  // namespace

CATCH_TEST_CASE("sequences: those of one length pass an ordinary model together, and most products are of all rows") {
  for (const Watcher& watcher : watched({40, 40, 40}, kSingle)) {
    CATCH_CHECK(watcher.together == 2);
    CATCH_CHECK(watcher.alone == 0);
    CATCH_CHECK(watcher.shared >= 1);
  }
}

CATCH_TEST_CASE("sequences: in 16 bits the heads go together and each product is of one sequence") {
  const TorchTarget narrow{at::kBFloat16, at::kFloat, at::kCPU, AttentionBackend::Cpu};
  for (const Watcher& watcher : watched({40, 40}, narrow)) {
    CATCH_CHECK(watcher.together == 2);
    CATCH_CHECK(watcher.shared == 0);
  }
}

CATCH_TEST_CASE("sequences: alone, of two lengths, or long, they pass one after the other") {
  for (const std::vector<std::size_t>& lengths : {std::vector<std::size_t>{40}, {40, 41}, {513, 513}})
    for (const Watcher& watcher : watched(lengths, kSingle)) {
      CATCH_CHECK(watcher.together == 0);
      CATCH_CHECK(watcher.alone == 2);
    }
}

}  // namespace headroom::test
