// Keys, orders, cutting and plans. The keys are SplitMix64's published outputs, the two whole corpora have hashes that
// were computed elsewhere in Python, the small ones are cut by hand.
#include "core/corpus/plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/corpus/plan_file.h"
#include "tests/core/corpus/containers.h"
#include "tests/support/catch.h"
#include "tests/support/required.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;
using Place = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // document, piece, token_start

// Bytes are tokens; 256 begins a text and 257 ends it.
PlanModel byte_model(bool adds_bos = false) {
  PlanModel model;
  model.vocab_size = 258;
  model.encode = [](std::string_view text) -> Result<std::vector<std::int32_t>> {
    std::vector<std::int32_t> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  };
  model.bos_id = [] { return Result<std::int32_t>(256); };
  model.eos_id = [] { return Result<std::int32_t>(257); };
  model.adds_bos = [adds_bos] { return Result<bool>(adds_bos); };
  model.tokenizer = [] { return std::string("bytes"); };
  model.tokenizer_sha256 = [] { return std::string(64, 'b'); };
  return model;
}

CorpusPlan plan_of(const fs::path& data, const PlanOptions& options, const PlanModel& model = byte_model()) {
  return required(plan_corpus(std::vector<fs::path>{data}, options, model, {}, {}));
}

std::vector<Place> places(const CorpusPlan& plan) {
  std::vector<Place> all;
  for (const PlannedSequence& sequence : plan.sequences)
    all.emplace_back(sequence.document, sequence.piece, sequence.token_start);
  return all;
}

PlanOptions lines(std::int64_t length) {
  PlanOptions options;
  options.documents.split = TextSplit::Lines;
  options.length = length;
  return options;
}

fs::path root() { return fs::path(HEADROOM_FIXTURES).parent_path().parent_path(); }

}  // namespace

