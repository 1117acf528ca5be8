// Export and copying.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"
#include "app/session/head_rows.h"
#include "app/session/saving.h"
#include "app/session/shown_table.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/run/head_table.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

std::string address(const State& state) {
  const RunEntry& run = *state.shown();
  const ModelEntry* model = state.find_model(run.model);
  std::string text = (model ? model->path : run.path) + "::" + head_text(*state.view.selection.head);
  const Selection& selection = state.view.selection;
  if (selection.query && selection.key)
    text += format("[%lld,%lld]", static_cast<long long>(*selection.query), static_cast<long long>(*selection.key));
  return text;
}

const MapSource* selected_maps(const State& state) {
  const LayerSnapshot* layer = state.selected_layer();
  return layer ? layer->maps.get() : nullptr;
}

struct MapCell {
  std::int64_t query, key;
};

std::optional<MapCell> cell_of_interest(const State& state) {
  const auto query = state.hover.query ? state.hover.query : state.view.selection.query;
  const auto key = state.hover.key ? state.hover.key : state.view.selection.key;
  if (!query || !key) return {};
  return MapCell{*query, *key};
}

double cell_value(const MapSource::Cell& cell, MapKind kind) {
  switch (kind) {
    case MapKind::Net: return cell.net;
    case MapKind::First: return cell.first;
    case MapKind::Second: return cell.second;
    case MapKind::ScaledSecond: return cell.lambda * cell.second;
    case MapKind::Logits: return cell.first_logit;
  }
  return cell.net;
}

double head_number(const RunSnapshot& run, const std::string& quantity, HeadRef head) {
  const auto ref = parse_quantity(quantity);
  return ref ? head_value(run, *ref, head.layer, head.head) : std::nan("");
}

// With a path there it is written; without, the save panel asks for one.
Result<void> save_or_ask(Session& session, SaveKind kind, const std::string& panel, const Arguments& a,
                         std::size_t at) {
  if (a.size() > at) return session.saver().save(kind, panel, a[at], /*replace=*/false);
  session.saver().ask(kind, panel);
  return {};
}

void add_saving(CommandTable& table, std::string name, std::string arguments, SaveKind kind, std::string title,
                CommandReason disabled) {
  table.add({std::move(name), std::move(arguments), std::move(title), "Export", std::move(disabled),
             [kind](Session& s, const Arguments& a) { return save_or_ask(s, kind, "", a, 0); }});
}

}  // namespace

