// Weights as the forward pass gets them, and the layers made of them against their formulas.
#include "core/compute/weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "core/compute/attention_layer.h"
#include "tests/core/checkpoint/builders.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

// A 3 × 2 matrix 0 … 5 and a vector 10, 20, 30, in float32.
ModelSource small_source(const TempFolder& folder) {
  std::string data;
  for (const float value : {0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 10.0F, 20.0F, 30.0F}) append(data, value);
  folder.write("model.safetensors", safetensors(R"({"matrix":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},)"
                                                R"("vector":{"dtype":"F32","shape":[3],"data_offsets":[24,36]}})",
                                                data));
  folder.write("config.json", "{}");
  auto checkpoint = Checkpoint::open(folder.path());
  CATCH_REQUIRE(checkpoint.has_value());
  auto source = ModelSource::create(*checkpoint);
  CATCH_REQUIRE(source.has_value());
  return std::move(source).value();
}

WeightRef matrix() { return {.tensor = "matrix", .stored_shape = {3, 2}}; }
WeightRef vector() { return {.tensor = "vector", .stored_shape = {3}}; }

at::Tensor rows_of(std::initializer_list<double> values, std::int64_t rows) {
  return at::tensor(std::vector<double>(values), at::kDouble).view({rows, -1});
}

// Against the values, whatever the dtype.
bool holds(const at::Tensor& tensor, const at::Tensor& values) { return at::equal(tensor.to(at::kDouble), values); }

}  // namespace

CATCH_TEST_CASE("weights: tensors come in the dtype of the run, whole, cut and transposed") {
  const TempFolder folder;
  const ModelSource source = small_source(folder);
  for (const TorchTarget target : {TorchTarget{at::kFloat, at::kFloat, at::kCPU},
                                   {at::kDouble, at::kDouble, at::kCPU},
                                   {at::kBFloat16, at::kFloat, at::kCPU}}) {
    const WeightLoader loader(source, target);
    const auto load = [&](const WeightRef& weight) {
      auto tensor = loader.load(weight);
      CATCH_REQUIRE(tensor.has_value());
      CATCH_CHECK(tensor->scalar_type() == target.dtype);
      return *tensor;
    };
    CATCH_INFO(c10::toString(target.dtype));
    CATCH_CHECK(holds(load(matrix()), rows_of({0, 1, 2, 3, 4, 5}, 3)));
    CATCH_CHECK(holds(load(vector()), rows_of({10, 20, 30}, 1).view({3})));
    WeightRef transposed = matrix();
    transposed.transposed = true;
    CATCH_CHECK(holds(load(transposed), rows_of({0, 2, 4, 1, 3, 5}, 2)));
    WeightRef cut = matrix();
    cut.row_begin = 1;
    cut.row_count = 2;
    CATCH_CHECK(holds(load(cut), rows_of({2, 3, 4, 5}, 2)));
    WeightRef part = vector();
    part.row_begin = 2;
    part.row_count = 1;
    CATCH_CHECK(holds(load(part), rows_of({30}, 1).view({1})));
    // Groups of one row, two apart; one group of two.
    WeightRef groups = matrix();
    groups.row_count = 2;
    groups.row_group = 1;
    groups.row_stride = 2;
    CATCH_CHECK(holds(load(groups), rows_of({0, 1, 4, 5}, 2)));
    WeightRef pairs = vector();
    pairs.row_begin = 1;
    pairs.row_count = 2;
    pairs.row_group = 2;
    pairs.row_stride = 3;
    CATCH_CHECK(holds(load(pairs), rows_of({20, 30}, 2).view({2})));
    const std::vector<std::int32_t> ids = {2, 0, 2, 1};
    auto rows = loader.load_rows(matrix(), ids);
    CATCH_REQUIRE(rows.has_value());
    CATCH_CHECK(holds(*rows, rows_of({4, 5, 0, 1, 4, 5, 2, 3}, 4)));
    const std::vector<std::int32_t> first = {1, 0};
    auto later = loader.load_rows(cut, first);
    CATCH_REQUIRE(later.has_value());
    CATCH_CHECK(holds(*later, rows_of({4, 5, 2, 3}, 2)));
  }
}

