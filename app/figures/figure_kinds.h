// The kinds of figures: what each needs of a run file, and how it is made. Each is one source in kinds/. Pure functions
// of runs; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/page_axes.h"

namespace headroom {

struct FigureKind {
  const char* name;     // "rms"
  const char* brief;    // a few words, for the window
  const char* summary;  // one line, for --list and help
  bool several;         // takes several runs
  const char* uses;     // the options that change it, but those of every page: "--head --rows"
  // Why this run cannot be drawn so, and what to do: nothing where it can.
  Result<void> (*check)(const FigureRun& run, const FigureChoice& choice);
  Result<Figure> (*make)(std::span<const FigureRun> runs, const FigureChoice& choice);
  bool of_trainings = false;    // takes histories of trainings in place of runs
  bool own_quantities = false;  // it reads their names itself: of rows and keys, of spans
  bool reads_file = false;      // it needs more of a run than its snapshot
  // Of the files that it takes in place of runs, and the command that writes them: "headroom-ablation", "ablate".
  std::string_view schema = {}, written_by = {};
};

[[nodiscard]] std::span<const FigureKind> figure_kinds();
// InvalidArgument names the nearest.
[[nodiscard]] Result<const FigureKind*> find_figure_kind(std::string_view name);

// "a run file", "a file of headroom ablate": what a file is.
[[nodiscard]] std::string file_sort(const FigureRun& run);
// Whether it is of the sort that a kind takes.
[[nodiscard]] bool takes_file(const FigureKind& kind, const FigureRun& run);
// Whether a file is of the sort that a kind takes, and has what it needs.
[[nodiscard]] Result<void> check_figure(const FigureKind& kind, const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_figure(const FigureKind& kind, std::span<const FigureRun> runs,
                                         const FigureChoice& choice);

// Whether the colours that a choice asks for can be: InvalidArgument where an end of its range is not above 0 and the
// scale is logarithmic, or where the ends are not in order.
[[nodiscard]] Result<void> check_range(const FigureChoice& choice, const ColorScale& scale);
// The same of a value axis, which has the ends that are asked for then.
[[nodiscard]] Result<void> set_range(PageAxis& axis, const FigureChoice& choice);
// What kinds share: the heads that are asked for, else `usual`; and the layers and heads that are drawn.
// InvalidArgument says what the file has.
[[nodiscard]] Result<std::vector<HeadRef>> chosen_heads(const FigureRun& run, const FigureChoice& choice,
                                                        const std::vector<HeadRef>& usual);
struct DrawnHeads {
  std::vector<std::int64_t> layers, heads;
  std::int64_t all_layers = 0;  // of the model
  [[nodiscard]] bool whole(const RunSnapshot& run) const { return layers == run.layers && heads == run.heads; }
};
[[nodiscard]] Result<DrawnHeads> drawn_heads(const FigureRun& run, const FigureChoice& choice);
// For captions, after a blank, how many of the file's layers and heads are drawn; empty where all are.
[[nodiscard]] std::string drawn_share(const RunSnapshot& run, const DrawnHeads& drawn);
// Its name, else the id that its file has.
[[nodiscard]] std::string model_of(const RunSnapshot& run);
// At the right of the panel's title "L17.H4", before it the model where names are asked for.
void name_head(FigurePanel& panel, const RunSnapshot& run, HeadRef head, const FigureChoice& choice);
// Model, text and precision in one sentence: "SmolLM2-135M-Instruct, 512 tokens, float32."; with the first digits of
// the hashes.
[[nodiscard]] std::string run_sentence(const RunSnapshot& run);
// Of several files, by which program, and the first digits of the first four's hashes: "headroom 0.1.0, runs
// 6511e0066d02, 1060ffc8b14a.".
[[nodiscard]] std::string runs_sentence(std::span<const FigureRun> runs);
// A dataset that a kind needs and the file lacks.
[[nodiscard]] Error lacks(const FigureRun& run, std::string_view kind, std::string_view dataset, std::string_view why,
                          std::string_view hint);

// The makers, one for each source of kinds/.
[[nodiscard]] Result<void> check_rms(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_rms(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_atlas(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_atlas(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_sinks(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_sinks(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_scatter(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_scatter(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_logits(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_logits(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_rms_layers(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_rms_layers(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_decomposition(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_decomposition(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_lambda(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_lambda(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_lambda_text(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_lambda_text(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_norm_gain(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_norm_gain(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_compare(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_compare(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_training(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_training(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_map(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_map(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_grid(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_grid(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_importance(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_importance(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_circuits(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_circuits(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_series(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_series(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_blocks(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_blocks_figure(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_needle(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_needle(std::span<const FigureRun> runs, const FigureChoice& choice);
[[nodiscard]] Result<void> check_tokens(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_tokens(std::span<const FigureRun> runs, const FigureChoice& choice);

}  // namespace headroom