void add_export_commands(CommandTable& table) {
  table.add(
      {"save",
       "[run|picture|table|session|importance|figure] or run|session|importance|figure PATH [replace] or "
       "table PATH [heads|lasso|sequences|statistics] [replace] or picture PATH [window|heads|map|head|tokens] [replace]",
       "Save…", "Export",
       [](const State& state, const Arguments& a) {
         return a.empty() ? "" : not_savable(state, a.choice<SaveKind>(0));
       },
       [](Session& s, const Arguments& a) -> Result<void> {
         const SaveKind kind = a.empty() ? s.state().save.kind : a.choice<SaveKind>(0);
         if (a.size() < 2) {
           s.saver().ask(kind, kind == s.state().save.kind ? s.state().save.panel : "");
           return {};
         }
         const bool replace = a.is(a.size() - 1, "replace");
         const std::string part = a.size() > 2 && !a.is(2, "replace") ? a[2] : "";
         const bool whole = part == "window" || (kind == SaveKind::Table && part == "heads");
         return s.saver().save(kind, whole ? "" : part, a[1], replace);
       }});
  table.add_entry({"save", "Save…", "Export", "Ctrl+S"});
  table.add({"picture.size",
             "1|2|3",
             "Pictures: times the pixels of the screen",
             "Export",
             {},
             [](Session& s, const Arguments& a) {
               s.edit().settings.picture.size = a[0].front() - '0';
               s.save_settings();
             }});
  table.add({"picture.theme", "shown|light|dark", "Pictures: theme", "Export", {}, [](Session& s, const Arguments& a) {
               s.edit().settings.picture.theme = a.choice<PictureTheme>(0);
               s.save_settings();
             }});
  add_saving(table, "export", "[PATH]", SaveKind::Run, "Save the run as HDF5…", needs_checkpoint);
  table.add_entry({"export", "Save the run as HDF5…", "Export", "Ctrl+E"});
  table.add({"copy", "[QUERY KEY]", "Copy the value under the pointer", "Export", needs_head,
             [](Session& s, const Arguments& a) -> Result<void> {
               const State& state = s.state();
               const HeadRef head = *state.view.selection.head;
               auto at = cell_of_interest(state);
               if (!a.empty()) {
                 const std::int64_t query = a.index(0), key = a.index(1), length = state.data()->length;
                 if (query >= length || key >= length) return a.wrong("QUERY KEY below " + std::to_string(length));
                 at = MapCell{query, key};
               }
               if (const MapSource* maps = selected_maps(state); maps && at) {
                 const double value = cell_value(maps->cell(head.head, at->query, at->key), state.view.map.kind);
                 s.request({WindowRequest::Kind::CopyText, full_text(value)});
                 return {};
               }
               const HeadRef shown = state.hover.head.value_or(head);
               const std::string& quantity = atlas_quantity(state.view);
               if (quantity == kRowDistance)
                 return Error(ErrorCode::InvalidArgument,
                              "copy: point at a cell of a map; row distances are not copied");
               s.request({WindowRequest::Kind::CopyText, full_text(head_number(*state.data(), quantity, shown))});
               return {};
             }});
  table.add_entry({"copy", "Copy the value under the pointer", "Export", "Ctrl+C"});
  table.add({"copy.row", "[QUERY]", "Copy the row as CSV", "Export", needs_head,
             [](Session& s, const Arguments& a) -> Result<void> {
               const State& state = s.state();
               const MapSource* maps = selected_maps(state);
               auto query = state.hover.query ? state.hover.query : state.view.selection.query;
               if (!a.empty()) {
                 query = a.index(0);
                 if (*query >= state.data()->length)
                   return a.wrong("QUERY below " + std::to_string(state.data()->length));
               }
               if (!maps || !query) return Error(ErrorCode::InvalidArgument, "copy.row: no row is hovered or pinned");
               const std::int64_t head = state.view.selection.head->head;
               std::string csv = "query,key,first,second,lambda,net,first_logit,second_logit\n";
               for (std::int64_t key = 0; key < maps->length; ++key) {
                 const MapSource::Cell cell = maps->cell(head, *query, key);
                 if (!cell.visible) continue;
                 csv += format("%lld,%lld", static_cast<long long>(*query), static_cast<long long>(key));
                 for (const double value :
                      {cell.first, cell.second, cell.lambda, cell.net, cell.first_logit, cell.second_logit})
                   csv += "," + full_text(value);
                 csv += "\n";
               }
               s.request({WindowRequest::Kind::CopyText, std::move(csv)});
               return {};
             }});
  table.add_entry({"copy.row", "Copy the row as CSV", "Export", "Ctrl+Shift+C"});
  table.add({"copy.address", "", "Copy the address of the selection", "Export", needs_head,
             [](Session& s) { s.request({WindowRequest::Kind::CopyText, address(s.state())}); }});
  table.add_entry({"copy.address", "Copy the address of the selection", "Export", ""});
  table.add({"copy.head", "", "Copy what the head does in every row as CSV", "Export", needs_head, [](Session& s) {
               const State& state = s.state();
               s.request({WindowRequest::Kind::CopyText,
                          head_rows_csv(*state.data(), *state.selected_layer(), state.view.selection.head->head)});
             }});
  table.add_entry({"copy.head", "Copy what the head does in every row as CSV", "Export", ""});
  table.add({"copy.number", "NAME [INDEX]", "Copy a number of the head", "Export", needs_head,
             [](Session& s, const Arguments& a) -> Result<void> {
               const State& state = s.state();
               const HeadRef head = *state.view.selection.head;
               const std::span<const double> values = state.selected_layer()->values(a[0], head.head);
               const auto index = static_cast<std::size_t>(a.maybe_index(1).value_or(0));
               if (index >= values.size()) return a.wrong("a quantity of which the head has such a number");
               s.request({WindowRequest::Kind::CopyText, full_text(values[index])});
               return {};
             }});
  table.add({"copy.tokens", "csv|text", "Copy the tokens", "Export", needs_data, [](Session& s, const Arguments& a) {
               const RunSnapshot& run = *s.state().data();
               std::string text = tokens_csv(run);
               if (a.is(0, "text")) {
                 text.clear();
                 for (std::size_t i = 0; run.prompt && i < run.prompt->texts.size(); ++i)
                   if (i >= run.prompt->is_special.size() || run.prompt->is_special[i] == 0)
                     text += run.prompt->texts[i];
               }
               s.request({WindowRequest::Kind::CopyText, std::move(text)});
             }});
  table.add_entry({"copy.tokens csv", "Copy the tokens as CSV", "Export", ""});
  table.add_entry({"copy.tokens text", "Copy the text of the tokens", "Export", ""});
  table.add({"heads.copy", "csv|tsv|latex|markdown", "Copy the table of heads", "Export", needs_data,
             [](Session& s, const Arguments& a) -> Result<void> {
               const TableFormat format = parse_table_format(a[0]).value_or(TableFormat::Csv);
               HEADROOM_TRY(std::string text, copy_heads(*s.state().data(), s.state().view.heads, format));
               s.request({WindowRequest::Kind::CopyText, std::move(text)});
               return {};
             }});
  const std::pair<const char*, const char*> forms[] = {
      {"csv", "CSV"}, {"tsv", "TSV"}, {"latex", "LaTeX"}, {"markdown", "Markdown"}};
  for (const auto& [form, name] : forms)
    table.add_entry(
        {std::string("heads.copy ") + form, std::string("Copy the table of heads as ") + name, "Export", ""});
  add_saving(table, "heads.save", "[PATH]", SaveKind::Table, "Save the table of heads…", needs_data);
  table.add_entry({"heads.save", "Save the table of heads…", "Export", ""});
  add_saving(table, "session.save", "[PATH]", SaveKind::Session, "Save the session: what is open and looked at…",
             [](const State& state) { return not_savable(state, SaveKind::Session); });
  table.add_entry({"session.save", "Save the session…", "File", ""});
  add_saving(table, "screenshot", "[PATH]", SaveKind::Picture, "Save a picture of the window…", {});
  table.add_entry({"screenshot", "Save a picture of the window…", "Export", ""});
  table.add({"export.panel", "heads|map|head|tokens [PATH]", "Save a picture of one panel, as it is on the screen",
             "Export",
             [](const State& state) {
               const bool histories = state.view.centre == CentreView::Training && !state.trainings.empty();
               return histories ? std::string() : needs_data(state);
             },
             [](Session& s, const Arguments& a) { return save_or_ask(s, SaveKind::Picture, a[0], a, 1); }});
  for (const char* panel : {"heads", "map", "head", "tokens"})
    table.add_entry({std::string("export.panel ") + panel, std::string("Save a picture of the panel ") + panel + "…",
                     "Export", ""});
  table.add({"copy.path", "PATH", "Copy a path", "Export", {}, [](Session& s, const Arguments& a) {
               s.request({WindowRequest::Kind::CopyText, a[0]});
             }});
  table.add({"save.folder", "PATH", "Make a folder", "Export", {}, [](Session&, const Arguments& a) -> Result<void> {
               std::error_code failed;
               std::filesystem::create_directories(a[0], failed);
               if (!failed) return {};
               return Error(ErrorCode::Io, "the folder cannot be made: " + failed.message()).in_file(a[0]);
             }});
  table.add({"toast.close", "", "Close the note of what was saved, or could not be done", "Window",
             [](const State& state) -> std::string { return state.toast ? "" : "there is none"; },
             [](Session& s) { s.edit().toast.reset(); }});
}

}  // namespace headroom
