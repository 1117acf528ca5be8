// Export and copying.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "app/plot/number_text.h"
#include "app/session/command_parts.h"
#include "app/session/head_table.h"
#include "app/session/quantities.h"
#include "core/base/format.h"

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

struct Place {
  std::int64_t query, key;
};

std::optional<Place> place(const State& state) {
  const auto query = state.hover.query ? state.hover.query : state.view.selection.query;
  const auto key = state.hover.key ? state.hover.key : state.view.selection.key;
  if (!query || !key) return {};
  return Place{*query, *key};
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

}  // namespace

void add_export_commands(CommandTable& table) {
  table.add({"export", "PATH", "Export the run as HDF5", "Export",
             [](const State& state, Arguments) { return needs_checkpoint(state); },
             [](Session& s, Arguments a) -> Result<void> {
               if (a.size() != 1) return wrong_arguments("export", "PATH", a);
               return s.export_run(a[0]);
             }});
  table.add_entry({"export", "Export the run as HDF5", "Export", "Ctrl+E", true});
  table.add(
      {"copy", "[QUERY KEY]", "Copy the value under the pointer", "Export", head_reason,
       [](Session& s, Arguments a) -> Result<void> {
         const State& state = s.state();
         const HeadRef head = *state.view.selection.head;
         auto at = place(state);
         if (!a.empty()) {
           const auto query = index_argument(a, 0), key = index_argument(a, 1);
           const std::int64_t length = state.data()->length;
           if (a.size() != 2 || !query || !key || *query >= length || *key >= length)
             return wrong_arguments("copy", "nothing, or QUERY KEY of the map", a);
           at = Place{*query, *key};
         }
         if (const MapSource* maps = selected_maps(state); maps && at) {
           const double value = cell_value(maps->cell(head.head, at->query, at->key), state.view.map.kind);
           s.request({WindowRequest::Kind::CopyText, full_text(value)});
           return {};
         }
         const HeadRef shown = state.hover.head.value_or(head);
         const std::string& quantity = atlas_quantity(state.view);
         if (quantity == kRowDistance)
           return Error(ErrorCode::InvalidArgument, "copy: point at a cell of a map; row distances are not copied");
         s.request({WindowRequest::Kind::CopyText, full_text(state.data()->at(quantity, shown.layer, shown.head))});
         return {};
       }});
  table.add_entry({"copy", "Copy the value under the pointer", "Export", "Ctrl+C"});
  table.add({"copy.row", "[QUERY]", "Copy the row as CSV", "Export", head_reason,
             [](Session& s, Arguments a) -> Result<void> {
               const State& state = s.state();
               const MapSource* maps = selected_maps(state);
               auto query = state.hover.query ? state.hover.query : state.view.selection.query;
               if (!a.empty()) {
                 query = index_argument(a, 0);
                 if (a.size() != 1 || !query || *query >= state.data()->length)
                   return wrong_arguments("copy.row", "nothing, or QUERY", a);
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
  table.add({"copy.address", "", "Copy the address of the selection", "Export", head_reason,
             [](Session& s, Arguments) -> Result<void> {
               s.request({WindowRequest::Kind::CopyText, address(s.state())});
               return {};
             }});
  table.add_entry({"copy.address", "Copy the address of the selection", "Export", ""});
  table.add({"heads.copy", "csv|tsv|latex", "Copy the table of heads", "Export",
             [](const State& state, Arguments) { return needs_data(state); },
             [](Session& s, Arguments a) -> Result<void> {
               const auto format = a.size() == 1 ? parse_table_format(a[0]) : std::nullopt;
               if (!format) return wrong_arguments("heads.copy", "csv, tsv or latex", a);
               HEADROOM_TRY(std::string text, copy_heads(*s.state().data(), s.state().view.heads, *format));
               s.request({WindowRequest::Kind::CopyText, std::move(text)});
               return {};
             }});
  for (const char* form : {"csv", "tsv", "latex"})
    table.add_entry(
        {std::string("heads.copy ") + form, std::string("Copy the table of heads as ") + form, "Export", ""});
  table.add(
      {"screenshot", "PATH", "Save a picture of the window", "Export", {}, [](Session& s, Arguments a) -> Result<void> {
         if (a.size() != 1) return wrong_arguments("screenshot", "PATH", a);
         s.request({WindowRequest::Kind::Screenshot, a[0]});
         return {};
       }});
  table.add_entry({"screenshot", "Save a picture of the window", "Export", "", true});
  table.add({"export.panel", "heads|map|head|tokens PATH", "Save a picture of one panel, as it is on the screen",
             "Export", [](const State& state, Arguments) { return needs_data(state); },
             [](Session& s, Arguments a) -> Result<void> {
               if (a.size() != 2 || (a[0] != "heads" && a[0] != "map" && a[0] != "head" && a[0] != "tokens"))
                 return wrong_arguments("export.panel", "heads, map, head or tokens, and a PATH", a);
               s.request({WindowRequest::Kind::Screenshot, a[1], {}, a[0]});
               return {};
             }});
  for (const char* panel : {"heads", "map", "head", "tokens"})
    table.add_entry({std::string("export.panel ") + panel, std::string("Save a picture of the panel ") + panel,
                     "Export", "", true});
}

}  // namespace headroom
