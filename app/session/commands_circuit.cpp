// What heads can read and write, from weights alone.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/command_parts.h"
#include "core/base/parse_number.h"
#include "core/run/head_table.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

std::string circuit_reason(const State& state) {
  if (state.nothing_open()) return "nothing is open";
  if (state.shown() && state.shown()->model < 0) return "a run file has no weights; open its checkpoint";
  const ModelEntry* model = state.circuit_model();
  if (!model || !model->model) return "no checkpoint is open";
  return model->model->spec.capture ? "a capture has no weights" : "";
}

std::string shown_reason(const State& state) {
  if (std::string reason = circuit_reason(state); !reason.empty()) return reason;
  return state.view.centre == CentreView::Circuit ? "" : "the circuits are not shown";
}

std::string running_reason(const State& state) {
  const ModelEntry* model = state.circuit_model();
  return model && model->circuits.running ? "" : "no circuits are being measured";
}

// A number is an id; all else is the text of one token.
Result<std::int64_t> token_of(const ModelEntry& model, const std::string& text) {
  const std::int64_t vocabulary = path_vocabulary(model.model->spec);
  if (const std::optional<std::int64_t> id = parse_index(text)) {
    if (*id < vocabulary) return *id;
    return Error(ErrorCode::InvalidArgument, "circuit.token: there is no such token")
        .wanted("0 to " + std::to_string(vocabulary - 1), text);
  }
  if (!model.tokenizer)
    return Error(
        ErrorCode::InvalidArgument,
        "circuit.token: the checkpoint has no tokenizer that reads a text; give an id: " + model.tokenizer_note);
  HEADROOM_TRY(const Encoding encoding, model.tokenizer->encode(text, BosMode::Never));
  if (encoding.ids.empty()) return Error(ErrorCode::InvalidArgument, "circuit.token: the text has no token");
  if (encoding.ids.size() > 1) {
    std::string pieces;
    for (std::size_t i = 0; i < encoding.texts.size() && i < 8; ++i)
      pieces += (i > 0 ? ", " : "") + quote_word(encoding.texts[i]);
    return Error(ErrorCode::InvalidArgument, "circuit.token: a head reads one token")
        .wanted("a text of one token, or an id", pieces);
  }
  return static_cast<std::int64_t>(encoding.ids.front());
}

}  // namespace

void add_circuit_commands(CommandTable& table) {
  table.add({"circuit", "[on|off]", "What a head can read and write, from weights alone", "Heads", circuit_reason,
             [](Session& s, const Arguments& a) -> Result<void> {
               const State& state = s.state();
               const ModelCircuits& circuits = state.circuit_model()->circuits;
               const bool shown = state.view.centre == CentreView::Circuit;
               // The key closes what it opened, unless there is something left to measure.
               const bool close = a.empty() ? shown && (circuits.running || circuits.complete()) : a.is(0, "off");
               if (close != shown || close) s.remember_view("circuit");
               s.edit().view.centre = close ? CentreView::Map : CentreView::Circuit;
               return close ? Result<void>() : s.runner().circuits().start();
             }});
  table.add({"circuit.stop", "", "Circuits: stop measuring", "Heads", running_reason,
             [](Session& s) { s.runner().circuits().stop(); }});
  table.add({"circuit.token", "TEXT|none", "Circuits: the token that the head reads", "Heads", shown_reason,
             [](Session& s, const Arguments& a) -> Result<void> {
               std::int64_t token = -1;
               if (!a.is(0, "none")) {
                 HEADROOM_TRY(token, token_of(*s.state().circuit_model(), a[0]));
               }
               s.remember_view("circuit.token");
               s.edit().view.circuit.token = token;
               return {};
             }});
  table.add({"circuit.copy", "csv|tsv|latex", "Circuits: copy the numbers of all heads", "Heads", shown_reason,
             [](Session& s, const Arguments& a) -> Result<void> {
               const std::shared_ptr<const RunSnapshot> run = s.state().heads_shown();
               if (!run) return Error(ErrorCode::InvalidArgument, "circuit.copy: nothing is measured yet");
               const HeadTable sorted = make_head_table(*run, "", "copying_score", true);
               std::vector<std::string> columns;
               for (const QuantityInfo& info : quantity_infos())
                 if (info.group == QuantityGroup::Circuits) columns.push_back(info.name);
               s.request({WindowRequest::Kind::CopyText,
                          head_table_text(*run, sorted.rows, columns, *parse_table_format(a[0]))});
               return {};
             }});
  table.add_entry({"circuit", "What a head can read and write, from weights alone", "Heads", "O"});
  table.add_entry({"circuit.token", "Circuits: the token that the head reads", "Heads", "", true});
  table.add_entry({"circuit.stop", "Circuits: stop measuring", "Heads", ""});
  table.add_entry({"circuit.copy csv", "Circuits: copy the numbers of all heads as CSV", "Heads", ""});
}

}  // namespace headroom
