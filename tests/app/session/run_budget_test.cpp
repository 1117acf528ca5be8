// What a run takes against what it may take: limits, texts and the offers that fit.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/session/run_budget.h"

#include "tests/core/run/live_runs.h"

namespace headroom::test {
namespace {

struct Bench {
  Bench() : demo("bytes/diff_v2"), request(demo.request()) {
    // Eight layers like its first.
    auto deeper = std::make_shared<OpenedModel>(*demo.model);
    deeper->spec.blocks.assign(8, deeper->spec.blocks.front());
    request.model = deeper;
    request.inputs = std::make_shared<LayerInputs>(0);
    question.free = {64e9, "free memory"};
    question.threads = 2;
  }
  [[nodiscard]] RunMemory memory(std::int64_t length) const { return estimate_run_memory(request, length, 2); }
  [[nodiscard]] RunBudget with(double bytes, std::int64_t length) {
    question.memory_gb = bytes / 1e9;
    return make_run_budget(request, length, question);
  }
  LiveModel demo;
  LiveRunRequest request;
  BudgetQuestion question;
};

}  // namespace

CATCH_TEST_CASE(
    "run budget: half of what is free, or what is set less what earlier runs keep, and never more than is free") {
  Bench bench;
  RunBudget budget = make_run_budget(bench.request, 64, bench.question);
  CATCH_CHECK(budget.budget_bytes == 32000000000u);
  CATCH_CHECK(budget_text(budget) == "32.0 GB, half of what is free");
  CATCH_CHECK(budget.fit.fits);
  CATCH_CHECK(budget.offers.empty());
  bench.question.free = {1.5e9, "the control group's limit"};
  budget = make_run_budget(bench.request, 64, bench.question);
  CATCH_CHECK(budget_text(budget) == "0.75 GB, half of what the control group's limit leaves");
  budget = bench.with(4e9, 64);
  CATCH_CHECK(budget_text(budget) == "1.50 GB, all that the control group's limit leaves");
  bench.question.free = {64e9, "free memory"};
  bench.question.held_bytes = 500000000;
  budget = bench.with(2e9, 64);
  CATCH_CHECK(budget.budget_bytes == 1500000000u);
  CATCH_CHECK(budget_text(budget) == "1.50 GB, what earlier runs leave of the 2.00 GB set for runs");
  budget = bench.with(4e8, 64);
  CATCH_CHECK(budget.budget_bytes == 0);
  CATCH_CHECK_FALSE(budget.fit.fits);
}

CATCH_TEST_CASE("run budget: offers are round, fit, and their lines do what they say") {
  Bench bench;
  const auto least = static_cast<double>(bench.memory(1234).least_bytes() + 2);
  const RunBudget budget = bench.with(least, 50000);
  CATCH_REQUIRE_FALSE(budget.fit.fits);
  CATCH_REQUIRE(budget.offers.size() == 2);
  CATCH_CHECK(budget.offers[0].title == "Run on the first 1\u2009200 tokens");
  CATCH_CHECK(budget.offers[0].note == "of 50\u2009000");
  CATCH_CHECK(budget.offers[0].lines == std::vector<std::string>{"prompt.first 1200", "run"});
  CATCH_CHECK(bench.with(least, 1200).fit.fits);
  CATCH_CHECK(estimate_text(budget).starts_with("takes up to "));
  CATCH_CHECK(estimate_text(budget).ends_with(", allowed " + memory_text(least)));
  // With the budget that the second offer names everything is kept.
  const std::string& raise = budget.offers[1].lines[0];
  CATCH_REQUIRE(raise.starts_with("memory "));
  CATCH_CHECK(budget.offers[1].title == "Raise the budget to " + raise.substr(7) + " GB");
  const RunBudget raised = bench.with(std::stod(raise.substr(7)) * 1e9, 50000);
  CATCH_CHECK(raised.fit.fits);
  CATCH_CHECK(raised.fit.kept_layers == raised.memory.layers);
  // Where the machine has less, the offer is what it has; and none where that is too little.
  bench.question.free.bytes = static_cast<double>(bench.memory(50000).all_bytes()) - 1.0;
  const RunBudget fewer = bench.with(least, 50000);
  CATCH_REQUIRE(fewer.offers.size() == 2);
  CATCH_CHECK(std::stod(fewer.offers[1].lines[0].substr(7)) * 1e9 >=
              static_cast<double>(bench.memory(50000).least_bytes()));
  bench.question.free.bytes = static_cast<double>(bench.memory(50000).least_bytes()) - 1.0;
  CATCH_CHECK(bench.with(least, 50000).offers.size() == 1);
}

CATCH_TEST_CASE("run budget: keeping no maps is offered where that is enough, and kept to") {
  Bench bench;
  const auto least = static_cast<double>(bench.memory(20000).least_bytes());
  const RunBudget budget = bench.with(least - 1000.0, 20000);
  CATCH_REQUIRE_FALSE(budget.fit.fits);
  CATCH_REQUIRE_FALSE(budget.offers.empty());
  CATCH_CHECK(budget.offers[0].lines == std::vector<std::string>{"run without-maps"});
  bench.request.keep_maps = false;
  const RunBudget without = bench.with(least - 1000.0, 20000);
  CATCH_CHECK(without.fit.fits);
  CATCH_CHECK(estimate_text(without).ends_with(": no maps are kept"));
  // A refusal of such a run offers the same kind of run.
  const RunBudget refused = bench.with(static_cast<double>(bench.memory(500).least_bytes() + 2), 20000);
  CATCH_REQUIRE(refused.offers.size() == 2);
  CATCH_CHECK(refused.offers[0].lines == std::vector<std::string>{"prompt.first 500", "run without-maps"});
  CATCH_CHECK(refused.offers[1].lines[1] == "run without-maps");
}

CATCH_TEST_CASE("run budget: fewer layers are announced, and what ran out of memory is offered in half") {
  Bench bench;
  const RunMemory memory = bench.memory(4000);
  const RunBudget one = bench.with(static_cast<double>(memory.least_bytes() + 2), 4000);
  CATCH_REQUIRE(one.fit.fits);
  CATCH_CHECK(one.fit.kept_layers == 1);
  CATCH_CHECK(estimate_text(one).ends_with(": maps of 1 of 8 layers"));
  const auto offers = offers_after_failure(bench.request, one, bench.question);
  for (const RunOffer& offer : offers) {
    CATCH_REQUIRE(offer.lines[0].starts_with("prompt.first "));
    const auto length = std::stoll(offer.lines[0].substr(13));
    CATCH_CHECK(bench.memory(length).least_bytes() <= one.fit.needed_bytes / 2);
  }
}

CATCH_TEST_CASE("run budget: round numbers and amounts") {
  for (const auto& [value, wanted] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 0}, {7, 7}, {99, 99}, {101, 100}, {119, 110}, {999, 990}, {7639, 7600}, {131071, 130000}})
    CATCH_CHECK(round_down(value) == wanted);
  CATCH_CHECK(memory_text(470e6) == "0.47 GB");
  CATCH_CHECK(memory_text(33e6) == "33 MB");
  CATCH_CHECK(memory_text(3.9e9) == "3.90 GB");
  CATCH_CHECK(memory_text(12.34e9) == "12.3 GB");
  CATCH_CHECK(memory_text(512e9) == "512 GB");
  CATCH_CHECK(memory_text(1.0) == "1 kB");
}

}  // namespace headroom::test
