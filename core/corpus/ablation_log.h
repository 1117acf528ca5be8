// What the ablation of a plan has done, kept beside its target while it runs, and all of it in memory too. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/kept_violations.h"
#include "core/corpus/record_log.h"

namespace headroom {

class AblationLog {
 public:
  // What a record is of: means over the plan (of sequence 0), or something of a sequence. The numbers are in files.
  enum class Done : std::uint32_t { Means = 2, Gradients = 3, Changes = 4, Together = 5 };

  // Errors as of RecordLog::open().
  [[nodiscard]] static Result<std::unique_ptr<AblationLog>> open(const std::filesystem::path& target,
                                                                 const std::string& settings, bool anew);

  // The numbers of a record; null: there is none.
  [[nodiscard]] const std::vector<double>* find(Done kind, std::int64_t sequence) const;
  [[nodiscard]] std::int64_t count(Done kind) const;
  [[nodiscard]] double seconds() const { return seconds_; }  // that records took, of all processes together

  // On the disk when it returns.
  [[nodiscard]] Result<void> add(Done kind, std::int64_t sequence, double seconds, const std::vector<double>& numbers);
  // With the record that is added next.
  [[nodiscard]] Result<void> add_violations(const std::vector<std::string>& sentences);
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_.sentences(); }
  // The target is written: the log goes.
  void remove() { log_->remove(); }

 private:
  void take(Done kind, std::vector<double> record);

  std::unique_ptr<RecordLog> log_;
  std::map<std::pair<Done, std::int64_t>, std::vector<double>> records_;
  KeptViolations violations_;
  double seconds_ = 0.0;
};

}  // namespace headroom
