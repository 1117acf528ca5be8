// What self-checks found wrong in the sequences of a plan, as logs of records keep it: each sentence once, at most a
// few.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

class KeptViolations {
 public:
  // The bytes of a record of those that are new; empty: none is.
  std::string add(const std::vector<std::string>& sentences);
  // A record's bytes; damaged ones say nothing.
  void read(const std::string& bytes);
  [[nodiscard]] const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  std::vector<std::string> take(const std::vector<std::string>& sentences);

  std::vector<std::string> sentences_;
};

// Each with what it is of before it: "subject: …", and "sequence 3: …".
[[nodiscard]] std::vector<std::string> named_violations(const std::string& subject,
                                                        const std::vector<std::string>& violations);
[[nodiscard]] std::vector<std::string> of_sequence(std::int64_t sequence, const std::vector<std::string>& violations);

}  // namespace headroom
