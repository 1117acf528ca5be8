// Evaluations around a backend whose numbers are written out here: what is a mean over sequences and what an extreme,
// what is left out, and what stops one. Expected values are by hand from those numbers.
#include "core/run/evaluation.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/family.h"
#include "core/training/training.h"
#include "tests/core/measure/dense_head.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kLength = 8, kLayers = 2, kHeads = 3;
// Element of context_rms_relative_quantile for probability .5, and its last one, 1.
constexpr std::size_t kMedian = 5, kLast = 10;

// The sequence's number is its first token; `change` says what is special about a head.
struct Place {
  std::int64_t sequence, layer, head;
};

class FakeBackend final : public ComputeBackend {
 public:
  std::function<void(const Place& place, HeadRecord& record)> change;
  std::function<std::optional<double>(std::int64_t sequence)> loss = [](std::int64_t) { return 1.0; };
  std::int64_t last_layer = kLayers - 1;  // of the sequence `broken`: its output is not finite
  std::int64_t broken = -1;
  std::vector<ForwardOptions> seen;

  Result<ForwardSummary> run(const ModelSource&, const ModelSpec& model, const ForwardOptions& options,
                             ForwardObserver& observer) override {
    seen.push_back(options);
    const std::int64_t sequence = options.ids.front();
    ForwardSummary summary;
    for (const std::int64_t l : options.layers) {
      if (observer.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
      LayerRecord layer = dense_layer(golden_head(false, kLength));
      layer.layer = l;
      for (const std::int64_t h : options.heads) {
        const HeadProgram& program =
            model.blocks[static_cast<std::size_t>(l)].attention.heads[static_cast<std::size_t>(h)];
        HeadRecord record = dense_record(golden_head(program.has_second(), kLength), layer, program);
        record.head = h;
        if (change) change({sequence, l, h}, record);
        layer.heads.push_back(std::move(record));
      }
      HEADROOM_TRY_VOID(observer.on_layer(std::move(layer)));
      if (sequence == broken && l == last_layer) {
        summary.non_finite_layer = l;
        return summary;
      }
    }
    summary.next_token_loss = loss(sequence);
    return summary;
  }
  Result<AttentionChoice> choose_attention(const ForwardOptions& options) override {
    if (options.backend == "none") return Error(ErrorCode::InvalidArgument, "unknown backend");
    return AttentionChoice{"cpu", "", "cpu", "float32", "test"};
  }
  Result<ForwardSummary> run_variants(const ModelSource&, const ModelSpec&, const ForwardOptions&, const VariantSweep&,
                                      VariantObserver&) override {
    return ForwardSummary();
  }
  Result<BenchmarkReport> benchmark(const BenchmarkRequest&, const std::function<void(double, const std::string&)>&,
                                    const kernels::StopRequested&) override {
    return BenchmarkReport();
  }
  Result<TrainingOutcome> train(const TrainingRequest&, TrainingObserver&) override {
    return Error(ErrorCode::Unsupported, "this backend does not train");
  }
  BackendInfo info() override { return {}; }
};

struct Fixture {
  FakeBackend backend;
  ModelSource source = ModelSource::design({});
  ModelSpec model;
  EvaluationRequest request;

  explicit Fixture(const char* kind = "softmax", std::int32_t sequences = 3) : model(designed(kind)) {
    request.source = &source;
    request.model = &model;
    for (std::int32_t s = 0; s < sequences; ++s) request.sequences.push_back({s, 5, 5, 5, 5, 5, 5, 5});
  }
  static ModelSpec designed(const char* kind) {
    auto spec = design_model({{"model_type", "headroom"},
                              {"vocab_size", 8},
                              {"hidden_size", 8},
                              {"num_hidden_layers", kLayers},
                              {"intermediate_size", 0},
                              {"num_attention_heads", kHeads},
                              {"num_key_value_heads", 3},
                              {"head_dim", 16},
                              {"max_position_embeddings", 32},
                              {"attention", {{"kind", kind}}}});
    if (!spec) throw std::runtime_error(describe(spec.error()));
    return std::move(*spec);
  }
  Evaluation evaluated() {
    auto result = evaluate(backend, request, {});
    if (!result) throw std::runtime_error(describe(result.error()));
    return std::move(*result);
  }
};

double error_at(const Evaluation& e, std::string_view name, std::int64_t l, std::int64_t h, std::size_t index = 0) {
  const EvaluatedQuantity& quantity = e.quantities.find(name)->second;
  const std::size_t per_head = quantity.standard_error.size() / (kLayers * kHeads);
  return quantity.standard_error[static_cast<std::size_t>(l * kHeads + h) * per_head + index];
}

}  // namespace

