#include "app/session/session_file.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/session/command_parts.h"
#include "app/session/json_values.h"
#include "app/session/saving.h"
#include "core/base/input_file.h"

namespace headroom {
namespace {

using nlohmann::json;

constexpr int kSessionVersion = 1;
constexpr std::uint64_t kLargestSession = 64 << 20;

template <typename T>
json optional_json(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

template <typename Enum>
void read_enum(const json& object, const char* name, Enum& value, int count) {
  const auto found = object.find(name);
  if (found != object.end() && found->is_number_integer() && found->get<int>() >= 0 && found->get<int>() < count)
    value = static_cast<Enum>(found->get<int>());
}

std::optional<std::int64_t> read_index(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer() || found->get<std::int64_t>() < 0) return {};
  return found->get<std::int64_t>();
}

json view_json(const ViewState& view) {
  const MapView& map = view.map;
  const HeadsState& heads = view.heads;
  json result = {{"query", optional_json(view.selection.query)}, {"key", optional_json(view.selection.key)}};
  if (view.selection.head) result["layer"] = view.selection.head->layer, result["head"] = view.selection.head->head;
  result["map"] = {{"kind", static_cast<int>(map.kind)},
                   {"pooling", static_cast<int>(map.pooling)},
                   {"exclude_sink", map.exclude_sink},
                   {"swipe", map.swipe},
                   {"divider", map.divider},
                   {"window", {map.window.query0, map.window.query1, map.window.key0, map.window.key1}}};
  if (map.scale) result["map"]["scale"] = static_cast<int>(*map.scale);
  if (map.range) result["map"]["range"] = {map.range->first, map.range->second};
  result["heads"] = {{"view", static_cast<int>(heads.view)},
                     {"quantity", heads.quantity},
                     {"threshold", heads.threshold},
                     {"x", heads.x},
                     {"y", heads.y},
                     {"colour", heads.colour},
                     {"log_x", heads.log_x},
                     {"log_y", heads.log_y},
                     {"columns", heads.columns},
                     {"sort", heads.sort},
                     {"descending", heads.descending},
                     {"filter", heads.filter},
                     {"range_per_layer", heads.range_per_layer},
                     {"by_value", heads.by_value}};
  for (const HeadRef& head : heads.lasso) result["heads"]["lasso"].push_back(head_text(head));
  result["head_rms"] = view.head.rms;
  result["head_folded"] = view.head.folded;
  result["across_model"] = view.head.across_model;
  result["tokens_tint"] = view.tokens.tint;
  result["tokens_experts"] = view.tokens.experts;
  result["centre"] = static_cast<int>(view.centre);
  result["what_if"] = {{"scope", view.what_if.scope}, {"changes", view.what_if.changes}};
  result["compare"] = {{"mode", static_cast<int>(view.compare.mode)},
                       {"divider", view.compare.divider},
                       {"quantity", view.compare.quantity},
                       {"descending", view.compare.descending}};
  if (view.compare.sort) result["compare"]["sort"] = static_cast<int>(*view.compare.sort);
  return result;
}

ViewState view_of(const json& object) {
  ViewState view;
  view.selection.query = read_index(object, "query");
  view.selection.key = read_index(object, "key");
  const auto layer = read_index(object, "layer"), head = read_index(object, "head");
  if (layer && head) view.selection.head = HeadRef{*layer, *head};
  const json map = object_in(object, "map");
  read_enum(map, "kind", view.map.kind, 5);
  read_enum(map, "pooling", view.map.pooling, 4);
  read_value(map, "exclude_sink", view.map.exclude_sink);
  read_value(map, "swipe", view.map.swipe);
  read_value(map, "divider", view.map.divider);
  if (map.contains("scale")) {
    ScaleKind scale = ScaleKind::Linear;
    read_enum(map, "scale", scale, 3);
    view.map.scale = scale;
  }
  const auto numbers = [&](const char* name, std::size_t count) -> std::vector<double> {
    const auto found = map.find(name);
    if (found == map.end() || !found->is_array() || found->size() != count) return {};
    std::vector<double> values;
    for (const json& value : *found)
      if (value.is_number() && std::isfinite(value.get<double>())) values.push_back(value.get<double>());
    return values.size() == count ? values : std::vector<double>();
  };
  if (const auto range = numbers("range", 2); !range.empty() && range[0] < range[1])
    view.map.range = {range[0], range[1]};
  if (const auto window = numbers("window", 4);
      !window.empty() && window[0] < window[1] && window[2] < window[3] && window[0] >= 0 && window[2] >= 0)
    view.map.window = {window[0], window[1], window[2], window[3]};
  const json heads = object_in(object, "heads");
  read_enum(heads, "view", view.heads.view, 3);
  read_value(heads, "quantity", view.heads.quantity);
  read_value(heads, "threshold", view.heads.threshold);
  read_value(heads, "x", view.heads.x);
  read_value(heads, "y", view.heads.y);
  read_value(heads, "colour", view.heads.colour);
  read_value(heads, "log_x", view.heads.log_x);
  read_value(heads, "log_y", view.heads.log_y);
  read_value(heads, "sort", view.heads.sort);
  read_value(heads, "descending", view.heads.descending);
  read_value(heads, "filter", view.heads.filter);
  read_value(heads, "columns", view.heads.columns);
  read_value(heads, "range_per_layer", view.heads.range_per_layer);
  read_value(heads, "by_value", view.heads.by_value);
  std::vector<std::string> lasso;
  read_value(heads, "lasso", lasso);
  for (const std::string& text : lasso)
    if (const auto one = parse_head(text)) view.heads.lasso.push_back(*one);
  read_value(object, "head_rms", view.head.rms);
  read_value(object, "head_folded", view.head.folded);
  read_value(object, "across_model", view.head.across_model);
  read_value(object, "tokens_tint", view.tokens.tint);
  read_value(object, "tokens_experts", view.tokens.experts);
  read_enum(object, "centre", view.centre, 3);
  const json what_if = object_in(object, "what_if");
  read_value(what_if, "scope", view.what_if.scope);
  read_value(what_if, "changes", view.what_if.changes);
  const json compare = object_in(object, "compare");
  read_enum(compare, "mode", view.compare.mode, 4);
  read_value(compare, "divider", view.compare.divider);
  read_value(compare, "quantity", view.compare.quantity);
  read_value(compare, "descending", view.compare.descending);
  if (compare.contains("sort")) {
    ComparedSort sort = ComparedSort::Distance;
    read_enum(compare, "sort", sort, 6);
    view.compare.sort = sort;
  }
  return view;
}

}  // namespace

Result<SavedSession> current_session(const State& state) {
  const RunEntry* shown = state.shown();
  if (!shown) return Error(ErrorCode::InvalidArgument, "nothing is open");
  SavedSession session;
  const auto absolute = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  for (const ModelEntry& model : state.models) {
    if (!model.model) continue;
    if (model.id == shown->model) session.shown = session.files.size();
    session.files.push_back(
        {absolute(model.path), model.size_bytes, model.config.empty() ? "" : absolute(model.config)});
  }
  for (const RunEntry& run : state.runs)
    if (run.model < 0) {
      if (run.id == shown->id) session.shown = session.files.size();
      session.files.push_back({absolute(run.path), 0});
    }
  session.prompt = state.prompt;
  session.ran = shown->data != nullptr;
  session.what_ifs = shown->what_ifs;
  session.view = state.view;
  session.view.run = session.view.other_run = -1;
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
               {"prompt",
                {{"title", session.prompt.title},
                 {"text", session.prompt.text},
                 {"ids", session.prompt.ids},
                 {"max_tokens", session.prompt.max_tokens},
                 {"target", session.prompt.target},
                 {"target_ids", session.prompt.target_ids}}},
               {"ran", session.ran},
               {"what_ifs", session.what_ifs},
               {"view", view_json(session.view)}};
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
  if (!root.contains("files") || !root["files"].is_array() || root["files"].empty()) return damaged("names no file");
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
  const json prompt = object_in(root, "prompt");
  read_value(prompt, "title", session.prompt.title);
  read_value(prompt, "text", session.prompt.text);
  read_value(prompt, "max_tokens", session.prompt.max_tokens);
  read_value(prompt, "target", session.prompt.target);
  for (const auto& [name, ids] :
       {std::pair("ids", &session.prompt.ids), std::pair("target_ids", &session.prompt.target_ids)})
    if (prompt.contains(name) && prompt[name].is_array())
      for (const json& id : prompt[name])
        if (id.is_number_integer() && id.get<std::int64_t>() >= 0 && id.get<std::int64_t>() <= INT32_MAX)
          ids->push_back(id.get<std::int32_t>());
  read_value(root, "ran", session.ran);
  read_value(root, "what_ifs", session.what_ifs);
  if (root.contains("beside")) {
    session.beside.emplace();
    const json beside = object_in(root, "beside");
    read_value(beside, "what_ifs", session.beside->what_ifs);
    read_value(beside, "quick", session.beside->quick);
  }
  session.view = view_of(object_in(root, "view"));
  return session;
}

}  // namespace headroom
