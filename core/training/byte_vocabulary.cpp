#include "core/training/byte_vocabulary.h"

#include <cstddef>

#include <nlohmann/json.hpp>

namespace headroom {
namespace {

constexpr const char* kBosText = "<s>";

// GPT-2's printable stand-in of a byte, as UTF-8 (Radford et al. 2019, bytes_to_unicode): itself where printable, else
// U+0100 and on.
std::string stand_in(unsigned char byte) {
  const auto printable = [](int b) { return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE; };
  int code_point = byte;
  if (!printable(byte)) {
    code_point = 0x100;
    for (int b = 0; b < byte; ++b) code_point += printable(b) ? 0 : 1;
  }
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xC0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 0x3F))};
}

// A to Z only: tokens are bytes, and what tokenizers call Lowercase folds other letters too.
nlohmann::json fold_capitals() {
  nlohmann::json steps = nlohmann::json::array();
  for (char capital = 'A'; capital <= 'Z'; ++capital)
    steps.push_back({{"type", "Replace"},
                     {"pattern", {{"String", std::string(1, capital)}}},
                     {"content", std::string(1, static_cast<char>(capital - 'A' + 'a'))}});
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

nlohmann::json added_token(std::int64_t id, const std::string& content, bool special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

}  // namespace

std::string byte_tokenizer_json(const std::vector<unsigned char>& bytes, std::int64_t first_id, std::int64_t bos,
                                bool lower_case, const std::vector<std::string>& words) {
  nlohmann::json vocabulary = {{kBosText, bos}};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    vocabulary[stand_in(bytes[i])] = first_id + static_cast<std::int64_t>(i);
  const nlohmann::json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  const nlohmann::json bos_piece = {{"SpecialToken", {{"id", kBosText}, {"type_id", 0}}}};
  const nlohmann::json text_piece = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  nlohmann::json added = nlohmann::json::array({added_token(bos, kBosText, true)});
  for (std::size_t w = 0; w < words.size(); ++w)
    added.push_back(added_token(bos + 1 + static_cast<std::int64_t>(w), words[w], false));
  const nlohmann::json json = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added},
      {"normalizer", lower_case ? fold_capitals() : nlohmann::json()},
      {"pre_tokenizer", byte_level},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", {bos_piece, text_piece}},
        {"pair", {bos_piece, text_piece}},
        {"special_tokens", {{kBosText, {{"id", kBosText}, {"ids", {bos}}, {"tokens", {kBosText}}}}}}}},
      {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", nullptr},
        {"continuing_subword_prefix", nullptr},
        {"end_of_word_suffix", nullptr},
        {"fuse_unk", false},
        {"byte_fallback", false},
        {"vocab", vocabulary},
        {"merges", nlohmann::json::array()}}}};
  return json.dump(1) + "\n";
}

}  // namespace headroom