CATCH_TEST_CASE("corpus: keys are SplitMix64's") {
  CATCH_CHECK(split_mix(0) == 0xE220A8397B1DCDAF);
  CATCH_CHECK(split_mix(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4);  // the second output of the state 0
  CATCH_CHECK(corpus_key(3, 4) == corpus_key(3, 4, 0));
  CATCH_CHECK(corpus_key(1, 2, 3) == split_mix(split_mix(split_mix(1) + 2) + 3));
}

CATCH_TEST_CASE("corpus: pieces, strides, remainders and short documents") {
  const TempFolder folder;
  const fs::path data = folder.write("a.txt", "abcdefghij\nxyz\nABCDEFG\n\nabc\n");  // 10, 3, 7, 3 tokens
  CorpusPlan plan = plan_of(data, lines(4));
  CATCH_CHECK(places(plan) == std::vector<Place>{{0, 0, 0}, {2, 0, 0}, {0, 1, 4}});
  CATCH_CHECK(plan.sequences[2].ids == std::vector<std::int32_t>{'e', 'f', 'g', 'h'});
  CATCH_CHECK(plan.documents_read == 4);
  CATCH_CHECK(plan.documents_short == 2);
  CATCH_CHECK(plan.tokens_dropped == 2 + 3);
  CATCH_CHECK(plan.options.stride == 4);
  CATCH_REQUIRE(plan.documents.size() == 2);
  CATCH_CHECK(plan.documents[0].sequences == 2);
  CATCH_CHECK(plan.documents[1].name == "a.txt:3");
  PlanOptions options = lines(4);
  options.stride = 3;
  CATCH_CHECK(places(plan_of(data, options)) ==
              std::vector<Place>{{0, 0, 0}, {2, 0, 0}, {0, 1, 3}, {2, 1, 3}, {0, 2, 6}});
  options.order = CorpusOrder::Natural;
  CATCH_CHECK(places(plan_of(data, options)) ==
              std::vector<Place>{{0, 0, 0}, {0, 1, 3}, {0, 2, 6}, {2, 0, 0}, {2, 1, 3}});
  options.pieces = 1;
  CATCH_CHECK(places(plan_of(data, options)) == std::vector<Place>{{0, 0, 0}, {2, 0, 0}});
  options = lines(4);
  options.bos = BosMode::Always;
  plan = plan_of(data, options);
  CATCH_CHECK(plan.sequences.size() == 3 + 1 + 2 + 1);
  CATCH_CHECK(plan.sequences[0].ids == std::vector<std::int32_t>{256, 'a', 'b', 'c'});
  CATCH_CHECK(plan.bos_id == 256);
  options.bos = BosMode::Auto;
  CATCH_CHECK(plan_of(data, options, byte_model(true)).ids_sha256 == plan.ids_sha256);
  CATCH_CHECK(plan_of(data, options, byte_model(false)).sequences.size() == 3);
}

CATCH_TEST_CASE("corpus: joined documents, with what stands between them") {
  const TempFolder folder;
  const fs::path data = folder.write("a.txt", "abc\nde\nfghij\n");
  PlanOptions options = lines(4);
  options.concat = true;
  CorpusPlan plan = plan_of(data, options);  // abcd efgh ij
  CATCH_CHECK(places(plan) == std::vector<Place>{{0, 0, 0}, {1, 0, 1}});
  CATCH_CHECK(plan.sequences[1].ids == std::vector<std::int32_t>{'e', 'f', 'g', 'h'});
  CATCH_CHECK(plan.tokens_dropped == 2);
  options.separator = "eos";
  plan = plan_of(data, options);  // abc$ de$f ghij $
  CATCH_CHECK(places(plan) == std::vector<Place>{{0, 0, 0}, {1, 0, 0}, {2, 0, 1}});
  CATCH_CHECK(plan.sequences[1].ids == std::vector<std::int32_t>{'d', 'e', 257, 'f'});
  options.separator = "bos";  // ^abc ^de^ fghi j
  CATCH_CHECK(plan_of(data, options).sequences[1].ids == std::vector<std::int32_t>{256, 'd', 'e', 256});
  options.separator = "33";
  CATCH_CHECK(plan_of(data, options).sequences[0].ids == std::vector<std::int32_t>{'a', 'b', 'c', 33});
  options.separator = "none";
  options.stride = 7;  // abcd, then hij is too short
  CATCH_CHECK(places(plan_of(data, options)) == std::vector<Place>{{0, 0, 0}});
  options.length = 3;  // abc, hij
  CATCH_CHECK(places(plan_of(data, options)) == std::vector<Place>{{0, 0, 0}, {2, 0, 2}});
  options.separator = "x";
  CATCH_CHECK(plan_corpus(std::vector<fs::path>{data}, options, byte_model(), {}, {}).error().code ==
              ErrorCode::InvalidArgument);
}

CATCH_TEST_CASE("corpus: any order selects what sorting everything would") {
  const TempFolder folder;
  std::string text;
  std::vector<std::int64_t> tokens;
  for (std::uint64_t d = 0; d < 60; ++d) {
    tokens.push_back(static_cast<std::int64_t>(1 + corpus_key(9, d) % 40));
    text += std::string(static_cast<std::size_t>(tokens.back()), 'a') + "\n";
  }
  const fs::path data = folder.write("a.txt", text);
  for (const CorpusOrder order : {CorpusOrder::Spread, CorpusOrder::Natural, CorpusOrder::Random})
    for (const bool seeded : {false, true})
      for (const std::int64_t most : {0, 1, 7, 50, 100000}) {
        PlanOptions options = lines(5);
        options.order = order;
        options.sequences = most;
        if (seeded) options.seed = 77;
        using Ranked = std::pair<std::vector<std::uint64_t>, Place>;
        std::vector<Ranked> all;
        for (std::int64_t d = 0; d < std::ssize(tokens); ++d)
          for (std::int64_t p = 0; 5 * p + 5 <= tokens[static_cast<std::size_t>(d)]; ++p) {
            const auto du = static_cast<std::uint64_t>(d), pu = static_cast<std::uint64_t>(p);
            const std::uint64_t key = seeded ? corpus_key(77, du) : 0;
            std::vector<std::uint64_t> rank = {pu, key, du};
            if (order == CorpusOrder::Natural) rank = {key, du, pu};
            if (order == CorpusOrder::Random) rank = {corpus_key(seeded ? 77 : 0, du, pu), du, pu};
            all.push_back({rank, {d, p, 5 * p}});
          }
        std::ranges::sort(all);
        if (most > 0 && most < std::ssize(all)) all.resize(static_cast<std::size_t>(most));
        std::vector<Place> expected;
        for (const Ranked& ranked : all) expected.push_back(ranked.second);
        const CorpusPlan plan = plan_of(data, options);
        CATCH_INFO(static_cast<int>(order) << " " << seeded << " " << most);
        CATCH_CHECK(places(plan) == expected);
        CATCH_CHECK(plan.warnings.size() == (most == 100000 ? 1U : 0U));
        // Without a seed, reading ends with the documents that are needed.
        if (!seeded && most == 7 && order != CorpusOrder::Random) CATCH_CHECK(plan.documents_read < 30);
        std::int64_t counted = 0;
        for (const PlannedDocument& document : plan.documents) counted += document.sequences;
        CATCH_CHECK(counted == std::ssize(plan.sequences));
      }
}

CATCH_TEST_CASE("corpus: licences as ids give the sequences that were agreed on") {
  PlanOptions options;
  options.documents.field = "ids";
  options.length = 128;
  options.sequences = 32;
  PlanModel model = byte_model();
  model.vocab_size = 49152;
  const fs::path data = fs::path(HEADROOM_FIXTURES) / "corpus" / "licences_ids.jsonl";
  const CorpusPlan plan = plan_of(data, options, model);
  CATCH_CHECK(plan.ids_sha256 == "88cdc465b8440b541549858fbfdf245e5aae3fa5a8300596aa7ebd159555bc34");
  std::vector<std::int64_t> sequences, tokens;
  for (const PlannedDocument& document : plan.documents)
    sequences.push_back(document.sequences), tokens.push_back(document.tokens);
  CATCH_CHECK(sequences == std::vector<std::int64_t>{5, 2, 5, 4, 4, 4, 4, 4});
  CATCH_CHECK(tokens == std::vector<std::int64_t>{2224, 377, 1566, 5213, 7658, 1618, 5653, 3712});
  CATCH_CHECK(plan.tokenizer_sha256 == "none");
}

CATCH_TEST_CASE("corpus: chapters as bytes give the sequences that were agreed on") {
  PlanOptions options;
  options.documents.split = TextSplit::Blank;
  options.length = 64;
  options.sequences = 64;
  options.bos = BosMode::Always;
  const CorpusPlan plan = plan_of(root() / "assets" / "corpora" / "kjv.txt", options);
  CATCH_CHECK(plan.ids_sha256 == "c2f7006a7a00149c5c7985b5eae715333dad56002e4e921488d22d9b579ddce4");
  options.sequences = 0;
  CATCH_CHECK(plan_of(root() / "assets" / "corpora" / "kjv.txt", options).documents_read == 145);
}

CATCH_TEST_CASE("corpus: the same documents in any container make the same ids") {
  const TempFolder folder;
  std::vector<std::vector<std::int32_t>> documents;
  for (std::int32_t d = 0; d < 9; ++d) {
    documents.emplace_back();
    for (std::int32_t i = 0; i < 7 + d; ++i) documents.back().push_back(1 + (d * 37 + i * 11) % 250);
    documents.back().push_back(0);
  }
  PlanOptions options;
  options.length = 4;
  options.sequences = 11;
  options.documents.document_end = 0;
  fs::create_directory(folder.path() / "mega");
  (void)folder.write("mega/x.idx", megatron_index(documents, 8, 2));
  (void)folder.write("mega/x.bin", packed_ids<std::uint16_t>(documents));
  std::string last;
  for (const fs::path& data :
       {folder.write("a.bin", packed_ids<std::uint16_t>(documents)), folder.write("b.bin", llm_c(documents, false)),
        folder.write("c.bin", llm_c(documents, true)), folder.path() / "mega",
        folder.write("d.npy", numpy_array("<u2", "(108,)", packed_ids<std::uint16_t>(documents))),
        folder.write("e.jsonl", json_lines(documents)), folder.write("f.jsonl.gz", gzip(json_lines(documents))),
        folder.write("g.jsonl.zst", zstd(json_lines(documents)))}) {
    options.documents.field = data.filename().string().find("jsonl") != std::string::npos ? "meta.ids" : "";
    const CorpusPlan plan = plan_of(data, options);
    CATCH_INFO(data.string());
    CATCH_CHECK((last.empty() || plan.ids_sha256 == last));
    last = plan.ids_sha256;
  }
}

CATCH_TEST_CASE("corpus: too short documents and rows of another length are refused") {
  const TempFolder folder;
  const auto plan = [&](const fs::path& data, const PlanOptions& options) {
    return plan_corpus(std::vector<fs::path>{data}, options, byte_model(), {}, {});
  };
  auto refused = plan(folder.write("a.txt", "abc\nabcd\n"), lines(5));
  CATCH_REQUIRE(!refused);
  CATCH_CHECK(refused.error().code == ErrorCode::Corrupt);
  CATCH_CHECK(refused.error().found.find("at most 4") != std::string::npos);
  refused = plan(folder.write("empty.txt", ""), lines(5));
  CATCH_REQUIRE(!refused);
  CATCH_CHECK(refused.error().code == ErrorCode::Corrupt);
  PlanOptions options;
  options.length = 4;
  const std::string data = packed_ids<std::int32_t>({{1, 2, 3}, {4, 5, 6}});
  refused = plan(folder.write("m.npy", numpy_array("<i4", "(2, 3)", data)), options);
  CATCH_REQUIRE(!refused);
  CATCH_CHECK(refused.error().code == ErrorCode::Corrupt);
  options.length = 3;
  CATCH_CHECK(required(plan(folder.path() / "m.npy", options)).sequences.size() == 2);
  options.length = 0;
  CATCH_CHECK(plan(folder.path() / "m.npy", options).error().code == ErrorCode::InvalidArgument);
}

CATCH_TEST_CASE("corpus: rows of a matrix are taken as they are") {
  const TempFolder folder;
  const fs::path rows =
      folder.write("m.npy", numpy_array("<i4", "(2, 3)", packed_ids<std::int32_t>({{1, 2, 3}, {4, 5, 6}})));
  PlanOptions options;
  options.length = 3;
  options.bos = BosMode::Always;
  const auto plan = [&] { return plan_corpus(std::vector<fs::path>{rows}, options, byte_model(true), {}, {}); };
  CATCH_REQUIRE(!plan());
  CATCH_CHECK(plan().error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(plan().error().tensor == "--bos");
  options.bos = BosMode::Auto;
  CATCH_CHECK(required(plan()).sequences[1].ids == std::vector<std::int32_t>{4, 5, 6});
  options.concat = true;
  CATCH_REQUIRE(!plan());
  CATCH_CHECK(plan().error().tensor == "--pack");
}

CATCH_TEST_CASE(
    "corpus: text with a BOS and ids without one are not joined unless it is said what stands before them") {
  const TempFolder folder;
  const std::vector<fs::path> data = {folder.write("a.txt", "abcde"),
                                      folder.write("b.bin", packed_ids<std::uint16_t>({{1, 2, 3, 4, 5, 6}}))};
  PlanOptions options;
  options.length = 4;
  options.concat = true;
  options.order = CorpusOrder::Natural;
  const auto refused = plan_corpus(data, options, byte_model(true), {}, {});
  CATCH_REQUIRE(!refused);
  CATCH_CHECK(refused.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(refused.error().tensor == "--bos");
  CATCH_CHECK(required(plan_corpus(data, options, byte_model(false), {}, {})).sequences.size() == 2);
  options.bos = BosMode::Always;
  const CorpusPlan plan = required(plan_corpus(data, options, byte_model(true), {}, {}));
  CATCH_REQUIRE(plan.sequences.size() == 3);
  CATCH_CHECK(plan.sequences[1].ids == std::vector<std::int32_t>{256, 'd', 'e', 1});
  options.bos = BosMode::Never;
  CATCH_CHECK(required(plan_corpus(data, options, byte_model(true), {}, {})).sequences.size() == 2);
}

CATCH_TEST_CASE("corpus: an id of a plan that a model has not is told wherever it stands") {
  CorpusPlan plan;
  plan.sequences = {{0, 0, 0, {1, 2, 3}}, {0, 1, 3, {4, 9, 5}}};
  required_void(check_ids(plan, 10, "plan.h5"));
  const auto found = check_ids(plan, 9, "plan.h5");
  CATCH_REQUIRE(!found);
  CATCH_CHECK(found.error().code == ErrorCode::Corrupt);
  CATCH_CHECK(found.error().file == "plan.h5");
  CATCH_CHECK(found.error().tensor == "sequence 1, position 1");
  CATCH_CHECK(found.error().expected == "0 to 8");
  CATCH_CHECK(found.error().found == "9");
}

CATCH_TEST_CASE("corpus: shards are contiguous and cover everything once") {
  for (const std::int64_t sequences : {1, 7, 32})
    for (const std::int64_t shards : {1, 2, 3, 8}) {
      std::int64_t next = 0;
      for (std::int64_t i = 0; i < shards; ++i) {
        const ShardRange range = shard_range(sequences, i, shards);
        CATCH_CHECK(range.first == next);
        CATCH_CHECK(range.first == i * sequences / shards);
        next += range.count;
      }
      CATCH_CHECK(next == sequences);
    }
  const std::int64_t many = std::int64_t{1} << 60;
  CATCH_CHECK(shard_range(many, 999'999, 1'000'000).first + shard_range(many, 999'999, 1'000'000).count == many);
}

CATCH_TEST_CASE("corpus: a plan comes back from its file, and a file that was changed is told") {
  const TempFolder folder;
  const fs::path data = folder.write("a.txt", "abcdefghij\nxyz\nABCDEFG\n");
  PlanOptions options = lines(4);
  options.bos = BosMode::Always;
  options.seed = 0xFFFFFFFFFFFFFFFF;
  options.sequences = 4;
  const CorpusPlan plan = plan_of(data, options);
  const fs::path file = folder.path() / "plan.h5";
  PlanFileOptions how;
  how.model_id = "bytes";
  required_void(write_plan_file(plan, file, how));
  const CorpusPlan back = required(read_plan_file(file));
  CATCH_CHECK(back.plan_sha256 == plan.plan_sha256);
  CATCH_CHECK(canonical_text(back) == canonical_text(plan));
  CATCH_CHECK(places(back) == places(plan));
  CATCH_CHECK(back.sequences[1].ids == plan.sequences[1].ids);
  CATCH_REQUIRE(back.documents.size() == plan.documents.size());
  CATCH_CHECK(back.documents[0].sha256 == plan.documents[0].sha256);
  required_void(check_files(back));
  (void)folder.write("a.txt", "abcdefghij\nxyz\nABCDEFg\n");
  const auto changed = check_files(back);
  CATCH_REQUIRE(!changed);
  CATCH_CHECK(changed.error().code == ErrorCode::Corrupt);
  CATCH_CHECK(changed.error().file == data.string());
  (void)folder.write("a.txt", "abc");
  CATCH_CHECK(!check_files(back));
  fs::remove(data);
  required_void(check_files(back));
}

}  // namespace headroom::test