CATCH_TEST_CASE("weights: what is absent stays undefined, what is missing or misshapen is named") {
  const TempFolder folder;
  const ModelSource source = small_source(folder);
  const WeightLoader loader(source, {});
  auto nothing = loader.load(WeightRef{});
  CATCH_REQUIRE(nothing.has_value());
  CATCH_CHECK(!nothing->defined());
  auto linear = loader.load(LinearSpec{.weight = matrix(), .bias = {}});
  CATCH_REQUIRE(linear.has_value());
  CATCH_CHECK(!linear->bias.defined());
  for (const WeightRef& wrong :
       {WeightRef{.tensor = "absent", .stored_shape = {3, 2}}, WeightRef{.tensor = "matrix", .stored_shape = {2, 3}}}) {
    const auto found = loader.load(wrong);
    CATCH_REQUIRE(!found.has_value());
    CATCH_CHECK(found.error().code == ErrorCode::Corrupt);
    CATCH_CHECK(found.error().tensor == wrong.tensor);
    CATCH_CHECK(!loader.load(LinearSpec{.weight = matrix(), .bias = wrong}).has_value());
    CATCH_CHECK(!loader.load(NormSpec{.kind = NormKind::Rms, .weight = wrong, .bias = {}}).has_value());
  }
}

CATCH_TEST_CASE("weights: a linear layer is x Wᵀ + b") {
  const TempFolder folder;
  const ModelSource source = small_source(folder);
  const WeightLoader loader(source, TorchTarget{at::kDouble, at::kDouble, at::kCPU});
  const at::Tensor x = rows_of({1, -1, 2, 0.5}, 2);
  auto plain = loader.load(LinearSpec{.weight = matrix(), .bias = {}});
  auto biased = loader.load(LinearSpec{.weight = matrix(), .bias = vector()});
  CATCH_REQUIRE(plain.has_value());
  CATCH_REQUIRE(biased.has_value());
  CATCH_CHECK(at::equal((*plain)(x), rows_of({-1, -1, -1, 0.5, 5.5, 10.5}, 2)));
  CATCH_CHECK(at::equal((*biased)(x), rows_of({9, 19, 29, 10.5, 25.5, 40.5}, 2)));
}

CATCH_TEST_CASE("weights: norms over the last axis, with their ε, affine part and offset") {
  Random random(3);
  const std::vector<double> values = random.normals(2 * 3 * 5, 2.0);
  const at::Tensor x = at::tensor(values, at::kDouble).view({2, 3, 5}) + 0.7;
  const at::Tensor weight = at::tensor(random.normals(5), at::kDouble),
                   bias = at::tensor(random.normals(5), at::kDouble);
  for (const NormKind kind : {NormKind::Rms, NormKind::Layer})
    for (const bool affine : {false, true}) {
      Norm norm{kind, affine ? weight : at::Tensor(), affine ? bias : at::Tensor(), 0.25, at::kDouble};
      const at::Tensor y = norm(x);
      CATCH_INFO((kind == NormKind::Rms ? "rms" : "layer") << (affine ? ", affine" : ""));
      for (std::int64_t row = 0; row < 6; ++row) {
        const at::Tensor in = x.view({6, 5})[row], out = y.view({6, 5})[row];
        double mean = 0.0, squares = 0.0;
        for (std::int64_t c = 0; c < 5; ++c) mean += kind == NormKind::Layer ? in[c].item<double>() / 5.0 : 0.0;
        for (std::int64_t c = 0; c < 5; ++c) squares += std::pow(in[c].item<double>() - mean, 2) / 5.0;
        for (std::int64_t c = 0; c < 5; ++c) {
          double expected = (in[c].item<double>() - mean) / std::sqrt(squares + 0.25);
          if (affine) expected = expected * weight[c].item<double>() + bias[c].item<double>();
          CATCH_CHECK(out[c].item<double>() == near(expected, 1e-13, 1e-14));
        }
      }
    }
  CATCH_CHECK(at::equal(Norm{}(x), x));
}

CATCH_TEST_CASE("weights: a norm's offset is added to its weight, and in bfloat16 the statistics stay float32") {
  const TempFolder folder;
  const ModelSource source = small_source(folder);
  const NormSpec spec{.kind = NormKind::Rms, .weight = vector(), .bias = {}, .epsilon = 0.5, .weight_offset = 1.0};
  auto exact = WeightLoader(source, TorchTarget{at::kDouble, at::kDouble, at::kCPU}).load(spec);
  CATCH_REQUIRE(exact.has_value());
  CATCH_CHECK(at::equal(exact->weight, rows_of({11, 21, 31}, 1).view({3})));
  CATCH_CHECK(exact->epsilon == 0.5);
  const Norm rounded{NormKind::Rms, {}, {}, 0.0, at::kFloat};
  // 1000² + 1² + 1² needs more bits than bfloat16 has; 1000 / √(1000002 / 3) = 1.7320491.
  const at::Tensor y = rounded(at::tensor({1000.0F, 1.0F, 1.0F}).to(at::kBFloat16));
  CATCH_CHECK(y.scalar_type() == at::kBFloat16);
  CATCH_CHECK(y[0].item<double>() == static_cast<double>(static_cast<float>(c10::BFloat16(1.7320491F))));
}

