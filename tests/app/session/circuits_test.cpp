// Circuits in a session: measured without a run, stopped and gone on with, beside a run's numbers, and what is refused.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/session/model_circuits.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/required.h"

namespace headroom::test {
namespace {

const ModelCircuits& circuits(const SessionBench& bench) { return bench.state().models.at(0).circuits; }

std::vector<double> numbers(const RunSnapshot& run, const char* name) {
  return head_values(run, required(parse_quantity(name)));
}

}  // namespace

CATCH_TEST_CASE("circuits: measured before anything ran, kept when stopped, and the same beside a run", "[session]") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  CATCH_CHECK(bench.state().data() == nullptr);
  CATCH_REQUIRE(bench->execute("circuit on").has_value());
  CATCH_REQUIRE(bench->execute("circuit.stop").has_value());
  bench.wait();
  const std::size_t kept = circuits(bench).done;
  CATCH_CHECK_FALSE(circuits(bench).running);
  bench.run("circuit on");
  CATCH_CHECK(circuits(bench).complete());
  CATCH_CHECK(circuits(bench).done == 2);
  CATCH_CHECK(kept <= 2);
  CATCH_REQUIRE(circuits(bench).heads != nullptr);
  const std::vector<double> before = numbers(*bench.state().heads_shown(), "copying_score");
  CATCH_REQUIRE(before.size() == 8);
  for (const double score : before) CATCH_CHECK((score >= -1.0 && score <= 1.0));
  CATCH_CHECK(before[1] == circuits(bench).layers.at(0)->heads.at(1).copying);
  CATCH_CHECK(before[6] == circuits(bench).layers.at(1)->heads.at(2).copying);

  bench.run("run");
  CATCH_CHECK(numbers(*bench.state().data(), "copying_score") == before);
  CATCH_CHECK_FALSE(std::isnan(numbers(*bench.state().data(), "sink_score")[0]));
}

CATCH_TEST_CASE("circuits: a token is an id or a text, what does not exist is refused and changes nothing",
                "[session]") {
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("circuit on");
  bench.run("select L1.H2");
  bench.run("circuit.token 101");
  CATCH_REQUIRE(circuits(bench).effect != nullptr);
  CATCH_CHECK(circuits(bench).effect->token == 101);
  CATCH_CHECK(circuits(bench).effect->layer == 1);
  CATCH_CHECK(circuits(bench).effect->head == 2);
  CATCH_CHECK(circuits(bench).effect->vocabulary == 257);
  const std::int64_t rank = circuits(bench).effect->own_rank;
  CATCH_CHECK((rank >= 1 && rank <= 257));
  // "e" is byte 101.
  bench.run("circuit.token 0");
  bench.run("circuit.token e");
  CATCH_CHECK(bench.state().view.circuit.token == 101);
  CATCH_CHECK(circuits(bench).effect->own_rank == rank);
  CATCH_CHECK(bench.refusal("circuit.token 257").find("0 to 256") != std::string::npos);
  CATCH_CHECK(bench.refusal("circuit.token \"\"").find("no token") != std::string::npos);
  CATCH_CHECK(bench.refusal("circuit.token ef").find("found e, f") != std::string::npos);
  CATCH_CHECK(bench.state().view.circuit.token == 101);
  // Changes of one kind that follow each other within a moment are one step back: to the token of the prompt.
  bench.run("undo");
  CATCH_CHECK(bench.state().view.circuit.token == -1);
}

}  // namespace headroom::test
