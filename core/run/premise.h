// What a run says of the premise of its intervals, head by head, and which sentence may be written under a figure
// (core/measure/QUANTITIES.md#the-premise). Immutable; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/base/numbers.h"
#include "core/run/analysis.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// Two-sided and among all heads of a run: below it a head's values are not taken for uncorrelated.
inline constexpr double kPremiseLevel = 0.05;

enum class PremiseVerdict : std::uint8_t {
  Unknown,     // the run says nothing of this head
  Common,      // by m·n alone: too much of one common vector
  Unopposed,   // by m·n alone: no sign of one; the rest was not measured
  NotRefuted,  // coherence as with random signs
  CommonMean,  // aligned, and no more so without the common mean
  Aligned,     // aligned beyond the common mean
  Cancelling,  // coherence below that of random signs
};

struct HeadPremise {
  PremiseVerdict verdict = PremiseVerdict::Unknown;
  double visible = kNaN;                             // the most keys that a row sees
  double product = kNaN, limit = kNaN;               // m·n, and what uncorrelated values stay below
  double count = kNaN, uniform = kNaN;               // 1/m, and the ρ of uniform attention over all keys
  double coherence = kNaN, low = kNaN, high = kNaN;  // K, and where 95 % of the draws of signs are
  double p = kNaN, adjusted = kNaN;                  // two-sided: of the head alone, and among the heads of the run

  [[nodiscard]] bool fails() const {
    return verdict != PremiseVerdict::Unopposed && verdict != PremiseVerdict::NotRefuted;
  }
};

class RunPremise {
 public:
  explicit RunPremise(const RunSnapshot& run);
  explicit RunPremise(const SummaryTable& table);  // the tests alone: m·n needs the rows

  [[nodiscard]] HeadPremise of(std::int64_t layer, std::int64_t head) const;
  [[nodiscard]] std::int64_t tests() const { return tests_; }  // heads with a p; 0: --premise was not asked for

 private:
  using Value = std::function<double(const char* quantity, std::size_t element)>;
  void add(std::int64_t layer, std::int64_t head, const Value& value, double visible, std::int64_t channels);
  void judge();

  std::map<std::pair<std::int64_t, std::int64_t>, HeadPremise> heads_;
  std::map<std::pair<std::int64_t, std::int64_t>, double> centred_p_;  // aligned, without the common mean
  std::int64_t tests_ = 0;
};

// m·n of n uncorrelated values of d channels is 1 with a standard deviation of about √(2/d): four of these above 1.
[[nodiscard]] double premise_limit(std::int64_t channels);

// "premise fails: one common vector" and the like, without a full stop.
[[nodiscard]] std::string premise_words(const HeadPremise& premise);

}  // namespace headroom