CATCH_TEST_CASE("weights: V1's λ is exp(λq1·λk1) − exp(λq2·λk2) + λ_init, and sinks are one logit a head") {
  const TempFolder folder;
  std::string data, header;
  const auto add = [&](const char* name, std::initializer_list<float> values) {
    const std::size_t begin = data.size();
    for (const float value : values) append(data, value);
    header += std::string(header.empty() ? "{" : ",") + "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[" +
              std::to_string(values.size()) + "],\"data_offsets\":[" + std::to_string(begin) + "," +
              std::to_string(data.size()) + "]}";
  };
  add("q1", {0.5F, -1.0F, 2.0F});
  add("k1", {1.0F, 0.25F, 0.125F});  // 0.5
  add("q2", {1.0F, 1.0F, -1.0F});
  add("k2", {-0.25F, 0.5F, 0.75F});  // −0.5
  add("sinks", {0.5F, -3.0F});
  folder.write("model.safetensors", safetensors(header + "}", data));
  folder.write("config.json", "{}");
  auto checkpoint = Checkpoint::open(folder.path());
  CATCH_REQUIRE(checkpoint.has_value());
  auto source = ModelSource::create(*checkpoint);
  CATCH_REQUIRE(source.has_value());
  const auto three = [](const char* name) { return WeightRef{.tensor = name, .stored_shape = {3}}; };
  AttentionSpec spec;
  spec.lambda_q1 = three("q1");
  spec.lambda_k1 = three("k1");
  spec.lambda_q2 = three("q2");
  spec.lambda_k2 = three("k2");
  spec.lambda_init = 0.355509;
  spec.sink_logits = WeightRef{.tensor = "sinks", .stored_shape = {2}};
  for (const TorchTarget target :
       {TorchTarget{at::kFloat, at::kFloat, at::kCPU}, {at::kBFloat16, at::kFloat, at::kCPU}}) {
    const auto weights = load_attention(WeightLoader(*source, target), spec);
    CATCH_REQUIRE(weights.has_value());
    CATCH_CHECK(weights->lambda_scalar == near(1.6487212707 - 0.6065306597 + 0.355509, 1e-9));
    CATCH_CHECK(weights->sinks == std::vector<double>{0.5, -3.0});
  }
  spec.lambda_k2 = three("absent");
  CATCH_CHECK(!load_attention(WeightLoader(*source, {}), spec).has_value());
  const auto plain = load_attention(WeightLoader(*source, {}), AttentionSpec{});
  CATCH_REQUIRE(plain.has_value());
  CATCH_CHECK(plain->lambda_scalar == 0.0);
  CATCH_CHECK(plain->sinks.empty());
}

CATCH_TEST_CASE("weights: activations") {
  const std::vector<double> values = {-30.0, -3.0, -0.5, 0.0, 0.25, 1.0, 4.0, 30.0};
  const at::Tensor x = at::tensor(values, at::kDouble);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    const auto y = [&](Activation activation) {
      return activate(activation, x)[static_cast<std::int64_t>(i)].item<double>();
    };
    const double cubic = std::sqrt(2.0 / std::numbers::pi) * (v + 0.044715 * v * v * v);
    CATCH_INFO("x = " << v);
    CATCH_CHECK(y(Activation::Silu) == near(v / (1.0 + std::exp(-v)), 1e-13));
    CATCH_CHECK(y(Activation::Gelu) == near(0.5 * v * std::erfc(-v / std::numbers::sqrt2), 1e-12, 1e-15));
    CATCH_CHECK(y(Activation::GeluTanh) == near(0.5 * v * (1.0 + std::tanh(cubic)), 1e-12, 1e-15));
    CATCH_CHECK(y(Activation::QuickGelu) == near(v / (1.0 + std::exp(-1.702 * v)), 1e-13));
    CATCH_CHECK(y(Activation::Relu) == std::max(v, 0.0));
    CATCH_CHECK(y(Activation::ReluSquared) == near(std::max(v, 0.0) * std::max(v, 0.0), 1e-15));
  }
}

}  // namespace headroom::test
