#include "app/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/cli/ablate_command.h"
#include "app/cli/analyze_command.h"
#include "app/cli/bench_command.h"
#include "app/cli/blocks_command.h"
#include "app/cli/circuits_command.h"
#include "app/cli/command_words.h"
#include "app/cli/compare_command.h"
#include "app/cli/corpus_command.h"
#include "app/cli/doctor_command.h"
#include "app/cli/documents_command.h"
#include "app/cli/families_command.h"
#include "app/cli/figure_command.h"
#include "app/cli/inspect_command.h"
#include "app/cli/needle_command.h"
#include "app/cli/option_checks.h"
#include "app/cli/quantities_command.h"
#include "app/cli/report_command.h"
#include "app/cli/reproduce_command.h"
#include "app/cli/series_command.h"
#include "app/cli/standard_streams.h"
#include "app/cli/table_command.h"
#include "app/cli/tokenize_command.h"
#include "app/cli/train_command.h"
#include "app/process/exit_codes.h"
#include "app/process/report_error.h"
#include "app/process/version.h"
#include "core/base/error.h"
#include "core/base/shell_word.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

std::string joined(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i ? " " : "") + shell_word(argv[i]);
  return line;
}

void add_checkpoint_options(CLI::App& command, CheckpointOptions& options) {
  command.add_option("--config", options.config, "config.json to use in place of the checkpoint's own")
      ->type_name(kFileValue);
  command.add_option("--base", options.base, "the checkpoint that an adapter changes (else as its config says)")
      ->type_name(kPathValue);
  command.add_flag("--lenient", options.lenient, "accept holes and trailing bytes in safetensors, with a warning");
}

void add_inspect(CLI::App& app, InspectArguments& arguments) {
  CLI::App* command = app.add_subcommand("inspect", "a checkpoint from its headers, or what a run file holds");
  command
      ->add_option(
          "path", arguments.path,
          "checkpoint: a folder, safetensors, GGUF or PyTorch file, a place inside (model/::L3.H5), or a run file")
      ->type_name(kPathValue)
      ->required();
  command->add_flag("--tensors", arguments.tensors, "list every tensor");
  command->add_flag("--json", arguments.json, "machine-readable output");
  add_checkpoint_options(*command, arguments.options);
}

// What runs on a prompt.
void add_prompt_options(CLI::App& command, PromptArguments& prompt) {
  command.add_option("--text", prompt.text, "the prompt");
  command.add_option("--text-file", prompt.text_file, "file with the prompt; - is standard input")
      ->type_name(kFileValue);
  command.add_option("--ids", prompt.ids, "token ids, separated by commas or blanks");
  command.add_option("--ids-file", prompt.ids_file, "file with token ids; - is standard input")->type_name(kFileValue);
  command.add_option("--sequence", prompt.sequence, "one of a corpus or of its plan, e.g. all.h5::S17");
  auto* target = command.add_option("--target-text", prompt.target_text,
                                    "what the decoder of an encoder-decoder shall predict (default: the prompt)");
  command.add_option("--target-ids", prompt.target_ids, "token ids that this decoder reads")->excludes(target);
  command.add_option("--bos", prompt.bos, "whether token 0 is a BOS; ids are never altered")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command.add_option("--max-tokens", prompt.max_tokens, "keep only the first tokens of the prompt")
      ->check(CLI::PositiveNumber);
}

void add_run_options(CLI::App& command, AnalyzeArguments& arguments) {
  command.add_option("--device", arguments.device, "auto, cpu, cuda or cuda:N")->type_name("DEVICE:{auto,cpu,cuda}");
  command.add_option("--backend", arguments.backend, "what computes attention")
      ->type_name("BACKEND:{auto,reference,blocked,cpu,cuda}");
  command.add_option("--dtype", arguments.dtype, "what the model computes in")
      ->type_name("DTYPE:{float32,float64,bfloat16}");
  command.add_option("--what-if", arguments.what_ifs, "[L<layer>[.H<head>]:]NAME=VALUE, e.g. sink=off; repeatable")
      ->take_all();
}

