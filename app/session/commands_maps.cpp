// The thumbnails of all heads' maps: their order, size, numbers, which map they show, and the card of one.
#include <optional>
#include <string>
#include <utility>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

constexpr double kLeastSize = 10.0, kMostSize = 512.0;

// `change` returns Result<void>.
template <typename Change>
void add_change(CommandTable& table, const char* name, const char* arguments, const char* title, Change change) {
  table.add({name, arguments, title, "Heads", {}, [=](Session& s, const Arguments& a) -> Result<void> {
               HeadsState heads = s.state().view.heads;
               HEADROOM_TRY_VOID(result_of(change, heads, a));
               s.remember_view(name);
               s.edit().view.heads = std::move(heads);
               return {};
             }});
}

}  // namespace

void add_maps_commands(CommandTable& table) {
  add_change(table, "heads.maps.order", "index|value", "Maps: by layer, or by value",
             [](HeadsState& h, const Arguments& a) { h.maps_by_value = a.is(0, "value"); });
  add_change(table, "heads.maps.size", "PIXELS|fit", "Maps: size of a thumbnail",
             [](HeadsState& h, const Arguments& a) -> Result<void> {
               const double size = a.maybe_number(0).value_or(0.0);
               if (!a.is(0, "fit") && (size < kLeastSize || size > kMostSize))
                 return a.wrong("10 to 512 pixels, or fit");
               h.maps_size = size;
               return {};
             });
  add_change(table, "heads.maps.number", "QUANTITY|none", "Maps: number in the corner",
             [](HeadsState& h, const Arguments& a) { h.maps_number = a[0]; });
  add_change(table, "heads.maps.show", "net|first|second|logits", "Maps: which map of a head",
             [](HeadsState& h, const Arguments& a) { h.maps_show = a.choice<MapKind>(0); });
  table.add({"heads.maps.card", "L0.H0[Q,K]|none", "Maps: keep the card of a head", "Heads", needs_data,
             [](Session& s, const Arguments& a) -> Result<void> {
               std::optional<HeadRef> head;
               if (!a.is(0, "none")) {
                 head = a.place(0).head;
                 const RunSnapshot& data = *s.state().data();
                 if (!has_head(data, *head)) return a.wrong(heads_of(data));
               }
               s.edit().view.heads.maps_card = head;
               return {};
             }});
  for (const auto& [line, title] : {std::pair{"heads.maps.order index", "Maps: by layer"},
                                    {"heads.maps.order value", "Maps: by value"},
                                    {"heads.maps.size fit", "Maps: as large as fits"},
                                    {"heads.maps.number none", "Maps: without numbers"},
                                    {"heads.maps.show net", "Maps: weights, or net maps"},
                                    {"heads.maps.show first", "Maps: first maps"},
                                    {"heads.maps.show second", "Maps: second maps"},
                                    {"heads.maps.show logits", "Maps: logits"}})
    table.add_entry({line, title, "Heads", ""});
}

}  // namespace headroom
