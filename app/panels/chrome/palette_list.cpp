#include "app/panels/chrome/palette_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/command_arguments.h"
#include "app/ui/file_list.h"
#include "app/ui/fuzzy.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

constexpr std::size_t kMostChoices = 64;

std::string_view first_word(std::string_view line) { return line.substr(0, line.find(' ')); }

}  // namespace

std::string palette_arguments(const CommandTable& table, std::string_view query) {
  if (query.find(' ') == std::string_view::npos) return "";
  const Command* command = table.find(first_word(query));
  return command != nullptr ? command->arguments.text() : "";
}

PaletteList palette_list(const CommandTable& table, const State& state, std::string_view query) {
  PaletteList list;
  struct Scored {
    double score;
    PaletteItem item;
  };
  std::vector<Scored> found;
  const auto consider = [&](const std::string& line, const std::string& title, bool needs_text) {
    ++list.commands;
    double score = 0.0;
    std::vector<std::size_t> positions;
    if (auto by_title = fuzzy_match(query, title)) {
      score = by_title->score + 4.0;
      positions = std::move(by_title->positions);
    } else if (const auto by_line = fuzzy_match(query, line)) {
      score = by_line->score;
    } else {
      return;
    }
    PaletteItem item;
    item.line = line;
    item.title = title;
    item.positions = std::move(positions);
    item.needs_text = needs_text;
    found.push_back({score, std::move(item)});
  };
  for (const CommandEntry& entry : table.entries()) consider(entry.line, entry.title, entry.needs_text);
  for (const Command& command : table.commands()) {
    if (command.group == "Script" || command.name == "overlay.close") continue;
    const bool has_entry = std::any_of(table.entries().begin(), table.entries().end(), [&](const CommandEntry& entry) {
      return first_word(entry.line) == command.name;
    });
    if (!has_entry) consider(command.name, command.title, !command.arguments.text().empty());
  }
  for (Scored& scored : found) {
    scored.item.disabled = table.disabled_reason(state, scored.item.line);
    scored.item.key = table.key_of(state, scored.item.line);
    if (!scored.item.disabled.empty() && !query.empty()) scored.score -= 6.0;
  }
  std::stable_sort(found.begin(), found.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });

  // A line with arguments runs as it stands; one whose arguments do not fit may be a title that begins like a command.
  const std::string_view word = first_word(query);
  const Command* command = table.find(word);
  const bool more =
      query.size() > word.size() + 1 && query.find_first_not_of(' ', word.size()) != std::string_view::npos;
  const bool exact = std::any_of(found.begin(), found.end(), [&](const Scored& s) { return s.item.line == query; });
  bool fits = false;
  if (command != nullptr && more && !exact) {
    PaletteItem item;
    item.line = query;
    item.title = command->title;
    item.typed = true;
    const auto words = table.words(query);
    fits = words && command->arguments.read(command->name, std::span(*words).subspan(1)).has_value();
    item.disabled = words ? table.disabled_reason(state, query) : words.error().message;
    list.items.push_back(std::move(item));
  }
  for (Scored& scored : found) list.items.push_back(std::move(scored.item));
  if (!fits && !list.items.empty() && list.items.front().typed) std::ranges::rotate(list.items, list.items.begin() + 1);
  return list;
}

std::vector<std::string> palette_completions(const CommandTable& table, const State& state, std::string_view query) {
  std::vector<std::string> out;
  // A path with spaces is in quotation marks; within one that is not closed, the word begins at it.
  const bool quoted = std::count(query.begin(), query.end(), '"') % 2 == 1;
  const std::size_t quote = query.rfind('"');
  const std::size_t space = quoted && quote > 0 ? quote - 1 : query.rfind(' ');
  if (space == std::string_view::npos) {
    for (const Command& command : table.commands()) {
      if (command.name.starts_with(query)) out.push_back(command.name + (command.arguments.text().empty() ? "" : " "));
    }
    return out;
  }
  const Command* command = table.find(first_word(query));
  if (command == nullptr) return out;
  const std::string_view last = query.substr(space + (quoted ? 2 : 1));
  const std::string before(query.substr(0, space + 1));
  const auto complete = [&](const std::string& start, std::string_view typed) {
    for (const std::string& path : complete_path(typed)) {
      std::string word = quote_word(path);
      if (word.ends_with("/\"")) word.pop_back();  // it goes on
      out.push_back(start + word);
    }
  };
  // All that is typed may be one path: quotation marks come with what completes it.
  const std::string start = command->name + " ";
  if (!quoted && before.size() > start.size() && command->arguments.begins_with_path())
    complete(start, query.substr(start.size()));
  const auto words = split_command_line(before);
  if (!words) return out;
  for (const std::string& choice : command->arguments.next(std::span(*words).subspan(1))) {
    const Placeholder* placeholder = find_placeholder(choice);
    const Completion completion = placeholder ? placeholder->completion : Completion::None;
    if (completion == Completion::Path) {
      complete(before, last);
    } else if (completion == Completion::Quantity) {
      for (const QuantityInfo& info : quantity_infos())
        if (info.name.starts_with(last) && out.size() < kMostChoices) out.push_back(before + info.name);
    } else if (completion == Completion::Head) {
      const RunSnapshot* run = state.data();
      if (run == nullptr) continue;
      for (const std::int64_t layer : run->layers) {
        for (const std::int64_t head : run->heads) {
          const std::string name = head_text({layer, head});
          if (name.starts_with(last) && out.size() < kMostChoices) out.push_back(before + name);
        }
      }
    } else if (placeholder == nullptr && choice.starts_with(last)) {
      out.push_back(before + choice);
    }
  }
  for (const CommandEntry& entry : table.entries()) {
    if (entry.line.size() > query.size() && entry.line.starts_with(query) && out.size() < kMostChoices &&
        std::find(out.begin(), out.end(), entry.line) == out.end()) {
      out.push_back(entry.line);
    }
  }
  return out;
}

}  // namespace headroom