void add_analyze(CLI::App& app, AnalyzeArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("analyze", "run attention on a prompt, layer by layer, and write the statistics");
  command->add_option("path", arguments.path, "checkpoint; may name a place inside: model/::L3.H5")
      ->type_name(kPathValue)
      ->required();
  command->add_option("-o,--output", arguments.output, "run file to write (HDF5)")->type_name(kFileValue)->required();
  add_prompt_options(*command, arguments.prompt);
  command
      ->add_option("--layers", arguments.layers,
                   "layers to measure, e.g. 0,2-5 (default: all); the run ends with the last of them")
      ->check(not_a_list);
  command->add_option("--heads", arguments.heads, "heads to measure (default: all)")->check(not_a_list);
  add_run_options(*command, arguments);
  command->add_option("--maps", arguments.pool_blocks, "pooled maps of P × P blocks")->check(CLI::Range(1, 65536));
  command->add_flag("--components", arguments.components, "pooled maps of the first and second map too");
  command->add_flag("--rounding", arguments.extra.rounding,
                    "what heads lose with weights in bfloat16, and whether the errors have a sign");
  command->add_flag("--premise", arguments.extra.premise,
                    "whether values are what the interval of the context RMS supposes");
  command->add_flag("--exact-maps", arguments.exact_maps, "whole maps, n × n per head: choose --layers and --heads");
  command->add_option("--exact-budget", arguments.exact_budget_gib, "largest size of the exact maps in GiB")
      ->check(not_a_size);
  command->add_option("--memory", arguments.memory_gb, "memory that the run may take in GB (default: all that is free)")
      ->check(not_a_positive_size);
  command->add_flag("--hidden", arguments.hidden, "residual stream and logits too");
  command->add_option("--only", arguments.only, "summary: leave out /rows, /keys and /hist")
      ->check(CLI::IsMember({"summary"}));
  command->add_flag("--force", arguments.force, "replace an existing run file");
  command->add_flag("--json", arguments.json, "machine-readable output");
  add_checkpoint_options(*command, arguments.options);
}

void add_ablate(CLI::App& app, AblateArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("ablate", "how much the loss of a text, or of a plan's sequences, changes without each head");
  AnalyzeArguments& run = arguments.run;
  command->add_option("path", run.path, "checkpoint; may name a place inside: model/::L3.H5")
      ->type_name(kPathValue)
      ->required();
  command->add_option("-o,--output", run.output, "file of the changes to write (HDF5)")
      ->type_name(kFileValue)
      ->required();
  add_prompt_options(*command, run.prompt);
  command
      ->add_option("--mode", arguments.mode,
                   "what takes the place of a head: zero, mean (over the text, or the plan), second-map (none), "
                   "hide-key[=KEYS]; gradient, of a plan: nothing, importance by gradients")
      ->type_name("MODE:{zero,mean,second-map,hide-key,gradient}");
  command->add_option("--layers", run.layers, "layers whose heads are taken away, e.g. 0,2-5 (default: all)")
      ->check(not_a_list);
  command
      ->add_option("--heads", run.heads,
                   "heads: of every layer, e.g. 0,2-5, or named, e.g. L18.H8,L3.H2 (default: all)")
      ->check([](const std::string& text) { return text.find('L') == std::string::npos ? not_a_list(text) : ""; });
  command->add_option("--set", arguments.sets, "heads that are taken away together, e.g. L18.H8+L18.H7; repeatable")
      ->take_all();
  command->add_flag("--by-token", arguments.by_token, "the changes of every token too");
  add_ablate_plan_options(*command, arguments);
  add_run_options(*command, run);
  command->add_option("--memory", run.memory_gb, "memory that the runs may take in GB (default: all that is free)")
      ->check(not_a_positive_size);
  command->add_flag("--force", run.force, "replace an existing file");
  command->add_flag("--json", run.json, "machine-readable output");
  add_checkpoint_options(*command, run.options);
}

// How sequences of a plan are run.
void add_corpus_run_options(CLI::App& command, AnalyzeArguments& run, bool with_heads = true) {
  command.add_option("--layers", run.layers, "layers to measure, e.g. 0,2-5 (default: all)")->check(not_a_list);
  if (with_heads) command.add_option("--heads", run.heads, "heads to measure (default: all)")->check(not_a_list);
  add_run_options(command, run);
  command.add_option("--memory", run.memory_gb, "memory that the run may take in GB (default: all that is free)")
      ->check(not_a_positive_size);
  command.add_flag("--json", run.json, "machine-readable output");
  add_checkpoint_options(command, run.options);
}

