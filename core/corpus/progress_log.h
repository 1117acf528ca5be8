// What a corpus run has done, kept beside its target while it runs: finished sequences in a RecordLog, synced batch
// after batch, so that a process that is killed loses the batch under way. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/sequence_record.h"

namespace headroom {

class ProgressLog {
 public:
  // The log of `target`, made where there is none. `settings` is what its records are of, as text: a log of others is
  // InvalidArgument with both; with `anew` any log is thrown away. Io where another process has it.
  [[nodiscard]] static Result<std::unique_ptr<ProgressLog>> open(const std::filesystem::path& target,
                                                                 const std::string& settings, bool anew,
                                                                 const CorpusLayout& layout);
  ~ProgressLog();
  ProgressLog(const ProgressLog&) = delete;
  ProgressLog& operator=(const ProgressLog&) = delete;

  [[nodiscard]] static std::filesystem::path path_of(const std::filesystem::path& target);
  // Removes a log that was left beside a finished target; one of other settings, or that a process is at, stays.
  static void remove_left_over(const std::filesystem::path& target, const std::string& settings);

  [[nodiscard]] bool has(std::int64_t sequence) const;
  [[nodiscard]] std::int64_t sequences() const;
  [[nodiscard]] double seconds() const;  // that the sequences took, of all processes together

  // Written, and by sync() on the disk.
  [[nodiscard]] Result<void> add(const SequenceRecord& record, double seconds);
  [[nodiscard]] Result<void> sync();
  [[nodiscard]] Result<SequenceRecord> read(std::int64_t sequence) const;
  // What read() says of a sequence beside its numbers, without them.
  struct Outcome {
    double loss = 0.0;
    std::int64_t non_finite_layer = -1;
  };
  [[nodiscard]] Result<Outcome> read_outcome(std::int64_t sequence) const;
  [[nodiscard]] std::vector<std::int64_t> finished() const;  // their numbers, ascending
  // Columns [first, first + out.size()) of the floats, or of the integers, of a sequence.
  [[nodiscard]] Result<void> read_floats(std::int64_t sequence, std::size_t first, std::span<float> out) const;
  [[nodiscard]] Result<void> read_integers(std::int64_t sequence, std::size_t first, std::span<std::int32_t> out) const;

  [[nodiscard]] Result<void> set_fixed(const std::vector<FixedRegion>& regions);
  [[nodiscard]] const std::optional<std::vector<FixedRegion>>& fixed() const;

  // Sentences of the self-check, which a run that goes on is to say too; each once, at most a few.
  [[nodiscard]] Result<void> add_violations(const std::vector<std::string>& sentences);
  [[nodiscard]] const std::vector<std::string>& violations() const;

  // The target is written: the log goes.
  void remove();

 private:
  struct State;
  explicit ProgressLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom
