#include "core/training/trainer_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using nlohmann::json;

// The words of Python that JSON lacks become null, outside of strings.
std::string without_python_numbers(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      result.append(text.substr(i, 2));
      i += 2;
      continue;
    }
    std::size_t word = 0;
    for (const std::string_view one : kWords)
      if (!quoted && word == 0 && text.substr(i).starts_with(one)) word = one.size();
    if (word > 0)
      result += "null";
    else
      result += text[i];
    i += word > 0 ? word : 1;
  }
  return result;
}

json parsed(const std::string& text) {
  json whole = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_discarded()) return whole;
  // Being written: up to the last entry of the log that is whole.
  const std::size_t log = text.find("\"log_history\""), last = text.rfind('}');
  if (log == std::string::npos || last == std::string::npos || last < log) return whole;
  return json::parse(text.substr(0, last + 1) + "]}", nullptr, /*allow_exceptions=*/false);
}

struct Logged {
  std::vector<std::int64_t> steps;
  std::vector<float> values;
};

// A number of an entry that is there, NaN where it is none; false where the entry has no such member.
bool number_of(const json& entry, const char* name, double& value) {
  const auto found = entry.find(name);
  if (found == entry.end()) return false;
  value = found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
  return true;
}

}  // namespace

Result<void> read_trainer_state(const std::string& text, StoredHistory& history) {
  const json root = parsed(without_python_numbers(text));
  const auto log = root.is_object() ? root.find("log_history") : root.end();
  if (root.is_discarded() || log == root.end() || !log->is_array())
    return Error(ErrorCode::Corrupt, "the state of the trainer holds no log_history");
  Logged loss, norm, rate, validation;
  for (const json& entry : *log) {
    const auto step = entry.is_object() ? entry.find("step") : entry.end();
    if (!entry.is_object() || step == entry.end() || !step->is_number_integer()) continue;
    const auto at = step->get<std::int64_t>();
    double value = 0.0;
    const auto add = [&](const char* name, Logged& list) {
      if (!number_of(entry, name, value) || (!list.steps.empty() && at <= list.steps.back())) return false;
      list.steps.push_back(at);
      list.values.push_back(static_cast<float>(value));
      return true;
    };
    if (add("loss", loss) && !std::isfinite(value)) {
      loss.steps.pop_back();
      loss.values.pop_back();
      history.diverged_step = at;
      break;
    }
    add("grad_norm", norm);
    add("learning_rate", rate);
    add("eval_loss", validation);
  }
  const auto whole_of = [&](const char* name) {
    const auto found = root.find(name);
    return found != root.end() && found->is_number() ? static_cast<std::int64_t>(found->get<double>()) : 0;
  };
  history.loss = StepSeries(std::move(loss.steps), std::move(loss.values));
  history.gradient_norm = StepSeries(std::move(norm.steps), std::move(norm.values));
  history.learning_rate = StepSeries(std::move(rate.steps), std::move(rate.values));
  history.validation_loss = StepSeries(std::move(validation.steps), std::move(validation.values));
  history.step = std::max(whole_of("global_step"), history.loss.last_step());
  history.planned_steps = whole_of("max_steps");
  history.finished = history.planned_steps > 0 && history.step >= history.planned_steps;
  history.loss_unit = "nat";
  return {};
}

}  // namespace headroom
