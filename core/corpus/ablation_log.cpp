#include "core/corpus/ablation_log.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace headroom {
namespace {

constexpr std::size_t kBeforeNumbers = 2;   // sequence, seconds
constexpr std::uint32_t kOfViolations = 6;  // beside the kinds of AblationLog::Done

}  // namespace

Result<std::unique_ptr<AblationLog>> AblationLog::open(const std::filesystem::path& target, const std::string& settings,
                                                       bool anew) {
  auto log = std::make_unique<AblationLog>();
  const auto take = [&](std::uint32_t kind, const std::string& bytes, std::uint64_t /*offset*/) -> Result<void> {
    if (kind == kOfViolations) {
      log->violations_.read(bytes);
      return {};
    }
    std::vector<double> record(bytes.size() / sizeof(double));
    std::memcpy(record.data(), bytes.data(), record.size() * sizeof(double));
    if (record.size() >= kBeforeNumbers) log->take(Done(kind), std::move(record));
    return {};
  };
  HEADROOM_TRY(log->log_, RecordLog::open(target, settings, anew, take));
  return log;
}

const std::vector<double>* AblationLog::find(Done kind, std::int64_t sequence) const {
  const auto found = records_.find({kind, sequence});
  return found == records_.end() ? nullptr : &found->second;
}

std::int64_t AblationLog::count(Done kind) const {
  return std::ranges::count_if(records_, [&](const auto& record) { return record.first.first == kind; });
}

Result<void> AblationLog::add(Done kind, std::int64_t sequence, double seconds, const std::vector<double>& numbers) {
  std::vector<double> record = {static_cast<double>(sequence), seconds};
  record.insert(record.end(), numbers.begin(), numbers.end());
  std::string bytes(record.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), record.data(), bytes.size());
  HEADROOM_TRY([[maybe_unused]] const std::uint64_t offset, log_->add(static_cast<std::uint32_t>(kind), bytes));
  take(kind, std::move(record));
  return log_->sync();
}

Result<void> AblationLog::add_violations(const std::vector<std::string>& sentences) {
  const std::string bytes = violations_.add(sentences);
  if (bytes.empty()) return {};
  HEADROOM_TRY([[maybe_unused]] const std::uint64_t offset, log_->add(kOfViolations, bytes));
  return {};
}

void AblationLog::take(Done kind, std::vector<double> record) {
  const auto sequence = static_cast<std::int64_t>(record[0]);
  seconds_ += record[1];
  record.erase(record.begin(), record.begin() + kBeforeNumbers);
  records_[{kind, sequence}] = std::move(record);
}

}  // namespace headroom
