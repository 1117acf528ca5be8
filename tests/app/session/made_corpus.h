// Corpora of a demo over the King James Bible, run as `headroom corpus` runs them. Header only; one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/corpus/corpus_run.h"
#include "core/corpus/plan.h"
#include "tests/app/session/session_bench.h"

namespace headroom::test {

struct MadeCorpus {
  std::string demo = "bytes/diff_v2";
  std::int64_t sequences = 10, length = 32, pieces = 2;
  std::string keep = "all", what_if = {};
  bool with_ids = true;
  CorpusOrder order = CorpusOrder::Natural;
  bool curves = false;
  std::int64_t shard = 0, shards = 1, batch_tokens = 0;
  const CorpusWatch* watch = nullptr;
  ComputeBackend* backend = nullptr;  // none: the session's
};

inline std::filesystem::path kjv_path() { return demo_assets() / "corpora" / "kjv.txt"; }

inline CorpusPlan plan_of(const OpenedModel& model, const MadeCorpus& made) {
  PlanOptions options;
  options.documents.split = TextSplit::Blank;
  options.length = made.length;
  options.sequences = made.sequences;
  options.pieces = made.pieces;
  options.order = made.order;
  const std::vector<std::filesystem::path> data{kjv_path()};
  auto plan = plan_corpus(data, options, plan_model(model), {}, {});
  CATCH_INFO((plan ? std::string() : describe(plan.error())));
  CATCH_REQUIRE(plan.has_value());
  return std::move(*plan);
}

// What the self-check found wrong.
inline std::vector<std::string> make_corpus(SessionBench& bench, const std::filesystem::path& to,
                                            const MadeCorpus& made = {}) {
  auto model = open_model(demo_assets() / "demo" / made.demo, {});
  CATCH_REQUIRE(model.has_value());
  const CorpusPlan plan = plan_of(*model, made);
  CorpusRequest request;
  request.run.model = &*model;
  request.run.output = to;
  request.run.command_line = "headroom corpus " + (demo_assets() / "demo" / made.demo).string();
  if (!made.what_if.empty()) {
    const auto change = parse_what_if(made.what_if);
    CATCH_REQUIRE(change.has_value());
    request.run.what_ifs.push_back(*change);
  }
  request.plan = &plan;
  request.keep = made.keep;
  request.with_ids = made.with_ids;
  request.curves = made.curves;
  request.shard_index = made.shard, request.shard_count = made.shards;
  request.batch_tokens = made.batch_tokens;
  auto backend = bench->runner().compute().backend();
  CATCH_REQUIRE(backend.has_value());
  const auto outcome =
      run_corpus(made.backend ? *made.backend : **backend, request, {}, {}, made.watch ? *made.watch : CorpusWatch());
  CATCH_INFO((outcome ? std::string() : describe(outcome.error())));
  CATCH_REQUIRE(outcome.has_value());
  return outcome->violations;
}

}  // namespace headroom::test