void add_corpus(CLI::App& app, CorpusArguments& arguments) {
  CLI::App* command = app.add_subcommand("corpus", "what heads do over many sequences, with intervals over documents");
  AnalyzeArguments& run = arguments.run;
  command->add_option("path", run.path, "checkpoint; may name a place inside: model/::L3.H5")
      ->type_name(kPathValue)
      ->required();
  command->add_option("-o,--output", run.output, "file to write (HDF5); by default of --slurm: all.h5 in its folder")
      ->type_name(kFileValue);
  add_corpus_options(*command, arguments);
  add_corpus_run_options(*command, run);
  command->add_flag("--force", run.force, "replace an existing file, and begin a stopped run anew");
}

void add_circuits(CLI::App& app, CircuitsArguments& arguments) {
  CLI::App* command = app.add_subcommand("circuits", "what each head can read and write, from the weights alone");
  AnalyzeArguments& run = arguments.run;
  command->add_option("path", run.path, "checkpoint; may name a place inside: model/::L3.H5")
      ->type_name(kPathValue)
      ->required();
  command->add_option("-o,--output", run.output, "file of the circuits to write (HDF5)")
      ->type_name(kFileValue)
      ->required();
  command->add_option("--layers", run.layers, "layers, e.g. 0,2-5 (default: all)")->check(not_a_list);
  command->add_option("--heads", run.heads, "heads of every layer, e.g. 0,2-5 (default: all)")->check(not_a_list);
  command->add_flag("--composition", arguments.composition,
                    "how much of what each head writes every later one reads: Q-, K- and V-composition");
  command->add_flag("--force", run.force, "replace an existing file");
  command->add_flag("--json", run.json, "machine-readable output");
  add_checkpoint_options(*command, run.options);
}

void add_compare(CLI::App& app, CompareArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "compare", "the same quantities of two run files side by side; what changed between two corpora");
  command->add_option("a", arguments.a, "run file, or corpus")->type_name(kFileValue)->required();
  command->add_option("b", arguments.b, "another; of the same sequences")->type_name(kFileValue)->required();
  command->add_option("--rtol", arguments.rtol, "relative tolerance")->check(not_a_size);
  command->add_option("--atol", arguments.atol, "absolute tolerance")->check(not_a_size);
  command->add_flag("--json", arguments.json, "machine-readable output");
}

std::string not_a_quantity(const std::string& text) {
  const Result<QuantityRef> ref = parse_quantity(text);
  return ref ? "" : describe(ref.error());
}

void add_table(CLI::App& app, TableArguments& arguments) {
  CLI::App* command = app.add_subcommand("table", "the heads of a run file as a table");
  command->add_option("run", arguments.run, "run file")->type_name(kFileValue)->required();
  command->add_option("--filter", arguments.filter,
                      "which heads, e.g. 'sink_score > 0.3 and layer >= 4' (default: all)");
  command->add_option("--sort", arguments.sort, "head, kind or a quantity, the largest first (default: head)");
  command->add_flag("--ascending", arguments.ascending, "the smallest first");
  command
      ->add_option("--columns", arguments.columns,
                   "quantities, e.g. sink_score 'rows_inside_bound[softmax]' (default: those of the window)")
      ->check(not_a_quantity);
  command->add_option("--first", arguments.first, "only so many rows")->check(CLI::Range(1, 1000000));
  command->add_option("--format", arguments.format, "csv, tsv, latex or markdown (default: csv)")
      ->check(CLI::IsMember({"csv", "tsv", "latex", "markdown"}));
  command->add_option("-o,--output", arguments.output, "file to write (default: standard output)")
      ->type_name(kFileValue);
  command->add_flag("--force", arguments.force, "replace an existing file");
  command->add_flag("--json", arguments.json, "machine-readable output");
}

std::string nothing(const std::string& text) { return text.empty() ? "takes a value; found nothing" : ""; }

