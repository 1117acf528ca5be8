#include "app/session/session_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/session/enum_words.h"
#include "app/session/json_values.h"
#include "app/session/prompt_entry.h"
#include "app/session/saving.h"
#include "app/session/view_fields.h"
#include "core/base/input_file.h"

namespace headroom {
namespace {

using nlohmann::json;

constexpr int kSessionVersion = 1;
constexpr std::uint64_t kLargestSession = 64 << 20;

json view_json(const ViewState& view) {
  json result = json::object();
  visit_fields(view, [&](const std::string& group, const char* name, const auto& field) {
    (group.empty() ? result : result[group])[name] = field_json(field);
  });
  return result;
}

ViewState view_of(const json& object) {
  ViewState view;
  visit_fields(view, [&](const char* group, const char* name, auto& field) {
    read_field(*group ? object_in(object, group) : object, name, field);
  });
  return view;
}

// Numbers that are not finite are null.
json sweep_json(const SavedSession::Sweep& sweep) {
  const LossTable& table = sweep.table;
  return {{"way", word_of(sweep.way)},
          {"layers", table.layers},
          {"heads", table.heads},
          {"delta", table.delta},
          {"error", table.error},
          {"loss", table.loss},
          {"predictions", table.predictions},
          {"blocks", table.blocks},
          {"asked", table.asked}};
}

std::vector<double> nullable_numbers(const json& object, const char* name) {
  std::vector<double> values;
  if (const auto found = object.find(name); found != object.end() && found->is_array())
    for (const json& value : *found) values.push_back(value.is_number() ? value.get<double>() : kNaN);
  return values;
}

// Nothing where it is not of the right form.
std::optional<SavedSession::Sweep> sweep_of_json(const json& object) {
  if (!object.is_object()) return {};
  std::string word;
  read_value(object, "way", word);
  const auto way = parse_word<AblationWay>(word);
  if (!way) return {};
  SavedSession::Sweep sweep{*way, {}};
  LossTable& table = sweep.table;
  const auto mode = parse_ablation_mode(way_info(*way).mode);
  if (mode) table.mode = *mode;
  for (const auto& [name, axis] : {std::pair("layers", &table.layers), std::pair("heads", &table.heads)}) {
    for (const double value : nullable_numbers(object, name)) {
      if (!(value >= 0.0 && value < 1e6 && (axis->empty() || value > static_cast<double>(axis->back())))) return {};
      axis->push_back(static_cast<std::int64_t>(value));
    }
  }
  table.delta = nullable_numbers(object, "delta");
  table.error = nullable_numbers(object, "error");
  const std::size_t size = table.layers.size() * table.heads.size();
  if (size == 0 || table.delta.size() != size || table.error.size() != size) return {};
  read_value(object, "loss", table.loss);
  read_value(object, "predictions", table.predictions);
  read_value(object, "blocks", table.blocks);
  read_value(object, "asked", table.asked);
  table.done = static_cast<std::size_t>(std::ranges::count_if(table.delta, [](double d) { return std::isfinite(d); }));
  table.asked = std::max(table.asked, table.done);
  if (table.done == 0 || table.asked > size || table.blocks > table.predictions || !std::isfinite(table.loss))
    return {};
  return sweep;
}

}  // namespace

Result<SavedSession> current_session(const State& state) {
  const RunEntry* shown = state.shown();
  if (!shown && state.trainings.empty()) return Error(ErrorCode::InvalidArgument, "nothing is open");
  SavedSession session;
  const auto absolute = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  for (const TrainingEntry& entry : state.trainings) session.trainings.push_back(absolute(entry.path));
  session.view = state.view;
  session.view.run = session.view.other_run = -1;
  if (!shown) return session;
  // A corpus that is being run is in no file yet: its checkpoint is opened.
  const bool growing = shown->corpus.growing();
  for (const ModelEntry& model : state.models) {
    if (!model.model) continue;
    if (model.id == (growing ? state.model : shown->model)) session.shown = session.files.size();
    session.files.push_back(
        {absolute(model.path), model.size_bytes, model.config.empty() ? "" : absolute(model.config)});
  }
  for (const RunEntry& run : state.runs)
    if (run.model < 0 && run.data && !run.corpus.growing()) {
      if (run.id == shown->id) session.shown = session.files.size();
      session.files.push_back({absolute(run.path), 0});
    }
  session.prompt = state.prompt;
  if (session.files.empty()) return Error(ErrorCode::InvalidArgument, "what is open is in no file yet");
  session.ran = shown->data != nullptr && !growing;
  if (session.ran && shown->model >= 0) session.keep_residual = shown->keep_residual, session.extra = shown->extra;
  session.what_ifs = shown->what_ifs;
  for (const AblationWay way : kAblationWays) {
    const LossTable* table = table_of(shown->sweeps, way);
    if (table && table->done > 0 && shown->model >= 0) session.sweeps.push_back({way, *table});
  }
  const RunEntry* other = state.other();
  const bool same = other && shown->model >= 0 && other->model == shown->model && shown->data && other->data &&
                    shown->data->prompt && other->data->prompt && shown->data->prompt->ids == other->data->prompt->ids;
  if (same && other->what_ifs != shown->what_ifs) session.beside = SavedSession::Beside{other->what_ifs, other->quick};
  // Two checkpoints, or the same run twice, are not brought back beside each other.
  if (!session.beside && session.view.centre == CentreView::Compare) session.view.centre = CentreView::Map;
  return session;
}

std::string session_text(const SavedSession& session) {
  json files = json::array();
  for (const SavedSession::File& file : session.files)
    files.push_back({{"path", file.path}, {"bytes", file.size_bytes}, {"config", file.config}});
  json root = {{"headroom_session", kSessionVersion},
               {"files", files},
               {"shown", session.shown},
               {"prompt", prompt_json(session.prompt)},
               {"ran", session.ran},
               {"keep_residual", session.keep_residual},
               {"rounding", session.extra.rounding},
               {"premise", session.extra.premise},
               {"what_ifs", session.what_ifs},
               {"trainings", session.trainings},
               {"view", view_json(session.view)}};
  for (const SavedSession::Sweep& sweep : session.sweeps) root["importance"].push_back(sweep_json(sweep));
  if (session.beside) root["beside"] = {{"what_ifs", session.beside->what_ifs}, {"quick", session.beside->quick}};
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<void> save_session(const std::filesystem::path& path, const SavedSession& session) {
  return save_text(path, session_text(session));
}

Result<SavedSession> load_session(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::string text, read_text_file(path, kLargestSession));
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto damaged = [&](const char* what) {
    Error error(ErrorCode::Corrupt, std::string("the session file ") + what);
    return error.in_file(path.string());
  };
  if (!root.is_object() || !root.contains("headroom_session") || !root["headroom_session"].is_number_integer())
    return damaged("is none");
  if (root["headroom_session"].get<std::int64_t>() > kSessionVersion) {
    Error error(ErrorCode::Unsupported, "the session file is of a newer version of the program");
    return error.in_file(path.string());
  }
  SavedSession session;
  read_value(root, "trainings", session.trainings);
  if (!root.contains("files") || !root["files"].is_array() || (root["files"].empty() && session.trainings.empty()))
    return damaged("names no file");
  for (const json& entry : root["files"]) {
    SavedSession::File file;
    if (entry.is_object())
      read_value(entry, "path", file.path), read_value(entry, "bytes", file.size_bytes),
          read_value(entry, "config", file.config);
    if (file.path.empty()) return damaged("names no file");
    session.files.push_back(std::move(file));
  }
  read_value(root, "shown", session.shown);
  if (session.shown >= session.files.size()) session.shown = 0;
  session.prompt = prompt_of_json(object_in(root, "prompt"));
  read_value(root, "ran", session.ran);
  read_value(root, "keep_residual", session.keep_residual);
  read_value(root, "rounding", session.extra.rounding);
  read_value(root, "premise", session.extra.premise);
  read_value(root, "what_ifs", session.what_ifs);
  if (root.contains("beside")) {
    session.beside.emplace();
    const json beside = object_in(root, "beside");
    read_value(beside, "what_ifs", session.beside->what_ifs);
    read_value(beside, "quick", session.beside->quick);
  }
  if (root.contains("importance") && root["importance"].is_array())
    for (const json& entry : root["importance"])
      if (auto sweep = sweep_of_json(entry)) session.sweeps.push_back(std::move(*sweep));
  session.view = view_of(object_in(root, "view"));
  return session;
}

}  // namespace headroom
