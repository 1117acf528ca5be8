// Tokenizer::from_folder.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/input_file.h"
#include "core/checkpoint/strict_json.h"
#include "core/text/pipeline_tokenizer.h"
#include "core/text/tokenizer.h"
#include "core/text/tokenizer_files.h"

namespace headroom {
namespace {

constexpr std::uint64_t kLongestFile = std::uint64_t{256} << 20;

using Read = std::function<Result<std::unique_ptr<Tokenizer>>(std::string_view content, const nlohmann::json& config)>;

Result<std::unique_ptr<Tokenizer>> from_parts(Result<TokenizerParts> parts) {
  if (!parts) return std::move(parts.error());
  return PipelineTokenizer::create(std::move(parts).value());
}

// Both SentencePiece and Llama 3 call their file tokenizer.model.
Result<std::unique_ptr<Tokenizer>> from_model_file(std::string_view content, const nlohmann::json& config) {
  if (looks_like_tiktoken(content)) return from_parts(parts_from_tiktoken(content, config));
  return from_parts(parts_from_sentencepiece(content, config));
}

std::vector<std::string> tiktoken_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code))
    if (entry->path().extension() == ".tiktoken") names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  names.emplace_back("tiktoken.model");
  return names;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_folder(const std::filesystem::path& folder) {
  nlohmann::json config;
  const auto config_path = folder / "tokenizer_config.json";
  if (const auto text = read_text_file(config_path, kLongestFile)) {
    auto parsed = parse_json(*text, JsonLimits{});
    if (!parsed) return std::move(parsed.error()).in_file(config_path.string());
    config = std::move(parsed).value();
  } else if (text.error().code != ErrorCode::NotFound) {
    return text.error();
  }

  std::vector<std::pair<std::string, Read>> candidates = {
      {"tokenizer.json", from_tokenizer_json},
      {"tokenizer.model", from_model_file},
      {"spiece.model", from_model_file},
      {"sentencepiece.bpe.model", [](std::string_view content, const nlohmann::json& settings) {
         return from_parts(parts_from_fairseq(content, settings));
       }}};
  for (const std::string& name : tiktoken_names(folder)) candidates.emplace_back(name, from_model_file);
  candidates.emplace_back("vocab.json", [&](std::string_view content, const nlohmann::json& settings) {
    const auto merges = read_text_file(folder / "merges.txt", kLongestFile);
    if (!merges) return Result<std::unique_ptr<Tokenizer>>(merges.error());
    return from_parts(parts_from_merges(content, *merges, settings));
  });
  candidates.emplace_back("vocab.txt", [](std::string_view content, const nlohmann::json& settings) {
    return from_parts(parts_from_wordpiece(content, settings));
  });
  for (const auto& [name, read] : candidates) {
    const auto path = folder / name;
    const auto content = read_text_file(path, kLongestFile);
    if (!content) {
      if (content.error().code == ErrorCode::NotFound) continue;
      return content.error();
    }
    auto tokenizer = read(*content, config);
    if (!tokenizer && tokenizer.error().code == ErrorCode::NotFound) continue;  // a vocab.json without merges.txt
    if (!tokenizer && tokenizer.error().file.empty()) tokenizer.error().in_file(path.string());
    return tokenizer;
  }
  return Error(ErrorCode::NotFound, "The folder has no tokenizer")
      .in_file(folder.string())
      .wanted(
          "tokenizer.json, tokenizer.model, sentencepiece.bpe.model, *.tiktoken, vocab.json with merges.txt, or vocab.txt",
          "none of them");
}

}  // namespace headroom
