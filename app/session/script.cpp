#include "app/session/script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/input_file.h"

namespace headroom {
namespace {

constexpr std::uint64_t kLargestScript = 1 << 20;
constexpr double kLongestWait = 600.0;

std::optional<double> number_of(const std::string& text) {
  if (text == "nan") return std::nan("");
  double value = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return {};
  return value;
}

constexpr std::array<std::string_view, 7> kComparisons = {"==", "!=", "<", "<=", ">", ">=", "~"};

bool is_script_word(const std::string& word) {
  return word == "wait" || word == "expect" || word == "sleep" || word == "until";
}

bool is_seconds(const std::string& word) {
  const auto seconds = number_of(word);
  return seconds && *seconds >= 0.0 && *seconds < 1e9;
}

// The form of a line, before any is run.
Result<void> check_line(std::span<const std::string> words, const CommandTable& commands) {
  const std::span<const std::string> arguments = words.subspan(1);
  if (!is_script_word(words.front())) {
    const Command* command = commands.find(words.front());
    if (!command) return Error(ErrorCode::InvalidArgument, "no such command: " + words.front());
    const Result<Arguments> read = command->arguments.read(command->name, arguments);
    return read ? Result<void>() : Result<void>(read.error());
  }
  const std::string& word = words.front();
  if (word == "wait" && arguments.size() <= 1 && (arguments.empty() || is_seconds(arguments[0]))) return {};
  if (word == "sleep" && arguments.size() == 1 && is_seconds(arguments[0])) return {};
  const bool compares = word == "expect" || word == "until";
  if (compares && arguments.size() == 3 && std::ranges::find(kComparisons, arguments[1]) != kComparisons.end())
    return {};
  return Arguments(word, arguments)
      .wrong(word == "wait"    ? "nothing, or seconds"
             : word == "sleep" ? "seconds"
                               : "NAME ==|!=|<|<=|>|>=|~ VALUE");
}

}  // namespace

std::string check_fact(const Facts& facts, std::span<const std::string> words) {
  if (words.size() != 3) return "expect takes NAME OP VALUE";
  const std::string* found = facts.find(words[0]);
  if (!found) return "there is no fact named " + words[0];
  const std::string& op = words[1];
  const auto left = number_of(*found), right = number_of(words[2]);
  bool holds = false;
  if (left && right) {
    const double a = *left, b = *right;
    if (op == "==")
      holds = a == b || (std::isnan(a) && std::isnan(b));
    else if (op == "!=")
      holds = a != b;
    else if (op == "<")
      holds = a < b;
    else if (op == "<=")
      holds = a <= b;
    else if (op == ">")
      holds = a > b;
    else if (op == ">=")
      holds = a >= b;
    else if (op == "~")
      holds = std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
    else
      return "no such comparison: " + op;
  } else {
    if (op == "==")
      holds = *found == words[2];
    else if (op == "!=")
      holds = *found != words[2];
    else if (op == "~")
      holds = found->find(words[2]) != std::string::npos;
    else
      return "texts are compared by ==, != and ~ (contains), not by " + op;
  }
  return holds ? "" : "found " + *found;
}

Result<Script> Script::read(const std::filesystem::path& path, const CommandTable& commands) {
  HEADROOM_TRY(const std::string text, read_text_file(path, kLargestScript));
  Script script;
  script.path_ = path;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    auto words = split_command_line(line);
    const auto at_line = [&](Error error) {
      error.message = format("line %d: ", number) + error.message;
      return error.in_file(path.string());
    };
    if (!words) return at_line(words.error());
    if (words->empty()) continue;
    if (const Result<void> checked = check_line(*words, commands); !checked) return at_line(checked.error());
    script.lines_.push_back({line, number});
  }
  return script;
}

Error Script::at_line(const Line& line, Error error) const {
  // An error that is about a file of its own keeps it.
  const std::string script = error.file.empty() ? "" : path_.string() + ", ";
  error.message = format("%sline %d, %s: ", script.c_str(), line.number, line.text.c_str()) + error.message;
  return error.in_file(path_.string());
}

Error Script::blamed(Error error) const { return ran_line_.number > 0 ? at_line(ran_line_, std::move(error)) : error; }

Result<bool> Script::step(Session& session, const Facts& facts, const Surroundings& around) {
  ran_ = false;
  if (finished()) return false;
  if (around.request_pending || around.now_s < sleep_until_s_) return true;
  const Line& line = lines_[next_];
  const auto failed = [&](Error error) { return at_line(line, std::move(error)); };
  HEADROOM_TRY(const std::vector<std::string> words, split_command_line(line.text));
  const bool looks = words[0] == "expect" || words[0] == "screenshot";
  const bool passes_time = words[0] == "sleep" || words[0] == "until";
  if (around.opening && !passes_time && !(looks && slept_)) return true;
  if (words[0] == "wait") {
    if (waiting_since_s_ < 0) waiting_since_s_ = around.now_s;
    if (around.busy || !around.drawn) {
      if (around.now_s - waiting_since_s_ > (words.size() > 1 ? number_of(words[1]).value_or(0.0) : kLongestWait))
        return failed(Error(ErrorCode::OutOfMemory, "something still runs after the time given"));
      return true;
    }
    waiting_since_s_ = -1.0;
  } else if (words[0] == "sleep") {
    sleep_until_s_ = around.now_s + number_of(words[1]).value_or(0.0);
  } else if (words[0] == "until") {
    if (waiting_since_s_ < 0) waiting_since_s_ = around.now_s;
    if (const std::string wrong = check_fact(facts, std::span(words).subspan(1)); !wrong.empty()) {
      if (around.now_s - waiting_since_s_ > kLongestWait) return failed(Error(ErrorCode::InvalidArgument, wrong));
      return true;
    }
    waiting_since_s_ = -1.0;
  } else if (words[0] == "expect") {
    if (!around.drawn) return true;
    if (const std::string wrong = check_fact(facts, std::span(words).subspan(1)); !wrong.empty())
      return failed(Error(ErrorCode::InvalidArgument, wrong));
  } else {
    if (words[0] == "screenshot" && !around.drawn) return true;
    if (auto result = session.execute(line.text); !result) return failed(result.error());
  }
  ++next_;
  ran_line_ = line;
  waited_ = words[0] == "wait";
  slept_ = passes_time || (looks && slept_);
  ran_ = true;
  return true;
}

}  // namespace headroom
