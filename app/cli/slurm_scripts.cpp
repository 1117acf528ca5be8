#include "app/cli/slurm_scripts.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "core/base/format.h"
#include "core/base/shell_word.h"

namespace headroom {
namespace {

// A word of a script: also where bash alone gives a character a meaning.
std::string script_word(const std::string& word) {
  return word.find_first_of("[]{}!#~") == std::string::npos ? shell_word(word) : quoted_shell_word(word);
}

bool has_control_byte(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// A file below the folder as sbatch reads it in a #SBATCH line: quotes as a shell's, % twice, and `pattern` behind it.
std::string output_pattern(const std::filesystem::path& folder, const char* pattern) {
  std::string text;
  for (const char c : (folder / "log").string()) text += c == '%' ? std::string("%%") : std::string(1, c);
  return "--output=" + quoted_shell_word(text + "/" + pattern);
}

// The directives that are for the merge too: where it may run, but no array, in any of the ways to write one.
std::string without_array(const std::string& directive) {
  std::string kept;
  bool of_array = false;  // the next word
  for (std::size_t at = 0; at < directive.size();) {
    const std::size_t blank = std::min(directive.find_first_of(" \t", at), directive.size());
    const std::string word = directive.substr(at, blank - at);
    at = blank + 1;
    if (word.empty()) continue;
    const bool array = word.starts_with("--array=") || word.starts_with("-a"), was_of_array = of_array;
    of_array = !was_of_array && (word == "--array" || word == "-a");
    if (array || of_array || was_of_array) continue;
    kept += (kept.empty() ? "" : " ") + word;
  }
  return kept;
}

std::string directive_lines(const SlurmJob& job, bool of_array) {
  std::string lines;
  for (const std::string& directive : job.directives)
    if (const std::string line = of_array ? directive : without_array(directive); !line.empty())
      lines += "#SBATCH " + line + "\n";
  return lines;
}

std::string shard_script(const SlurmJob& job) {
  const auto shards = static_cast<long long>(job.shards);
  std::string text = "#!/bin/bash\n";
  text += format("#SBATCH --job-name=headroom --array=0-%lld --cpus-per-task=4 --time=04:00:00\n", shards - 1);
  // The signal a minute before the end of the time is for the program, in whose place the shell stands: what is run is
  // kept, and the same task goes on from there.
  text += "#SBATCH --requeue --open-mode=append --signal=B:TERM@60\n";
  text += "#SBATCH " + output_pattern(job.folder, "%A_%a.txt") + "\n" + directive_lines(job, true);
  text += "exec " + script_word(job.program.string()) + " corpus " + script_word(job.model);
  for (const std::string& word : job.words) text += " " + script_word(word);
  text += " --plan " + script_word(job.plan.string());
  text += format(" --shard \"$SLURM_ARRAY_TASK_ID/%lld\"", shards);
  return text + " -o " + script_word((job.folder / "part").string()) + "\"$SLURM_ARRAY_TASK_ID.h5\"\n";
}

std::string merge_script(const SlurmJob& job) {
  const std::string part = script_word((job.folder / "part").string()) + "$shard.h5";
  std::string text = "#!/bin/bash\n#SBATCH --job-name=headroom-merge --time=01:00:00 --requeue --open-mode=append\n";
  text += "#SBATCH " + output_pattern(job.folder, "merge_%j.txt") + "\n" + directive_lines(job, false);
  text += format("parts=()\nfor ((shard = 0; shard < %lld; ++shard)); do\n", static_cast<long long>(job.shards));
  text += "  if [ -e " + part + " ]; then parts+=(" + part + "); fi\ndone\n";
  text += "if [ \"${#parts[@]}\" -eq 0 ]; then\n  echo 'no shard has come to its end' >&2\n  exit 3\nfi\n";
  return text + "exec " + script_word(job.program.string()) + " merge \"${parts[@]}\" --force -o " +
         script_word(job.merged.string()) + "\n";
}

std::string submit_script(const SlurmJob& job) {
  // afterany: behind a shard that failed, an afterok merge would wait for ever and say nothing. A merge says what is
  // missing.
  return "#!/bin/bash\n# Words of this line are for the shards: --array=1,5-6 runs those again.\nset -eu\n"
         "shards=$(sbatch --parsable \"$@\" " +
         script_word((job.folder / "shard.sbatch").string()) +
         ")\nshards=${shards%%;*} # what follows is the name of a cluster\n"
         "merge=$(sbatch --parsable --dependency=\"afterany:$shards\" " +
         script_word((job.folder / "merge.sbatch").string()) +
         ")\nprintf 'shards %s\\nmerge %s\\n' \"$shards\" \"${merge%%;*}\"\n";
}

}  // namespace

Result<SlurmScripts> slurm_scripts(const SlurmJob& job) {
  for (const std::string& directive : job.directives)
    if (directive.empty() || has_control_byte(directive))
      return Error(ErrorCode::InvalidArgument, "options of sbatch stand in one line")
          .at_tensor("--sbatch")
          .wanted("e.g. --partition=gpu --gres=gpu:1", directive);
  const std::string folder = job.folder.string();
  // Behind a backslash Slurm puts no numbers into the names of logs.
  if (has_control_byte(folder) || folder.find('\\') != std::string::npos)
    return Error(ErrorCode::InvalidArgument, "Slurm cannot write logs below a folder of this name")
        .at_tensor("--slurm")
        .wanted("no backslash and no control character", folder);
  return SlurmScripts{shard_script(job), merge_script(job), submit_script(job)};
}

}  // namespace headroom
