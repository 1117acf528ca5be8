// What the record of an attention layer holds: the goldens (tests/support/attention_goldens.h), and nothing where it is
// stopped.
#include <ATen/ATen.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/compute/attention_layer.h"
#include "tests/core/compute/layer_builder.h"
#include "tests/support/attention_goldens.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {

CATCH_TEST_CASE("attention layer: the goldens in its record") {
  // Token i is the i-th unit vector, so that column i of a projection is what row i gets.
  const at::Tensor x = at::eye(kGoldenLength, at::kDouble);
  const auto rows = [](const std::vector<double>& values) {
    return tensor_of(values).view({kGoldenLength, kGoldenDim});
  };
  for (const bool pair : {false, true}) {
    AttentionSpec spec = pair ? pair_spec(1, 1, false) : plain_spec(1, 1);
    spec.head_dim = spec.value_dim = kGoldenDim;
    spec.scale = 0.25;
    AttentionWeights weights;
    const at::Tensor first = rows(golden_query(0)).t().contiguous(), second = rows(golden_query(1)).t().contiguous();
    weights.q.weight = pair ? at::cat({first, second}) : first;
    weights.k.weight = rows(golden_key()).t().contiguous();
    weights.v.weight = rows(golden_value()).t().contiguous();
    weights.o.weight = at::eye(kGoldenDim, at::kDouble);
    if (pair) {
      const at::Tensor lambda = tensor_of(golden_lambda());
      weights.lambda_projection.weight = at::log(lambda / (1.0 - lambda)).unsqueeze(0);
    }
    const std::vector<std::int64_t> induction(static_cast<std::size_t>(kGoldenLength), -1);
    Observer observer;
    const Rotary none(spec.rope, kGoldenLength, kExact);
    CATCH_REQUIRE(
        run_layer(spec, weights, none, x, kExact, options_of({0}, false), induction, 0, true, observer).has_value());
    const HeadRecord& head = observer.records.at(0).heads.at(0);
    const kernels::HeadStatistics& s = head.statistics;
    const auto mean = [](const std::vector<double>& values) { return tensor_of(values).mean().item<double>(); };
    const SoftmaxGoldens softmax;
    const DifferentialGoldens differential;
    CATCH_INFO((pair ? "pair" : "softmax"));
    CATCH_CHECK(same_digits(mean(s.maps[0].lse), softmax.mean_lse));
    CATCH_CHECK(same_digits(mean(s.maps[0].entropy), softmax.mean_entropy));
    CATCH_CHECK(same_digits(s.maps[0].column_sum[0] / 64.0, softmax.first_column_mean));
    CATCH_CHECK(same_digits(s.maps[0].column_sum[5] / 59.0, softmax.column_5_mean));
    CATCH_CHECK(same_digits(s.maps[0].logit_max_raw, softmax.logit_max));
    CATCH_CHECK(same_digits(head.value_mean_share, softmax.value_mean_share));
    CATCH_CHECK(same_digits(mean(head.context_rms), pair ? differential.mean_rms : softmax.mean_rms));
    const double l2 = tensor_of(s.weight_l2_squared).sqrt().mean().item<double>();
    CATCH_CHECK(same_digits(l2, pair ? differential.mean_l2 : softmax.mean_l2));
    const double energy = tensor_of(head.context_rms).square().sum().item<double>();
    const double coherence = energy / tensor_of(s.uncorrelated_energy).sum().item<double>();
    CATCH_CHECK(same_digits(coherence, pair ? differential.coherence : softmax.coherence));
    if (!pair) continue;
    CATCH_CHECK(same_digits(mean(s.weight_l1), differential.mean_l1));
    CATCH_CHECK(same_digits(mean(s.weight_sum), differential.mean_sum));
    CATCH_CHECK(same_digits((mean(s.weight_l1) - mean(s.weight_sum)) / 2.0, differential.mean_negative_mass));
  }
}

CATCH_TEST_CASE("attention layer: stopped, it returns the error of a cancelled run and hands no record over") {
  LayerBuilder builder(10);
  const AttentionSpec spec = plain_spec(4, 2);
  const AttentionWeights weights = builder.weights(spec);
  const at::Tensor x = builder.normal({kLength, kHidden});
  const std::vector<std::int64_t> induction(static_cast<std::size_t>(kLength), -1);
  const Rotary none(spec.rope, kLength, kExact);
  const auto run = [&](Observer& observer) {
    return run_layer(spec, weights, none, x, kExact, options_of({0, 1, 2, 3}, true), induction, 5, true, observer);
  };
  Observer undisturbed;
  CATCH_REQUIRE(run(undisturbed).has_value());
  const int questions = std::numeric_limits<int>::max() - undisturbed.questions_before_stop;
  CATCH_REQUIRE(questions >= 8);  // each head, and each head's exact map
  for (int after = 0; after < questions; ++after) {
    Observer observer;
    observer.questions_before_stop = after;
    const auto out = run(observer);
    CATCH_INFO("stopped at question " << after);
    CATCH_REQUIRE(!out.has_value());
    CATCH_CHECK(out.error().code == ErrorCode::Cancelled);
    CATCH_CHECK(exit_code(out.error().code) == 130);
    CATCH_CHECK(observer.records.empty());
  }
  Observer failing;
  failing.rows_before_failure = 2;
  const auto out = run(failing);
  CATCH_REQUIRE(!out.has_value());
  CATCH_CHECK(out.error().code == ErrorCode::Io);
  CATCH_CHECK(failing.records.empty());
}

}  // namespace headroom::test
