#include "core/corpus/kept_violations.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

namespace headroom {
namespace {

constexpr std::size_t kMostSentences = 5;

}  // namespace

// Those that are new.
std::vector<std::string> KeptViolations::take(const std::vector<std::string>& sentences) {
  std::vector<std::string> taken;
  for (const std::string& sentence : sentences)
    if (sentences_.size() < kMostSentences && std::ranges::find(sentences_, sentence) == sentences_.end())
      taken.push_back(sentences_.emplace_back(sentence));
  return taken;
}

std::string KeptViolations::add(const std::vector<std::string>& sentences) {
  const std::vector<std::string> taken = take(sentences);
  std::string bytes;
  if (!taken.empty()) nlohmann::json::to_cbor(nlohmann::json(taken), bytes);
  return bytes;
}

void KeptViolations::read(const std::string& bytes) {
  const nlohmann::json list = nlohmann::json::from_cbor(bytes, true, false);
  if (!list.is_array()) return;
  std::vector<std::string> sentences;
  for (const nlohmann::json& sentence : list)
    if (sentence.is_string()) sentences.push_back(sentence.get<std::string>());
  take(sentences);
}

std::vector<std::string> named_violations(const std::string& subject, const std::vector<std::string>& violations) {
  std::vector<std::string> sentences;
  for (const std::string& violation : violations) sentences.push_back(subject + ": " + violation);
  return sentences;
}

std::vector<std::string> of_sequence(std::int64_t sequence, const std::vector<std::string>& violations) {
  return named_violations("sequence " + std::to_string(sequence), violations);
}

}  // namespace headroom