void add_bench(CLI::App& app, BenchArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("bench", "how fast attention and its statistics are here, beside LibTorch's attention");
  PromptArguments& prompt = arguments.prompt;
  CLI::Option* model = command->add_option("--model", arguments.model,
                                           "checkpoint: time the stages of a real analysis in place of the table");
  CLI::Option* shapes = command->add_option(
      "--shapes", arguments.shapes,
      "list of [KIND:]HEADSxKV_HEADSxHEAD_DIM[@LENGTH], KIND softmax, diff_v2 or diff_v1; e.g. 32x8x128,diff_v2:8x8x64@2048 "
      "(default: a table of nine, n = 1024 to 8192; on a CUDA device of four, n = 2048 to 131072)");
  shapes->check(nothing)->excludes(model);
  model->check(nothing)->type_name(kPathValue);
  command
      ->add_option("--repeats", arguments.repeats,
                   "rounds at most, beside one that is not counted (default: 15; --model: 3)")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--budget", arguments.budget_seconds, "seconds the table may take (default: 120)")
      ->check(not_a_size);
  command->add_flag("--quick", arguments.quick, "20 seconds, 5 rounds, a smaller table");
  command->add_flag("--outliers", arguments.outliers,
                    "queries and keys with outliers: N(0, 1), and N(0, 100) beside it once in a thousand");
  command->add_option("--threads", arguments.threads, "threads of LibTorch and of the kernels")
      ->check(CLI::Range(1, 1024));
  command->add_option("--target", arguments.target, "instructions, e.g. AVX2; holds LibTorch to them too")
      ->check(nothing);
  command->add_option("--device", arguments.device, "cpu (default) or cuda: the fused kernels of that device")
      ->type_name("DEVICE:{cpu,cuda}")
      ->excludes(model);
  command->add_option("--dtype", arguments.dtype, "float32 (default) or bfloat16: queries, keys and values")
      ->check(CLI::IsMember({"float32", "bfloat16"}))
      ->excludes(model);
  command->add_flag("--no-window", arguments.no_window, "leave out the window of a map of 131,072 tokens");
  command->add_option("--text", prompt.text, "the prompt of --model")->needs(model);
  command->add_option("--text-file", prompt.text_file, "file with the prompt; - is standard input")
      ->type_name(kFileValue)
      ->needs(model);
  command->add_option("--ids", prompt.ids, "token ids, separated by commas or blanks")->needs(model);
  command->add_option("--ids-file", prompt.ids_file, "file with token ids; - is standard input")
      ->type_name(kFileValue)
      ->needs(model);
  command->add_option("--max-tokens", prompt.max_tokens, "keep only the first tokens of the prompt")
      ->check(CLI::PositiveNumber)
      ->needs(model);
  command
      ->add_option("--folder", arguments.folder, "where --model writes a run file and removes it (default: in memory)")
      ->type_name(kFolderValue)
      ->needs(model);
  command->add_flag("--json", arguments.json, "machine-readable output; app/README.md names its members");
  add_checkpoint_options(*command, arguments.options);
}

void add_train(CLI::App& app, TrainArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("train", "train small models from recipes, and record what their heads do meanwhile");
  command->add_option("recipes", arguments.recipes, "recipe files (assets/recipes/*.json)")
      ->type_name(kFileValue)
      ->required();
  command->add_option("-o,--output", arguments.output, "folder; models go to RECIPE/VARIANT_seedN in it")
      ->type_name(kFolderValue)
      ->required()
      ->check(nothing);
  command->add_option("--variant", arguments.variants, "train only these variants");
  command->add_option("--seed", arguments.seeds, "train with these seeds (default: the recipe's)")
      ->check(not_a_whole_number);
  command->add_option("--steps", arguments.steps, "in place of the recipe's number of steps")
      ->check(CLI::PositiveNumber);
  command->add_option("--device", arguments.device, "cpu, cuda or cuda:N")->type_name("DEVICE:{cpu,cuda}");
  command->add_option("--jobs", arguments.jobs, "trainings at a time (default: one a processor)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--threads", arguments.threads,
                   "threads of each training (default: 1); results depend on it in the last bits")
      ->check(CLI::Range(1, 1024));
  CLI::Option* resume = command->add_flag("--resume", arguments.resume,
                                          "go on where a training was stopped; leave finished ones as they are");
  command->add_flag("--force", arguments.force, "begin anew in folders that hold trainings")->excludes(resume);
  command->add_flag("--json", arguments.json, "machine-readable output");
}