CATCH_TEST_CASE("evaluation: mean and standard error over sequences, each head its own") {
  Fixture fixture;
  // 0, 1, 4 on top of what names the head: mean 5/3, sample variance 13/3.
  fixture.backend.change = [](const Place& p, HeadRecord& record) {
    record.value_drain = static_cast<double>(p.sequence * p.sequence + 10 * p.layer + 100 * p.head);
  };
  fixture.backend.loss = [](std::int64_t sequence) { return sequence == 1 ? 4.0 : 1.0; };
  const Evaluation e = fixture.evaluated();
  CATCH_CHECK(e.sequences == 3);
  CATCH_CHECK(e.length == kLength);
  CATCH_CHECK(e.layers == kLayers);
  CATCH_CHECK(e.heads == kHeads);
  for (std::int64_t l = 0; l < kLayers; ++l)
    for (std::int64_t h = 0; h < kHeads; ++h) {
      CATCH_INFO("L" << l << ".H" << h);
      CATCH_CHECK(e.at("value_drain", l, h) == near(5.0 / 3.0 + static_cast<double>(10 * l + 100 * h), 1e-14));
      CATCH_CHECK(error_at(e, "value_drain", l, h) == near(std::sqrt(13.0) / 3.0, 1e-12));
    }
  // 1, 4, 1: mean 2, variance 3.
  CATCH_CHECK(e.next_token_loss.mean == std::vector<double>{2.0});
  CATCH_REQUIRE(e.next_token_loss.standard_error.size() == 1);
  CATCH_CHECK(e.next_token_loss.standard_error[0] == near(1.0, 1e-14));
  CATCH_CHECK(e.over_heads("value_drain") == near(5.0 / 3.0 + 5.0 + 100.0, 1e-14));
  CATCH_CHECK(e.largest("value_drain") == near(5.0 / 3.0 + 210.0, 1e-14));
}

CATCH_TEST_CASE("evaluation: the spread of large numbers is not lost, and equal ones have none") {
  Fixture fixture;
  fixture.backend.change = [](const Place& p, HeadRecord& record) {
    record.value_drain = p.head == 0 ? 1e9 + static_cast<double>(p.sequence) : 0.1;
  };
  const Evaluation e = fixture.evaluated();
  CATCH_CHECK(e.at("value_drain", 0, 0) == near(1e9 + 1.0, 1e-15));
  CATCH_CHECK(error_at(e, "value_drain", 0, 0) == near(1.0 / std::sqrt(3.0), 1e-12));
  CATCH_CHECK(error_at(e, "value_drain", 1, 1) == near(0.0, 0.0, 1e-16));
}

CATCH_TEST_CASE("evaluation: what a sequence does not have is left out") {
  Fixture fixture;
  // A gate in sequences 0 and 2 of head 0, in 2 of head 1, never in head 2.
  fixture.backend.change = [](const Place& p, HeadRecord& record) {
    const bool has = (p.head == 0 && p.sequence != 1) || (p.head == 1 && p.sequence == 2);
    if (has) record.gate_mean.assign(kLength, p.sequence == 0 ? 0.25 : 0.75);
  };
  fixture.backend.loss = [](std::int64_t) { return std::nullopt; };
  const Evaluation e = fixture.evaluated();
  for (std::int64_t l = 0; l < kLayers; ++l) {
    CATCH_CHECK(e.at("gate_mean", l, 0) == 0.5);
    // Variance 1/8 of two.
    CATCH_CHECK(error_at(e, "gate_mean", l, 0) == near(0.25, 1e-14));
    CATCH_CHECK(e.at("gate_mean", l, 1) == 0.75);
    CATCH_CHECK(std::isnan(error_at(e, "gate_mean", l, 1)));
    CATCH_CHECK(std::isnan(e.at("gate_mean", l, 2)));
    CATCH_CHECK(std::isnan(error_at(e, "gate_mean", l, 2)));
  }
  CATCH_CHECK(e.over_heads("gate_mean") == 0.625);
  CATCH_CHECK(e.largest("gate_mean") == 0.75);
  CATCH_CHECK(std::isnan(e.over_heads("lambda_mean")));
  CATCH_CHECK(std::isnan(e.largest("lambda_mean")));
  CATCH_REQUIRE(e.next_token_loss.mean.size() == 1);
  CATCH_CHECK(std::isnan(e.next_token_loss.mean[0]));
  for (const char* name : {"no_such_quantity", "rows/rho"}) {
    CATCH_CHECK(std::isnan(e.at(name, 0, 0)));
    CATCH_CHECK(std::isnan(e.over_heads(name)));
    CATCH_CHECK(std::isnan(e.largest(name)));
  }
}

