// The command line of `headroom corpus` and `headroom merge`.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <vector>

#include "app/cli/command_words.h"
#include "app/cli/corpus_command.h"
#include "app/cli/option_checks.h"

namespace headroom {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

}  // namespace

std::vector<CLI::Option*> add_document_options(CLI::App& command, CorpusArguments& arguments) {
  return {
      command
          .add_option("--data", arguments.data,
                      "documents: text, JSONL, also packed by gzip or zstd, files of token ids, or folders of them")
          ->type_name(kPathValue),
      command
          .add_option("--split", arguments.split, "what a document of a text file is: the file, a line, a run of lines")
          ->check(CLI::IsMember({"none", "lines", "blank"})),
      command.add_option("--field", arguments.field,
                         "field of JSONL with the text or the ids, e.g. a.b (default: text)"),
      command.add_option("--ids-dtype", arguments.ids_dtype, "what an id of a file without a header is")
          ->check(CLI::IsMember({"uint16", "uint32", "int32"})),
      command.add_option("--document-end", arguments.document_end, "id that ends a document of a file of ids")
          ->check(CLI::Range(0, 2147483647))};
}

std::vector<CLI::Option*> add_batch_options(CLI::App& command, CorpusArguments& arguments) {
  CLI::Option* seed = command.add_option("--bootstrap-seed", arguments.bootstrap_seed, "seed of the resamples")
                          ->check(not_a_whole_number);
  CLI::Option* batch =
      command
          .add_option("--batch-tokens", arguments.batch_tokens,
                      "tokens of sequences that run together (default: 4096 on the processor, 65536 on a GPU)")
          ->check(CLI::Range(std::int64_t{1}, kMost));
  CLI::Option* threads =
      command
          .add_option("--threads", arguments.threads,
                      "threads that compute (default: as many as processors, control groups and Slurm allow)")
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096}));
  return {seed, batch, threads};
}

std::vector<CLI::Option*> add_measure_options(CLI::App& command, CorpusArguments& arguments) {
  CLI::Option* keep =
      command.add_option("--keep", arguments.keep,
                         "what is kept of each sequence: all, core, none, or names such as sink_score,logit_max");
  CLI::Option* epsilon =
      command.add_option("--epsilon", arguments.epsilons, "shares of attention above which a head is a sink")
          ->delimiter(',')
          ->check(CLI::Range(0.0, 1.0));
  std::vector<CLI::Option*> all = add_batch_options(command, arguments);
  CLI::Option* no_ids =
      command.add_flag("--no-ids", arguments.no_ids, "leave the token ids of the sequences out of the file");
  all.insert(all.end(), {keep, epsilon, no_ids});
  return all;
}

CLI::Option* add_plan_options(CLI::App& command, CorpusArguments& arguments, bool with_bos) {
  CLI::Option* plan =
      command
          .add_option("--plan", arguments.plan, "plan that --plan-only has written: documents, length and selection")
          ->type_name(kFileValue);
  const auto planned = [&](CLI::Option* option) { return option->excludes(plan); };
  for (CLI::Option* option : add_document_options(command, arguments)) planned(option);
  planned(command.add_option("--length", arguments.length, "positions of every sequence"))
      ->check(CLI::Range(std::int64_t{1}, kMost));
  planned(command.add_option("--stride", arguments.stride,
                             "tokens from one piece of a document to the next (default: as many as a piece has)"))
      ->check(CLI::Range(std::int64_t{1}, kMost));
  if (with_bos)
    planned(command.add_option("--bos", arguments.bos,
                               "whether a BOS stands before each sequence; auto: of text, as the tokenizer does"))
        ->check(CLI::IsMember({"auto", "always", "never"}));
  planned(command.add_option("--pack", arguments.pack, "whether documents are joined before they are cut"))
      ->check(CLI::IsMember({"none", "concat"}));
  planned(command.add_option("--separator", arguments.separator,
                             "behind each joined document: none, eos, an id; or bos before it"));
  planned(command.add_option("--sequences", arguments.sequences, "how many at most (default: all)"))
      ->check(CLI::Range(std::int64_t{1}, kMost));
  planned(command.add_option("--pieces", arguments.pieces, "of a document at most (default: all)"))
      ->check(CLI::Range(std::int64_t{1}, kMost));
  planned(command.add_option("--seed", arguments.seed, "takes documents in an order drawn with it"))
      ->check(not_a_whole_number);
  planned(command.add_option("--order", arguments.order,
                             "all first pieces, then all second; document after document; drawn"))
      ->check(CLI::IsMember({"spread", "natural", "random"}));
  return plan;
}

void add_corpus_options(CLI::App& command, CorpusArguments& arguments) {
  CLI::Option* plan = add_plan_options(command, arguments);
  CLI::Option* only =
      command.add_flag("--plan-only", arguments.plan_only, "write the plan, run nothing")->excludes(plan);
  command.add_option("--shard", arguments.shard, "part I of N of the sequences, from 0, e.g. 3/8")->excludes(only);
  for (CLI::Option* option : add_measure_options(command, arguments)) option->excludes(only);
  command.add_flag("--curves", arguments.curves, "curves over the number of visible keys too (group /curves)")
      ->excludes(only);
  add_slurm_options(command, *plan, arguments.slurm);
}

void add_merge(CLI::App& app, MergeArguments& arguments) {
  CLI::App* command = app.add_subcommand("merge", "parts of a corpus as the file that one run would have written");
  command->add_option("parts", arguments.parts, "files of `headroom corpus --shard`, in any order")
      ->type_name(kFileValue)
      ->required();
  command->add_option("-o,--output", arguments.output, "file to write (HDF5)")->type_name(kFileValue)->required();
  command->add_flag("--partial", arguments.partial,
                    "write what is there where parts are missing, and say so in the file");
  command->add_flag("--force", arguments.force, "replace an existing file");
  command->add_flag("--json", arguments.json, "machine-readable output");
}

}  // namespace headroom
