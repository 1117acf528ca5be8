#include "app/session/prompt_entry.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/session/enum_words.h"
#include "app/session/json_values.h"
#include "app/session/run_names.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

using nlohmann::json;

bool same_prompt(const PromptEntry& a, const PromptEntry& b) {
  return a.text == b.text && a.ids == b.ids && a.target == b.target && a.target_ids == b.target_ids;
}

}  // namespace

void remember_prompt(std::vector<PromptEntry>& recent, const PromptEntry& prompt) {
  const std::size_t bytes =
      prompt.text.size() + prompt.target.size() + sizeof(std::int32_t) * (prompt.ids.size() + prompt.target_ids.size());
  if (bytes == 0 || bytes > kLongestRecentPrompt) return;
  std::erase_if(recent, [&](const PromptEntry& entry) { return same_prompt(entry, prompt); });
  recent.insert(recent.begin(), prompt);
  if (recent.size() > kRecentPrompts) recent.resize(kRecentPrompts);
}

std::string ids_line(const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

std::int64_t code_points(std::string_view utf8) {
  return std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

std::string prompt_line(const PromptEntry& prompt) {
  if (prompt.ids.empty()) return text_title(prompt.text);
  constexpr std::size_t kShownIds = 12;
  if (prompt.ids.size() <= kShownIds) return ids_line(prompt.ids);
  return ids_line({prompt.ids.begin(), prompt.ids.begin() + kShownIds}) + " …";
}

std::string prompt_detail(const PromptEntry& prompt) {
  const bool ids = !prompt.ids.empty();
  const std::int64_t count = ids ? static_cast<std::int64_t>(prompt.ids.size()) : code_points(prompt.text);
  std::string text = grouped_text(count) + (ids          ? count == 1 ? " id" : " ids"
                                            : count == 1 ? " character"
                                                         : " characters");
  if (!ids && !prompt.title.empty() && prompt.title != text_title(prompt.text)) text += " · " + prompt.title;
  if (!ids && prompt.max_tokens > 0) text += " · first " + grouped_text(prompt.max_tokens);
  return text;
}

json prompt_json(const PromptEntry& prompt) {
  return {{"title", prompt.title},           {"text", prompt.text},        {"ids", prompt.ids},
          {"max_tokens", prompt.max_tokens}, {"bos", word_of(prompt.bos)}, {"target", prompt.target},
          {"target_ids", prompt.target_ids}};
}

PromptEntry prompt_of_json(const json& object) {
  PromptEntry prompt;
  read_value(object, "title", prompt.title);
  read_value(object, "text", prompt.text);
  read_value(object, "max_tokens", prompt.max_tokens);
  prompt.max_tokens = std::max<std::int64_t>(0, prompt.max_tokens);
  read_value(object, "target", prompt.target);
  std::string bos;
  read_value(object, "bos", bos);
  prompt.bos = parse_word<BosMode>(bos).value_or(BosMode::Auto);
  for (const auto& [name, ids] : {std::pair("ids", &prompt.ids), std::pair("target_ids", &prompt.target_ids)})
    if (object.contains(name) && object[name].is_array())
      for (const json& id : object[name])
        if (id.is_number_integer() && id.get<std::int64_t>() >= 0 && id.get<std::int64_t>() <= INT32_MAX)
          ids->push_back(id.get<std::int32_t>());
  return prompt;
}

}  // namespace headroom
