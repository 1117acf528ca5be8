// What a log keeps, what of it is dropped, and what it says of other runs. The records are made up; the bytes of the
// log are cut and changed here.
#include "core/corpus/progress_log.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/required.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

CorpusLayout small_layout() {
  RunShape shape;
  shape.length = 7;
  shape.layers = {0, 1}, shape.heads = {0, 1, 2};
  shape.all_heads = 3;
  return required(CorpusLayout::create(shape, "all", {0.3}));
}

SequenceRecord some_record(const CorpusLayout& layout, std::int64_t sequence) {
  SequenceRecord record;
  record.sequence = sequence;
  record.loss = 0.25 * static_cast<double>(sequence);
  record.floats.assign(layout.float_columns(), static_cast<float>(sequence));
  record.integers.assign(layout.integer_columns(), static_cast<std::int32_t>(sequence));
  record.rates.assign(layout.rates(), 0.5);
  record.extremes.assign(2 * layout.extremes(), 1.0);
  record.counts = {{3, 200}, {1000, 1}};
  return record;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

CATCH_TEST_CASE("progress: records and violations come back") {
  const TempFolder folder;
  const fs::path target = folder.path() / "c.h5";
  const CorpusLayout layout = small_layout();
  {
    const auto log = required(ProgressLog::open(target, "settings", false, layout));
    required_void(log->add_violations({"sequence 4: one", "sequence 4: two"}));
    required_void(log->add(some_record(layout, 4), 0.5));
    required_void(log->sync());
    required_void(log->add_violations({"sequence 4: one"}));
    const auto other = ProgressLog::open(target, "settings", false, layout);
    CATCH_REQUIRE(!other);
    CATCH_CHECK(other.error().code == ErrorCode::Io);
  }
  const auto log = required(ProgressLog::open(target, "settings", false, layout));
  CATCH_CHECK(log->sequences() == 1);
  CATCH_CHECK(log->seconds() == 0.5);
  CATCH_CHECK(log->violations() == std::vector<std::string>{"sequence 4: one", "sequence 4: two"});
  const SequenceRecord back = required(log->read(4));
  CATCH_CHECK(back.loss == 1.0);
  CATCH_CHECK(back.counts == some_record(layout, 4).counts);
  required_void(log->add_violations({"3", "4", "5", "6"}));
  CATCH_CHECK(log->violations().size() == 5);
}

CATCH_TEST_CASE("progress: other settings are refused, and begun anew only when told to") {
  const TempFolder folder;
  const fs::path target = folder.path() / "c.h5";
  const CorpusLayout layout = small_layout();
  required_void(required(ProgressLog::open(target, "a", false, layout))->add(some_record(layout, 1), 1.0));
  const auto other = ProgressLog::open(target, "b", false, layout);
  CATCH_REQUIRE(!other);
  CATCH_CHECK(other.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(required(ProgressLog::open(target, "a", false, layout))->sequences() == 1);
  CATCH_CHECK(required(ProgressLog::open(target, "a", true, layout))->sequences() == 0);
  CATCH_CHECK(required(ProgressLog::open(target, "b", true, layout))->sequences() == 0);
}

CATCH_TEST_CASE("progress: what was left beside a finished target goes, what is of another run stays") {
  const TempFolder folder;
  const fs::path target = folder.path() / "c.h5", path = ProgressLog::path_of(target);
  const CorpusLayout layout = small_layout();
  required_void(required(ProgressLog::open(target, "a", false, layout))->add(some_record(layout, 1), 1.0));
  ProgressLog::remove_left_over(target, "b");
  CATCH_CHECK(fs::exists(path));
  {
    const auto used = required(ProgressLog::open(target, "a", false, layout));
    ProgressLog::remove_left_over(target, "a");
    CATCH_CHECK(fs::exists(path));
  }
  ProgressLog::remove_left_over(target, "a");
  CATCH_CHECK(!fs::exists(path));
  ProgressLog::remove_left_over(target, "a");
}

CATCH_TEST_CASE("progress: a log that has a second name is begun anew, and the other name keeps it") {
  const TempFolder folder;
  const fs::path target = folder.path() / "c.h5";
  const CorpusLayout layout = small_layout();
  required_void(required(ProgressLog::open(target, "a", false, layout))->add(some_record(layout, 1), 1.0));
  const std::string before = bytes_of(ProgressLog::path_of(target));
  fs::create_hard_link(ProgressLog::path_of(target), folder.path() / "kept");
  CATCH_CHECK(required(ProgressLog::open(target, "a", false, layout))->sequences() == 0);
  CATCH_CHECK(bytes_of(folder.path() / "kept") == before);
}

CATCH_TEST_CASE("corpus: the memory that is said of a record is what it takes") {
  const CorpusLayout layout = small_layout();
  const kernels::StatisticsRequest request;
  const std::function<void(double)> report;
  const kernels::StopRequested stop;
  SequenceCollector collector(layout, request, report, stop);
  collector.begin(0, false);
  const SequenceRecord record = collector.finish({});
  CATCH_CHECK(record_bytes(layout) == record.floats.capacity() * sizeof(float) +
                                          record.integers.capacity() * sizeof(std::int32_t) +
                                          (record.rates.capacity() + record.extremes.capacity()) * sizeof(double) +
                                          record.counts.capacity() * sizeof(std::pair<std::uint64_t, std::uint64_t>));
  CATCH_CHECK(record.counts.capacity() >= 6 * (512 + 9 * 7));
}

}  // namespace headroom::test
