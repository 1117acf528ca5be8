#include "core/training/task.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/input_file.h"
#include "core/model/config_reader.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

constexpr std::uint64_t kEvaluationBatch = 1'000'000;  // beyond every validation batch
constexpr std::uint64_t kTextLimit = std::uint64_t{1} << 30;

Result<std::string> read_text(ConfigReader& settings, const std::filesystem::path& folder) {
  HEADROOM_TRY(const std::string name, settings.text("text", std::nullopt));
  HEADROOM_TRY(const std::string text, read_text_file(folder / name, kTextLimit));
  if (text.size() >= 4096) return text;
  Error error(ErrorCode::InvalidArgument, "the text is too short to train on");
  error.in_file((folder / name).string())
      .at_tensor("task.text")
      .wanted("at least 4096 bytes", std::to_string(text.size()));
  return error;
}

Result<std::unique_ptr<Task>> create_kind(const std::string& kind, ConfigReader& settings,
                                          const std::filesystem::path& folder) {
  if (kind == "trigger") return create_trigger_task(settings);
  if (kind == "bigram_backcopy" || kind == "bytes" || kind == "needle") {
    HEADROOM_TRY(std::string text, read_text(settings, folder));
    if (kind == "needle") return create_needle_task(settings, text);
    return kind == "bytes" ? create_bytes_task(settings, std::move(text)) : create_backcopy_task(settings, text);
  }
  Error error(ErrorCode::Unsupported, "unknown task");
  return error.at_tensor("task.kind").wanted("trigger, bigram_backcopy, bytes or needle", kind);
}

}  // namespace

bool Task::asks(std::span<const std::int32_t>, std::int64_t) const { return true; }

std::vector<std::vector<std::int32_t>> evaluation_sequences(const Task& task, std::int64_t count) {
  const Batch batch = task.batch(Split::Validation, 0, kEvaluationBatch, count);
  std::vector<std::vector<std::int32_t>> sequences;
  for (auto at = batch.tokens.begin(); at != batch.tokens.end(); at += batch.length)
    sequences.emplace_back(at, at + batch.length);
  return sequences;
}

std::map<std::string, std::string> task_siblings(const Task& task) {
  return {{"tokenizer.json", task.tokenizer_json()},
          {kExamplePromptFile, ids_text(evaluation_sequences(task, 1).front()) + "\n"}};
}

Result<std::unique_ptr<Task>> create_task(const nlohmann::json& object, const std::filesystem::path& folder) {
  if (!object.is_object()) {
    Error error(ErrorCode::Corrupt, "the recipe has no task");
    return error.at_tensor("task").wanted("an object", object.type_name());
  }
  ConfigReader settings(object, "task.");
  HEADROOM_TRY(const std::string kind, settings.text("kind", std::nullopt));
  HEADROOM_TRY(std::unique_ptr<Task> task, create_kind(kind, settings, folder));
  HEADROOM_TRY_VOID(settings.refuse_unread());
  return task;
}

}  // namespace headroom