CATCH_TEST_CASE("evaluation: extremes stay extremes, quantiles and means are averaged") {
  Fixture fixture;
  // Row i has RMS (i + 1)·c, values have RMS 1: ρ is the same.
  fixture.backend.change = [](const Place& p, HeadRecord& record) {
    const double c = p.sequence == 0 ? 0.5 : p.sequence == 1 ? 0.25 : 0.75;
    for (std::size_t i = 0; i < kLength; ++i) record.context_rms[i] = c * static_cast<double>(i + 1);
    record.value_mean_square.assign(kLength, 1.0);
    for (double& z : record.statistics.maps[0].logit_max) z = -10.0;
    record.statistics.maps[0].logit_max[3] = p.sequence == 1 ? 2.0 + static_cast<double>(p.layer) : -1.0;
    for (double& z : record.statistics.maps[0].logit_min) z = p.sequence == 2 ? -7.0 : -4.0;
  };
  const Evaluation e = fixture.evaluated();
  CATCH_CHECK(e.at("context_rms_max", 0, 0) == 6.0);
  CATCH_CHECK(e.at("context_rms_min", 0, 0) == 0.25);
  CATCH_CHECK(std::isnan(error_at(e, "context_rms_max", 0, 0)));
  CATCH_CHECK(std::isnan(error_at(e, "context_rms_min", 0, 0)));
  CATCH_CHECK(e.at("context_rms_mean", 1, 2) == near(2.25, 1e-14));
  CATCH_CHECK(e.at("context_rms_relative_quantile", 0, 1, 0) == near(0.5, 1e-14));
  CATCH_CHECK(e.at("context_rms_relative_quantile", 0, 1, kMedian) == near(2.25, 1e-14));
  CATCH_CHECK(e.at("context_rms_relative_quantile", 0, 1, kLast) == near(4.0, 1e-14));
  // 4.5 · (.5, .25, .75): sample deviation 4.5/4.
  CATCH_CHECK(error_at(e, "context_rms_relative_quantile", 0, 1, kMedian) == near(1.125 / std::sqrt(3.0), 1e-12));
  CATCH_CHECK(e.at("logit_max", 0, 0) == 2.0);
  CATCH_CHECK(e.at("logit_max", 1, 0) == 3.0);
  CATCH_CHECK(e.at("logit_min", 1, 0) == -7.0);
  CATCH_CHECK(std::isnan(e.at("logit_max", 0, 0, 1)));
  CATCH_CHECK(e.over_heads("logit_max") == 2.5);
  CATCH_CHECK(e.largest("logit_max") == 3.0);
  CATCH_CHECK(std::isnan(e.largest("logit_max", 1)));
}

CATCH_TEST_CASE("evaluation: every row is eligible, however short the sequence") {
  Fixture fixture("softmax", 1);
  fixture.backend.change = [](const Place&, HeadRecord& record) {
    for (std::size_t i = 0; i < kLength; ++i) record.context_rms[i] = i == 0 ? 9.0 : 1.0;
  };
  const Evaluation e = fixture.evaluated();
  CATCH_CHECK(e.at("context_rms_mean", 0, 0) == 2.0);
  CATCH_CHECK(std::isnan(error_at(e, "context_rms_mean", 0, 0)));  // one sequence
}

CATCH_TEST_CASE("evaluation: the maps of a pair stay apart") {
  Fixture fixture("diff_v2");
  fixture.backend.change = [](const Place& p, HeadRecord& record) {
    record.statistics.maps[0].first_key_weight.assign(kLength, 0.125 * static_cast<double>(1 + p.head));
    record.statistics.maps[1].first_key_weight.assign(kLength, 0.5 + 0.0625 * static_cast<double>(p.sequence));
    record.lambda.assign(kLength, 0.25);
  };
  const Evaluation e = fixture.evaluated();
  for (std::int64_t h = 0; h < kHeads; ++h) {
    CATCH_CHECK(e.at("sink_score", 1, h, 0) == near(0.125 * static_cast<double>(1 + h), 1e-15));
    CATCH_CHECK(e.at("sink_score", 1, h, 1) == near(0.5625, 1e-15));
    CATCH_CHECK(error_at(e, "sink_score", 1, h, 0) == near(0.0, 0.0, 1e-16));
    CATCH_CHECK(error_at(e, "sink_score", 1, h, 1) == near(0.0625 / std::sqrt(3.0), 1e-12));
  }
  CATCH_CHECK(e.over_heads("sink_score", 0) == near(0.25, 1e-15));
  CATCH_CHECK(e.over_heads("sink_score", 1) == near(0.5625, 1e-15));
  CATCH_CHECK(e.over_heads("lambda_mean") == 0.25);
}