void add_reproduce(CLI::App& app, ReproduceArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("reproduce", "examine the claims about DIFF V2 on the shipped models, and write a report");
  command->add_option("-o,--output", arguments.output, "folder for report.md, claims.json, tables and run files")
      ->type_name(kFolderValue)
      ->required()
      ->check(nothing);
  command->add_option("--assets", arguments.assets, "the project's assets (default: found beside the program)")
      ->type_name(kFolderValue)
      ->check(nothing);
  command->add_option("--claim", arguments.claims, "only these, 1 to 9")->check(CLI::Range(1, 9));
  command->add_option("--seed", arguments.seeds, "only these seeds (1 is shipped; the others are trained first)")
      ->check(not_a_whole_number);
  command->add_flag("--only-models", arguments.only_models, "the numbers of the shipped models alone, no claims");
  command->add_option("--checkpoint", arguments.checkpoint, "another trained softmax model, for claim 6")
      ->type_name(kPathValue)
      ->check(nothing);
  CLI::Option* name = command->add_option("--device-name", arguments.device_name, "the processor of claim 8");
  CLI::Option* flops = command->add_option("--device-tflops", arguments.device_tflops, "its dense bfloat16 TFLOP/s")
                           ->check(not_a_positive_size);
  CLI::Option* bytes = command->add_option("--device-gbytes", arguments.device_gbytes, "its memory bandwidth in GB/s")
                           ->check(not_a_positive_size);
  flops->needs(bytes);
  bytes->needs(flops);
  name->needs(flops);
  command->add_option("--jobs", arguments.jobs, "trainings at a time (default: one a processor)")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", arguments.json, "machine-readable output");
}

void add_report(CLI::App& app, ReportArguments& arguments) {
  CLI::App* command = app.add_subcommand("report", "runs as one page: figures, maps, tables, what the numbers mean");
  command->add_option("runs", arguments.runs, "run files; several are shown beside each other, then one by one")
      ->type_name(kFileValue)
      ->required();
  command->add_option("-o,--output", arguments.output, "file to write: .html, with maps to look into, or .pdf")
      ->type_name(kFileValue)
      ->required();
  command->add_option("--head", arguments.options.head, "head that single figures are of, e.g. L17.H4");
  command->add_option("--epsilon", arguments.options.epsilon, "from which mean attention a key is a sink")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--title", arguments.options.title, "title of the page (default: the names of the models)");
  command->add_flag("--force", arguments.force, "replace an existing file");
  command->add_flag("--json", arguments.json, "machine-readable report");
}

void add_quantities(CLI::App& app, QuantitiesArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("quantities", "what every dataset of a run file is: formula, rows, range, source");
  command
      ->add_option("pattern", arguments.pattern, "only these: a name such as sink_score, or a pattern such as 'rows/*'")
      ->check(nothing);
  command->add_flag("--circuits", arguments.circuits, "of a file of circuits in place of a run file");
  CLI::Option* markdown =
      command->add_flag("--markdown", arguments.markdown, "as core/measure/QUANTITIES.md, or CIRCUITS.md beside it");
  command->add_flag("--json", arguments.json, "machine-readable output")->excludes(markdown);
}

void add_families(CLI::App& app, FamiliesArguments& arguments) {
  CLI::App* command = app.add_subcommand("families", "the model types that open");
  CLI::Option* markdown = command->add_flag("--markdown", arguments.markdown, "as core/model/ARCHITECTURES.md");
  command->add_flag("--json", arguments.json, "machine-readable output")->excludes(markdown);
}

