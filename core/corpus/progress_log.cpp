#include "core/corpus/progress_log.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/corpus/kept_violations.h"
#include "core/corpus/record_log.h"

namespace headroom {
namespace {

enum class Kind : std::uint32_t { Fixed = 2, Sequence = 3, Violations = 4 };

template <typename T>
void append(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
void append_all(std::string& out, const std::vector<T>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Seven bits a byte, the least first.
void append_number(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

// Where the parts of a sequence's record lie in it.
struct RecordPlaces {
  static constexpr std::size_t kSequence = 0, kLoss = 8, kNonFinite = 16, kSeconds = 24, kFloats = 32;
  std::size_t integers, rates, extremes, counts;

  explicit RecordPlaces(const CorpusLayout& layout)
      : integers(kFloats + layout.float_columns() * sizeof(float)),
        rates(integers + layout.integer_columns() * sizeof(std::int32_t)),
        extremes(rates + layout.rates() * sizeof(double)),
        counts(extremes + 2 * layout.extremes() * sizeof(double)) {}
};

template <typename T>
T part(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename T>
std::vector<T> parts(std::string_view bytes, std::size_t at, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data() + at, count * sizeof(T));
  return values;
}

nlohmann::json region_json(const FixedRegion& region) {
  return {{"path", region.path},
          {"start", region.start},
          {"count", region.count},
          {"numbers", region.numbers},
          {"texts", region.texts}};
}

}  // namespace

struct ProgressLog::State {
  RecordPlaces places;
  const CorpusLayout& layout;
  std::unique_ptr<RecordLog> log;
  std::map<std::int64_t, std::uint64_t> at;  // of a sequence's record
  std::map<std::int64_t, std::uint64_t> size;
  std::optional<std::vector<FixedRegion>> fixed;
  KeptViolations violations;
  double seconds = 0.0;

  explicit State(const CorpusLayout& of) : places(of), layout(of) {}

  Result<std::uint64_t> write(Kind kind, const std::string& payload) const {
    return log->add(static_cast<std::uint32_t>(kind), payload);
  }

  Result<void> take(Kind kind, const std::string& payload, std::uint64_t offset) {
    if (kind == Kind::Sequence && payload.size() >= places.counts) {
      const auto sequence = part<std::int64_t>(payload, RecordPlaces::kSequence);
      at[sequence] = offset, size[sequence] = payload.size();
      seconds += part<double>(payload, RecordPlaces::kSeconds);
    }
    if (kind == Kind::Violations) violations.read(payload);
    if (kind != Kind::Fixed) return {};
    const nlohmann::json list = nlohmann::json::from_cbor(payload, true, false);
    if (!list.is_array()) return {};
    fixed.emplace();
    for (const nlohmann::json& region : list)
      fixed->push_back({region["path"], region["start"], region["count"], region["numbers"], region["texts"]});
    return {};
  }
};

ProgressLog::ProgressLog(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgressLog::~ProgressLog() = default;

std::filesystem::path ProgressLog::path_of(const std::filesystem::path& target) { return RecordLog::path_of(target); }

Result<std::unique_ptr<ProgressLog>> ProgressLog::open(const std::filesystem::path& target, const std::string& settings,
                                                       bool anew, const CorpusLayout& layout) {
  auto state = std::make_unique<State>(layout);
  HEADROOM_TRY(state->log, RecordLog::open(target, settings, anew,
                                           [&](std::uint32_t kind, const std::string& bytes, std::uint64_t offset) {
                                             return state->take(Kind(kind), bytes, offset);
                                           }));
  return std::unique_ptr<ProgressLog>(new ProgressLog(std::move(state)));
}

void ProgressLog::remove_left_over(const std::filesystem::path& target, const std::string& settings) {
  RecordLog::remove_left_over(target, settings);
}

bool ProgressLog::has(std::int64_t sequence) const { return state_->at.contains(sequence); }
std::int64_t ProgressLog::sequences() const { return std::ssize(state_->at); }
double ProgressLog::seconds() const { return state_->seconds; }

Result<void> ProgressLog::add(const SequenceRecord& record, double seconds) {
  std::string payload;
  payload.reserve(state_->places.counts + 4 * record.counts.size());
  append(payload, record.sequence);
  append(payload, record.loss);
  append(payload, record.non_finite_layer);
  append(payload, seconds);
  append_all(payload, record.floats);
  append_all(payload, record.integers);
  append_all(payload, record.rates);
  append_all(payload, record.extremes);
  std::uint64_t before = 0;
  for (const auto& [bin, count] : record.counts) {
    append_number(payload, bin - before);
    append_number(payload, count);
    before = bin;
  }
  HEADROOM_TRY(const std::uint64_t offset, state_->write(Kind::Sequence, payload));
  state_->at[record.sequence] = offset, state_->size[record.sequence] = payload.size();
  state_->seconds += seconds;
  return {};
}

Result<void> ProgressLog::sync() { return state_->log->sync(); }

Result<void> ProgressLog::add_violations(const std::vector<std::string>& sentences) {
  const std::string bytes = state_->violations.add(sentences);
  if (bytes.empty()) return {};
  HEADROOM_TRY([[maybe_unused]] const std::uint64_t offset, state_->write(Kind::Violations, bytes));
  return {};
}

const std::vector<std::string>& ProgressLog::violations() const { return state_->violations.sentences(); }

Result<SequenceRecord> ProgressLog::read(std::int64_t sequence) const {
  const CorpusLayout& layout = state_->layout;
  const RecordPlaces& places = state_->places;
  std::string payload(static_cast<std::size_t>(state_->size.at(sequence)), '\0');
  HEADROOM_TRY_VOID(state_->log->read(state_->at.at(sequence), std::as_writable_bytes(std::span(payload))));
  SequenceRecord record;
  record.sequence = sequence;
  record.loss = part<double>(payload, RecordPlaces::kLoss);
  record.non_finite_layer = part<std::int64_t>(payload, RecordPlaces::kNonFinite);
  record.floats = parts<float>(payload, RecordPlaces::kFloats, layout.float_columns());
  record.integers = parts<std::int32_t>(payload, places.integers, layout.integer_columns());
  record.rates = parts<double>(payload, places.rates, layout.rates());
  record.extremes = parts<double>(payload, places.extremes, 2 * layout.extremes());
  std::uint64_t bin = 0;
  for (std::size_t at = places.counts; at < payload.size();) {
    std::array<std::uint64_t, 2> numbers{};  // distance from the bin before, count
    for (std::uint64_t& number : numbers)
      for (unsigned shift = 0; at < payload.size() && shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(payload[at++]);
        number |= std::uint64_t{byte & 127U} << shift;
        if (byte < 128) break;
      }
    bin += numbers[0];
    if (bin >= layout.count_bins())
      return Error(ErrorCode::Corrupt, "the progress of the run counts in a bin that there is not")
          .in_file(state_->log->path().string());
    record.counts.emplace_back(bin, numbers[1]);
  }
  return record;
}

Result<ProgressLog::Outcome> ProgressLog::read_outcome(std::int64_t sequence) const {
  static_assert(RecordPlaces::kNonFinite == RecordPlaces::kLoss + sizeof(double));
  std::string bytes(sizeof(double) + sizeof(std::int64_t), '\0');
  HEADROOM_TRY_VOID(
      state_->log->read(state_->at.at(sequence) + RecordPlaces::kLoss, std::as_writable_bytes(std::span(bytes))));
  return Outcome{part<double>(bytes, 0), part<std::int64_t>(bytes, sizeof(double))};
}

std::vector<std::int64_t> ProgressLog::finished() const {
  std::vector<std::int64_t> sequences;
  for (const auto& [sequence, offset] : state_->at) sequences.push_back(sequence);
  return sequences;
}

Result<void> ProgressLog::read_floats(std::int64_t sequence, std::size_t first, std::span<float> out) const {
  return state_->log->read(state_->at.at(sequence) + RecordPlaces::kFloats + first * sizeof(float),
                           std::as_writable_bytes(out));
}

Result<void> ProgressLog::read_integers(std::int64_t sequence, std::size_t first, std::span<std::int32_t> out) const {
  return state_->log->read(state_->at.at(sequence) + state_->places.integers + first * sizeof(std::int32_t),
                           std::as_writable_bytes(out));
}

Result<void> ProgressLog::set_fixed(const std::vector<FixedRegion>& regions) {
  nlohmann::json list = nlohmann::json::array();
  for (const FixedRegion& region : regions) list.push_back(region_json(region));
  std::string bytes;
  nlohmann::json::to_cbor(list, bytes);
  HEADROOM_TRY([[maybe_unused]] const std::uint64_t offset, state_->write(Kind::Fixed, bytes));
  state_->fixed = regions;
  return {};
}

const std::optional<std::vector<FixedRegion>>& ProgressLog::fixed() const { return state_->fixed; }

void ProgressLog::remove() { state_->log->remove(); }

}  // namespace headroom
