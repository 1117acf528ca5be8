// What the files with commands share: reasons why something cannot be done now. Main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/session/session.h"

namespace headroom {

// By subject; make_command_table() calls them all.
void add_file_commands(CommandTable& table);
void add_run_commands(CommandTable& table);
void add_head_commands(CommandTable& table);
void add_lasso_commands(CommandTable& table);
void add_maps_commands(CommandTable& table);
void add_tokens_commands(CommandTable& table);
void add_map_commands(CommandTable& table);
void add_what_if_commands(CommandTable& table);
void add_compare_commands(CommandTable& table);
void add_circuit_commands(CommandTable& table);
void add_importance_commands(CommandTable& table);
void add_residual_commands(CommandTable& table);
void add_export_commands(CommandTable& table);
void add_figure_commands(CommandTable& table);
void add_training_commands(CommandTable& table);
void add_corpus_commands(CommandTable& table);
void add_window_commands(CommandTable& table);
void add_script_commands(CommandTable& table);

// What heads are coloured by in the view that is open.
void look_at_quantity(Session& session, const std::string& quantity);

[[nodiscard]] bool has_head(const RunSnapshot& data, HeadRef head);
[[nodiscard]] std::string heads_of(const RunSnapshot& data);  // "a head of this run, L0.H0 to L29.H8"
// Reasons; empty: it can be done.
[[nodiscard]] std::string needs_data(const State& state);  // a run with at least one layer
[[nodiscard]] std::string needs_head(const State& state);  // and a selected head in it
// What is said of next tokens, and the tints that show it.
[[nodiscard]] std::string needs_predictions(const State& state);
[[nodiscard]] bool is_of_predictions(std::string_view tint);
[[nodiscard]] std::string needs_second_map(const State& state);  // and that one differential
[[nodiscard]] std::string needs_checkpoint(const State& state);  // of the shown run
[[nodiscard]] std::string needs_other_run(const State& state);
[[nodiscard]] const HeadProgram* selected_program(const State& state);

}  // namespace headroom