void add_tokenize(CLI::App& app, TokenizeArguments& arguments) {
  CLI::App* command = app.add_subcommand("tokenize", "the tokens of a text: ids, bytes, texts");
  command->add_option("path", arguments.path, "checkpoint, or a folder that holds tokenizer files")
      ->type_name(kPathValue)
      ->required();
  command->add_option("--text", arguments.text, "the text");
  command->add_option("--text-file", arguments.text_file, "file with the text; - is standard input")
      ->type_name(kFileValue);
  command
      ->add_option("--json-lines", arguments.json_lines,
                   "file with a JSON string on each line; prints a JSON object for each")
      ->type_name(kFileValue);
  command->add_option("--base", arguments.base, "the checkpoint that an adapter changes")->type_name(kPathValue);
  command->add_option("--bos", arguments.bos, "whether token 0 is a BOS")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->add_flag("--json", arguments.json, "machine-readable output");
}

std::string exit_code_line() {
  std::string line = "Exit codes:";
  for (const ExitCode& exit : kExitCodes)
    line += (exit.code ? ", " : " ") + std::to_string(exit.code) + " " + exit.meaning;
  return line + ".";
}

int usage_error(const std::string& message, bool json) {
  Error error(ErrorCode::InvalidArgument, message);
  return report_error(error.advise("headroom --help names the commands, headroom COMMAND --help the options of one"),
                      json);
}

