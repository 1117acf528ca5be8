// The table of /program: what one entry takes from a head program, it puts back.
#include "core/measure/program_fields.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

// No field has its default.
HeadProgram unusual() {
  HeadProgram program;
  program.first = {4, 2, {3, 5}};
  program.second = {7, 1, {6}};
  program.first_enabled = false;
  program.lambda = LambdaSource::Constant;
  program.lambda_constant = -0.375;
  program.sink = SinkSource::Learned;
  program.normalizer = Normalizer::Softpick;
  program.post_norm = true;
  program.post_scale = 0.25;
  program.gated = true;
  program.enabled = false;
  program.averaged = true;
  program.temperature = 1.75;
  program.hidden_keys = {0, 12, 4096};
  return program;
}

HeadProgram through_the_table(const HeadProgram& program) {
  HeadRecord record;
  record.program = program;
  HeadProgram back;
  for (const ProgramField& field : program_fields()) {
    CATCH_INFO(path_of(field.quantity));
    CATCH_CHECK((field.get == nullptr || field.get_text == nullptr));
    if (field.get) {
      std::vector<double> values(field.quantity.axes.empty() ? 1 : 3, -1.0);
      field.get(record, values);
      if (field.set) field.set(back, values);
    }
    if (field.get_text) CATCH_CHECK(field.set_text(back, field.get_text(record)));
  }
  return back;
}

}  // namespace

CATCH_TEST_CASE("the table of /program: a head program comes back as it was") {
  CATCH_CHECK(through_the_table(unusual()) == unusual());
  CATCH_CHECK(through_the_table(HeadProgram()) == HeadProgram());
  for (const LambdaSource source : {LambdaSource::None, LambdaSource::LayerScalar, LambdaSource::Projection,
                                    LambdaSource::RawProjection, LambdaSource::Recorded}) {
    HeadProgram program;
    program.lambda = source;
    CATCH_CHECK(through_the_table(program) == program);
  }
}

CATCH_TEST_CASE("the table of /program: texts that mean nothing are told apart") {
  std::size_t texts = 0;
  for (const ProgramField& field : program_fields()) {
    if (!field.set_text) continue;
    ++texts;
    HeadProgram program;
    for (const char* text : {"nonsense", "1;2", "Softmax", ",", "1,2x"}) {
      CATCH_INFO(path_of(field.quantity) << " " << text);
      CATCH_CHECK_FALSE(field.set_text(program, text));
    }
  }
  CATCH_CHECK(texts == 4);
}

CATCH_TEST_CASE("the table of /program: of a layer, what its block says") {
  BlockSpec block;
  block.attention.scale = 0.125;
  block.attention.window = 9;
  block.attention.causal = false;
  block.attention.qk_norm = QkNormScope::PerHead;
  block.attention.q_norm.kind = NormKind::Rms;
  block.attention.q_norm.epsilon = 1e-3;
  const auto value = [&](std::string_view name) {
    for (const LayerField& field : layer_fields())
      if (field.quantity.name == name) return field.get(block);
    return -7.0;
  };
  CATCH_CHECK(value("logit_scale") == 0.125);
  CATCH_CHECK(value("window") == 9.0);
  CATCH_CHECK(value("causal") == 0.0);
  CATCH_CHECK(value("qk_norm_epsilon") == 1e-3);
  CATCH_CHECK(value("softcap") != value("softcap"));
  CATCH_CHECK(value("input_norm_epsilon") != value("input_norm_epsilon"));
}

}  // namespace headroom::test
