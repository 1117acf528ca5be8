#include "core/run/stored_violations.h"

#include "core/run/provenance.h"
#include "core/text/text_lines.h"

namespace headroom {

std::string stored_violations(const std::vector<std::string>& violations) {
  std::string lines;
  for (const std::string& violation : violations) lines += (lines.empty() ? "" : "\n") + stored_text(violation);
  return lines;
}

std::vector<std::string> violations_in(std::string_view stored) {
  std::vector<std::string> lines;
  for (LineReader reader(stored); reader.next();) lines.emplace_back(reader.line());
  return lines;
}

Result<void> write_violations(RunFileWriter& writer, const std::vector<std::string>& violations) {
  return writer.set_attribute("", kSelfCheckAttribute, stored_violations(violations));
}

std::vector<std::string> root_violations(const RunFile& file) {
  const Result<std::string> stored = file.root_attribute(kSelfCheckAttribute);
  return stored ? violations_in(*stored) : std::vector<std::string>();
}

}  // namespace headroom
