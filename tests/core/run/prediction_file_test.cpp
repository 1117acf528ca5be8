// What a run keeps of next tokens: in memory and in the file the same, with losses whose mean is that of the run.
#include "core/run/prediction_file.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "tests/core/run/live_runs.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

// Single bytes: a token's name is its number.
class NumberNames final : public Tokenizer {
 public:
  [[nodiscard]] Result<Encoding> encode(std::string_view /*text*/, BosMode /*bos*/) const override {
    return Error(ErrorCode::Unsupported, "names alone");
  }
  [[nodiscard]] std::string token_bytes(std::int32_t id) const override { return "t" + std::to_string(id); }
  [[nodiscard]] bool is_special(std::int32_t /*id*/) const override { return false; }
  [[nodiscard]] std::int64_t vocab_size() const override { return 1 << 20; }
  [[nodiscard]] std::string description() const override { return "numbers"; }
};

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (static_cast<float>(a[i]) != static_cast<float>(b[i]) && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

}  // namespace

CATCH_TEST_CASE("predictions: of a run in memory and of its file the same, their mean loss that of the run") {
  const LiveModel demo("bytes/diff_v2", 60);
  const TempFolder folder;
  AnalysisRequest analysis = demo.analysis(folder.path() / "run.h5");
  LiveRunRequest request = demo.request();
  analysis.tokenizer = request.tokenizer = std::make_shared<const NumberNames>();
  (void)required(analyze(live_backend(), analysis, {}, {}));
  const Snapshot run = live(request), file = required(read_run(analysis.output));
  CATCH_REQUIRE(run->predictions);
  CATCH_REQUIRE(file->predictions);
  const Predictions &a = *run->predictions, &b = *file->predictions;
  CATCH_CHECK(a.rows() == 60);
  CATCH_CHECK(a.vocabulary == demo.model->spec.vocab_size);
  CATCH_CHECK(b.vocabulary == a.vocabulary);
  CATCH_CHECK(a.loss.size() == 59);
  CATCH_CHECK(std::accumulate(a.loss.begin(), a.loss.end(), 0.0) / 59.0 == run->next_token_loss);
  CATCH_CHECK(a.token == b.token);
  CATCH_CHECK(a.rank == b.rank);
  CATCH_CHECK(a.texts == b.texts);
  CATCH_CHECK(same(a.log_probability, b.log_probability));
  CATCH_CHECK(same(a.log_sum_exp, b.log_sum_exp));
  CATCH_CHECK(same(a.entropy, b.entropy));
  CATCH_CHECK(same(a.loss, b.loss));
  for (std::size_t i = 0; i < a.loss.size(); ++i) {
    // What came is listed at its rank with its loss, where it is among the likeliest.
    const std::int32_t came = demo.prompt->ids[i + 1];
    for (std::size_t k = 0; k < 8; ++k)
      if (a.token[8 * i + k] == came) {
        CATCH_CHECK(a.rank[i] <= static_cast<std::int32_t>(k) + 1);
        CATCH_CHECK(std::abs(a.loss[i] + a.log_probability[8 * i + k]) < 1e-9);
        CATCH_CHECK(a.texts.at(came) == "t" + std::to_string(came));
      }
  }
}

CATCH_TEST_CASE("predictions: a run that ends before the logits has none, one with a changed head its own") {
  const LiveModel demo("bytes/softmax", 24);
  LiveRunRequest early = demo.request();
  early.last_layer = 0;
  early.layers = {0};
  CATCH_CHECK(live(early)->predictions == nullptr);
  LiveRunRequest changed = demo.request();
  changed.what_ifs = {required(parse_what_if("L0.H0:head=off"))};
  const Snapshot base = live(demo.request()), other = live(changed);
  CATCH_REQUIRE(other->predictions);
  CATCH_CHECK(other->predictions->loss != base->predictions->loss);
}

}  // namespace headroom::test
