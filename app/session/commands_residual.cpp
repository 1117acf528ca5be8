// The residual stream: what is looked at, and whether the next run keeps it.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"

namespace headroom {
namespace {

std::string stream_reason(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  if (!state.data()->residual.empty()) return "";
  const ModelEntry* model = state.find_model(state.shown()->model);
  if (model && model->model && model->model->spec.capture)
    return "a capture holds calls of attention, no residual stream";
  return model ? "this run has no residual stream: run again"
               : "this run file has none: headroom analyze --hidden keeps it";
}

// The view itself says what is missing and how to get it.
std::string view_reason(const State& state) {
  return state.corpus() ? "a corpus keeps no residual stream: open a sequence" : needs_data(state);
}

// "0 to 575": an index that the stream does not have is refused with those it has.
Result<void> set_index(Session& session, const char* name, const Arguments& a, std::int64_t count,
                       std::optional<std::int64_t> ResidualState::* field) {
  const std::optional<std::int64_t> index = a.maybe_index(0);  // none: the largest
  if (index && *index >= count) return a.wrong("0 to " + std::to_string(count - 1) + ", or largest");
  session.remember_view(name);
  session.edit().view.residual.*field = index;
  return {};
}

std::int64_t channels_of(const RunSnapshot& run) {
  for (const auto& boundary : run.residual)
    if (boundary) return boundary->channels;
  return 0;
}

}  // namespace

void add_residual_commands(CommandTable& table) {
  table.add({"residual", "[on|off]", "Residual stream and massive activations", "Heads", view_reason,
             [](Session& s, const Arguments& a) {
               s.remember_view("residual");
               CentreView& centre = s.edit().view.centre;
               const bool on = a.on(0, centre == CentreView::Residual);
               centre = on ? CentreView::Residual : CentreView::Map;
             }});
  table.add({"residual.cells", all_words<ResidualCells>(), "Residual: what tokens and boundaries are coloured by",
             "Heads", stream_reason, [](Session& s, const Arguments& a) {
               s.remember_view("residual.cells");
               s.edit().view.residual.cells = a.choice<ResidualCells>(0);
             }});
  table.add({"residual.channel", "CHANNEL|largest", "Residual: one channel over tokens and boundaries", "Heads",
             stream_reason, [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY_VOID(
                   set_index(s, "residual.channel", a, channels_of(*s.state().data()), &ResidualState::channel));
               s.edit().view.residual.cells = ResidualCells::Channel;
               return {};
             }});
  table.add({"residual.boundary", "BOUNDARY|largest", "Residual: look at a boundary between layers", "Heads",
             stream_reason, [](Session& s, const Arguments& a) -> Result<void> {
               return set_index(s, "residual.boundary", a, static_cast<std::int64_t>(s.state().data()->residual.size()),
                                &ResidualState::boundary);
             }});
  table.add({"residual.token", "TOKEN", "Residual: the token beside the median of the others", "Heads", stream_reason,
             [](Session& s, const Arguments& a) -> Result<void> {
               const std::int64_t token = a.index(0), length = s.state().data()->length;
               if (token >= length) return a.wrong("0 to " + std::to_string(length - 1));
               s.remember_view("residual.token");
               s.edit().view.residual.token = token;
               return {};
             }});
  table.add({"residual.least", "RATIO", "Residual: list activations from so many times the median on", "Heads",
             stream_reason, [](Session& s, const Arguments& a) -> Result<void> {
               const double ratio = a.number(0);
               if (ratio < 1.0 || ratio > 1e9) return a.wrong("1 to 1000000000");
               s.remember_view("residual.least");
               s.edit().view.residual.least = ratio;
               return {};
             }});
  table.add({"residual.keep",
             "[on|off]",
             "Keep the residual stream of the next run",
             "Heads",
             {},
             [](Session& s, const Arguments& a) {
               bool& keep = s.edit().keep_residual;
               keep = a.on(0, keep);
             }});
  table.add_entry({"residual", "Residual stream and massive activations", "Heads", "R"});
  for (const auto& [cells, title] :
       {std::pair{"channel", "one channel"}, {"rms", "RMS over channels"}, {"largest", "largest |h| of the token"}})
    table.add_entry({std::string("residual.cells ") + cells, std::string("Residual: colour by ") + title, "Heads", ""});
  table.add_entry({"residual.channel", "Residual: one channel", "Heads", "", true});
  table.add_entry({"residual.boundary", "Residual: a boundary", "Heads", "", true});
  table.add_entry({"residual.token", "Residual: a token", "Heads", "", true});
  table.add_entry({"residual.least", "Residual: least ratio of what is listed", "Heads", "", true});
  table.add_entry({"residual.keep", "Residual: keep the stream of the next run", "Heads", ""});
}

}  // namespace headroom