int parse_and_run(int argc, char** argv, const WindowProgram& window_program, bool json) {
  CLI::App app{"Headroom: what every attention head of a transformer checkpoint does", "headroom"};
  app.set_version_flag("--version", std::string("headroom ") + kVersion + " (" + kGitCommit + ")");
  app.require_subcommand(0, 1);
  WindowArguments window;
  bool list_commands = false, markdown = false;
  app.add_option("paths", window.paths,
                 "checkpoints or run files to open in the window; may name a place inside: model/::L3.H5")
      ->type_name(kPathValue);
  app.add_option("--script", window.script, "run the commands of a file in the window, one a line, and end")
      ->type_name(kFileValue);
  app.add_option("--size", window.size, "size of the window in pixels, e.g. 1440x900");
  app.add_option("--scale", window.scale, "size of everything in it, 0.5 to 3")->check(CLI::Range(0.5, 3.0));
  app.add_option("--theme", window.theme, "dark or light")->check(CLI::IsMember({"dark", "light"}));
  app.add_option(
         "--config", window.config,
         "folder of settings and recent files (a script has none without it), or a config.json for the checkpoints")
      ->type_name(kPathValue);
  app.add_flag("--facts", window.print_facts, "print what `expect` knows when the window closes");
  app.add_flag("--times", window.print_times, "print frame times as JSON when the window closes");
  app.add_flag("--commands", list_commands, "list the window's commands with their keys");
  app.add_flag("--markdown", markdown, "with --commands: as a Markdown table");
  app.footer(exit_code_line());
  InspectArguments inspect;
  AnalyzeArguments analyze;
  AblateArguments ablate;
  CircuitsArguments circuits;
  CorpusArguments corpus;
  MergeArguments merge;
  SeriesArguments series;
  BlocksArguments blocks;
  NeedleArguments needle;
  CompareArguments compare;
  TableArguments table;
  FigureArguments figure;
  ReportArguments report;
  QuantitiesArguments quantities;
  FamiliesArguments families;
  TokenizeArguments tokenize;
  BenchArguments bench;
  TrainArguments train;
  ReproduceArguments reproduce;
  bool doctor_json = false, any_json = false;
  std::string shell;
  app.add_flag("--json", any_json, "machine-readable output, of any command");
  add_inspect(app, inspect);
  add_analyze(app, analyze);
  add_ablate(app, ablate);
  add_circuits(app, circuits);
  add_corpus(app, corpus);
  add_merge(app, merge);
  add_corpus_run_options(add_series(app, series), series.corpus.run);
  add_corpus_run_options(add_blocks(app, blocks), blocks.corpus.run, false);
  add_corpus_run_options(add_needle(app, needle), needle.corpus.run);
  add_compare(app, compare);
  add_table(app, table);
  add_figure(app, figure);
  add_report(app, report);
  add_quantities(app, quantities);
  add_families(app, families);
  add_tokenize(app, tokenize);
  add_bench(app, bench);
  add_train(app, train);
  add_reproduce(app, reproduce);
  app.add_subcommand("doctor", "versions, devices, threads, display: what works here")
      ->add_flag("--json", doctor_json, "machine-readable output");
  app.add_subcommand("man", "this command line as a manual page (troff): headroom man > headroom.1");
  app.add_subcommand("completion", "what a shell completes, as a script: source <(headroom completion bash)")
      ->add_option("shell", shell, "the shell that is to read it")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return usage_error(error.what(), json);
  }
  for (bool* choice : {&inspect.json,
                       &analyze.json,
                       &ablate.run.json,
                       &circuits.run.json,
                       &corpus.run.json,
                       &merge.json,
                       &series.corpus.run.json,
                       &blocks.corpus.run.json,
                       &needle.corpus.run.json,
                       &compare.json,
                       &table.json,
                       &figure.json,
                       &report.json,
                       &quantities.json,
                       &families.json,
                       &tokenize.json,
                       &bench.json,
                       &train.json,
                       &reproduce.json,
                       &doctor_json})
    *choice = *choice || any_json;
  for (std::string* line : {&analyze.command_line, &ablate.run.command_line, &circuits.run.command_line,
                            &corpus.run.command_line, &merge.command_line, &series.corpus.run.command_line,
                            &blocks.corpus.run.command_line, &needle.corpus.run.command_line, &bench.command_line,
                            &train.command_line, &reproduce.command_line, &window.command_line})
    *line = joined(argc, argv);
  if (app.got_subcommand("inspect")) return run_inspect(inspect);
  if (app.got_subcommand("compare")) {
    const CLI::App& chosen = *app.get_subcommand("compare");
    compare.by_value = chosen.count("--rtol") + chosen.count("--atol") > 0;
    return run_compare(compare);
  }
  if (app.got_subcommand("table")) return run_table(table);
  if (app.got_subcommand("figure")) {
    figure.words.assign(argv + 1, argv + argc);
    return run_figure(figure);
  }
  if (app.got_subcommand("report")) return run_report(report);
  if (app.got_subcommand("quantities")) return run_quantities(quantities);
  if (app.got_subcommand("families")) return run_families(families);
  if (app.got_subcommand("tokenize")) return run_tokenize(tokenize);
  if (app.got_subcommand("man")) return run_man(program_words(app));
  if (app.got_subcommand("completion")) return run_completion(program_words(app), shell);
  if (app.got_subcommand("doctor")) return run_doctor(doctor_json, window_program);
  if (app.got_subcommand("bench")) return run_bench(bench);
  if (app.got_subcommand("train")) return run_train(train);
  if (app.got_subcommand("reproduce")) return run_reproduce(reproduce);
  if (app.got_subcommand("ablate")) return run_ablate(ablate);
  if (app.got_subcommand("circuits")) return run_circuits(circuits);
  if (app.got_subcommand("corpus")) return run_corpus_command(corpus);
  if (app.got_subcommand("merge")) return run_merge(merge);
  if (app.got_subcommand("series")) return run_series(series);
  if (app.got_subcommand("blocks")) return run_blocks_command(blocks);
  if (app.got_subcommand("needle")) return run_needle(needle);
  if (app.got_subcommand("analyze")) return run_analyze(analyze);
  if (list_commands) {
    std::fputs(window_program.command_table(markdown).c_str(), stdout);
    return 0;
  }
  // A mistyped command is not a file that is missing.
  for (const std::string& path : window.paths)
    if (path.find_first_of("/.:") == std::string::npos && !std::filesystem::exists(path))
      return usage_error("no such command and no such file: " + path + "; commands are " + command_list(app, "and"),
                         json);
  if (json) return usage_error("the window has no JSON; expected " + command_list(app, "or"), json);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(window.config, ignored)) std::swap(window.config, window.model_config);
  return window_program.run(window);
}

}  // namespace

int run_command_line(int argc, char** argv, const WindowProgram& window_program) {
  occupy_closed_streams();
  // Asked of the words themselves: a line that does not parse is answered in the form it asked for too.
  const bool json = std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
  try {
    return flush_standard_output(parse_and_run(argc, argv, window_program, json));
  } catch (const std::bad_alloc&) {
    return report_error(Error(ErrorCode::OutOfMemory, "out of memory"), json);
  } catch (const std::exception& error) {
    return report_bug(error.what(), json);
  }
}

}  // namespace headroom