CATCH_TEST_CASE("evaluation: everything is run alone, and every head is shown with its sequence") {
  Fixture fixture;
  fixture.request.device = "cuda:1";
  fixture.request.backend = "reference";
  std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t>> visits;
  std::size_t rows = 0;
  fixture.request.visit = [&](const HeadView& head, std::size_t sequence) {
    visits.emplace_back(sequence, head.layer.layer, head.head.head);
    rows += head.rho.size();
  };
  const Evaluation e = fixture.evaluated();
  CATCH_CHECK(e.sequences == 3);
  std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t>> expected;
  for (std::size_t s = 0; s < 3; ++s)
    for (std::int64_t l = 0; l < kLayers; ++l)
      for (std::int64_t h = 0; h < kHeads; ++h) expected.emplace_back(s, l, h);
  CATCH_CHECK(visits == expected);
  CATCH_CHECK(rows == 3 * kLayers * kHeads * kLength);
  CATCH_REQUIRE(fixture.backend.seen.size() == 3);
  for (std::size_t s = 0; s < 3; ++s) {
    const ForwardOptions& options = fixture.backend.seen[s];
    CATCH_CHECK(options.ids == fixture.request.sequences[s]);
    CATCH_CHECK(options.device == "cuda:1");
    CATCH_CHECK(options.backend == "reference");
    CATCH_CHECK(options.layers == std::vector<std::int64_t>{0, 1});
    CATCH_CHECK(options.heads == std::vector<std::int64_t>{0, 1, 2});
    CATCH_CHECK_FALSE(options.hidden);
    CATCH_CHECK_FALSE(options.exact_maps);
  }
}

CATCH_TEST_CASE("evaluation: it is stopped before a sequence and within one") {
  for (const std::size_t runs : {0, 1, 2}) {
    CATCH_INFO(runs);
    Fixture before;
    const auto outcome = evaluate(before.backend, before.request, [&] { return before.backend.seen.size() >= runs; });
    CATCH_REQUIRE_FALSE(outcome.has_value());
    CATCH_CHECK(outcome.error().code == ErrorCode::Cancelled);
    CATCH_CHECK(before.backend.seen.size() == runs);
  }
  Fixture within;
  std::size_t heads = 0;
  within.request.visit = [&](const HeadView&, std::size_t) { ++heads; };
  const auto outcome = evaluate(within.backend, within.request, [&] { return heads > 0; });
  CATCH_REQUIRE_FALSE(outcome.has_value());
  CATCH_CHECK(outcome.error().code == ErrorCode::Cancelled);
  CATCH_CHECK(heads == kHeads);  // the first layer
}

CATCH_TEST_CASE("evaluation: the backend's refusal is the evaluation's") {
  Fixture fixture;
  fixture.request.backend = "none";
  const auto outcome = evaluate(fixture.backend, fixture.request, {});
  CATCH_REQUIRE_FALSE(outcome.has_value());
  CATCH_CHECK(outcome.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(fixture.backend.seen.empty());
}

CATCH_TEST_CASE("evaluation: layers behind a non-finite one are missing, and the others keep their places") {
  // The second sequence ends behind layer 0; so the last one does, or the first, and the order must not matter.
  for (const std::int64_t broken : {0, 1, 2}) {
    CATCH_INFO(broken);
    Fixture fixture;
    fixture.backend.broken = broken;
    fixture.backend.last_layer = 0;
    fixture.backend.change = [](const Place& p, HeadRecord& record) {
      record.value_drain = static_cast<double>(p.sequence + 10 * p.layer + 100 * p.head);
    };
    const Evaluation e = fixture.evaluated();
    const double left = static_cast<double>(3 - broken) / 2.0;  // mean of the sequences that reach layer 1
    for (std::int64_t h = 0; h < kHeads; ++h) {
      CATCH_CHECK(e.at("value_drain", 0, h) == near(1.0 + static_cast<double>(100 * h), 1e-14));
      CATCH_CHECK(e.at("value_drain", 1, h) == near(10.0 + left + static_cast<double>(100 * h), 1e-14));
    }
    CATCH_CHECK(e.next_token_loss.mean.front() == 1.0);
  }
  Fixture fixture("softmax", 1);
  fixture.backend.broken = fixture.backend.last_layer = 0;
  const Evaluation e = fixture.evaluated();
  CATCH_CHECK(e.at("value_drain", 0, 2) == 0.0);
  CATCH_CHECK(std::isnan(e.at("value_drain", 1, 0)));
  CATCH_CHECK(std::isnan(e.next_token_loss.mean.front()));
}

}  // namespace headroom::test
