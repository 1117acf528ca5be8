#include "app/cli/slurm_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/cli/command_words.h"
#include "app/cli/slurm_scripts.h"
#include "app/process/report_error.h"
#include "core/base/format.h"
#include "core/base/shell_word.h"
#include "core/corpus/progress_log.h"
#include "core/io/atomic_file.h"
#include "core/io/target_check.h"

extern char** environ;

namespace headroom {
namespace {

// A task of an array has a number up to 1000 unless the cluster says otherwise.
constexpr std::int64_t kMostShards = 1000;

// Said by the scripts in words of their own, or not for a shard.
constexpr std::array<std::string_view, 10> kOwnOptions = {"--plan",   "--output", "--shard",     "--shards", "--slurm",
                                                          "--sbatch", "--submit", "--plan-only", "--force",  "--json"};

bool is_carried(const CLI::Option& option, CLI::Option& plan) {
  if (option.count() == 0 || option.get_positional() || option.get_excludes().contains(&plan)) return false;
  return std::ranges::none_of(kOwnOptions, [&](std::string_view name) { return option.check_name(std::string(name)); });
}

std::vector<std::string> carried_words(const CLI::App& command, CLI::Option& plan) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (!is_carried(*option, plan)) continue;
    const std::string name = "--" + option->get_lnames().front();
    if (option->get_items_expected_max() == 0) {
      words.push_back(name);
      continue;
    }
    const std::string kind = option->get_type_name();
    const bool is_path = kind == kFileValue || kind == kPathValue || kind == kFolderValue;
    std::string list;
    for (const std::string& result : option->results()) {
      const std::string value = is_path ? std::filesystem::absolute(result).string() : result;
      if (option->get_delimiter() == '\0')
        words.push_back(name + "=" + value);
      else
        list += (list.empty() ? "" : std::string(1, option->get_delimiter())) + value;
    }
    if (!list.empty()) words.push_back(name + "=" + list);
  }
  return words;
}

// A script as it is to be: nothing is written where it is that already.
Result<void> write_script(const std::filesystem::path& path, const std::string& text, bool force) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) {
    std::string found(text.size() + 1, '\0');
    const ssize_t count = ::read(descriptor, found.data(), found.size());
    ::close(descriptor);
    if (count >= 0 && std::string_view(found).substr(0, static_cast<std::size_t>(count)) == text) return {};
  }
  return write_whole_file(path, text, force);
}

// What it prints; Io where it fails. Its messages go where ours go.
Result<std::string> output_of(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error(ErrorCode::Io, "no pipe can be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; failed == 0 && (count = ::read(ends[0], buffer.data(), buffer.size())) != 0;) {
    if (count < 0 && errno != EINTR) break;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  if (failed != 0) return Error(ErrorCode::Io, words.front() + " cannot be started: " + std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  Error error(ErrorCode::Io, "Slurm did not take the jobs");
  return error.in_file(words.back())
      .wanted("an end with exit code 0", WIFEXITED(status) ? format("%d", WEXITSTATUS(status)) : "a signal")
      .advise("its own message stands above; what was taken before is in the queue");
}

struct Jobs {
  std::string shards, merge;
};

Result<Jobs> submit_jobs(const std::filesystem::path& script) {
  HEADROOM_TRY(const std::string text, output_of({"bash", script.string()}));
  Jobs jobs;
  for (const auto& [name, number] : {std::pair("shards ", &jobs.shards), std::pair("merge ", &jobs.merge)}) {
    const std::size_t at = text.find(name);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + std::strlen(name);
    *number = text.substr(begin, text.find('\n', begin) - begin);
  }
  return jobs;
}

void tell(const SlurmArguments& arguments, const SlurmRequest& request, const std::filesystem::path& folder,
          const std::filesystem::path& plan, const std::filesystem::path& merged, const std::optional<Jobs>& jobs) {
  const std::string submit = "bash " + shell_word((folder / "submit.sh").string());
  if (request.json) {
    const nlohmann::json result = {
        {"folder", folder.string()},
        {"plan", plan.string()},
        {"path", merged.string()},
        {"shards", arguments.shards},
        {"sequences", request.sequences},
        {"submit", submit},
        {"jobs", jobs ? nlohmann::json{{"shards", jobs->shards}, {"merge", jobs->merge}} : nlohmann::json()}};
    std::printf("%s\n", result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return;
  }
  std::string text = format("Wrote shard.sbatch, merge.sbatch and submit.sh in %s: %lld sequences in %lld shards.\n",
                            escape_for_terminal(folder.string()).c_str(), static_cast<long long>(request.sequences),
                            static_cast<long long>(arguments.shards));
  if (jobs)
    text += "Jobs: shards " + escape_for_terminal(jobs->shards) + ", merge " + escape_for_terminal(jobs->merge) + "\n";
  else
    text += "run      " + escape_for_terminal(submit) + "\n";
  text += "look     squeue --me; logs are in " + escape_for_terminal((folder / "log").string()) + "\n";
  text +=
      "again    " + escape_for_terminal(submit) + " --array=1,5-6   (the merge names the shards that are missing)\n";
  text += "result   " + escape_for_terminal(merged.string()) + "\n";
  std::fputs(text.c_str(), stdout);
}

Result<void> write_scripts(const SlurmScripts& scripts, const std::filesystem::path& folder, bool force) {
  HEADROOM_TRY_VOID(write_script(folder / "shard.sbatch", scripts.shard, force));
  HEADROOM_TRY_VOID(write_script(folder / "merge.sbatch", scripts.merge, force));
  return write_script(folder / "submit.sh", scripts.submit, force);
}

// What earlier shards have left, of other settings perhaps: a merge would take it for what the new ones made.
Result<void> remove_parts(const std::filesystem::path& folder) {
  std::error_code failed;
  for (std::int64_t shard = 0; shard < kMostShards && !failed; ++shard) {
    const std::filesystem::path part = folder / format("part%lld.h5", static_cast<long long>(shard));
    std::filesystem::remove(part, failed);
    if (!failed) std::filesystem::remove(ProgressLog::path_of(part), failed);
  }
  if (failed) return Error(ErrorCode::Io, "parts of an earlier run cannot be removed").in_file(folder.string());
  return {};
}

Result<void> run(const SlurmArguments& arguments, const SlurmRequest& request) {
  HEADROOM_TRY(const std::filesystem::path folder, make_slurm_folder(arguments));
  if (arguments.shards > request.sequences) {
    Error error(ErrorCode::InvalidArgument, "some shards would have no sequences");
    return error.at_tensor("--shards")
        .wanted(format("at most %lld", static_cast<long long>(request.sequences)),
                format("%lld", static_cast<long long>(arguments.shards)));
  }
  SlurmJob job;
  std::error_code failed;
  job.program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return Error(ErrorCode::Io, "the program's own file is not known: " + failed.message());
  job.folder = folder;
  job.model = std::filesystem::absolute(request.model).string();
  job.words = arguments.carried();
  job.plan = std::filesystem::absolute(request.plan);
  job.merged = request.merged.empty() ? folder / "all.h5" : std::filesystem::absolute(request.merged);
  job.shards = arguments.shards;
  job.directives = arguments.directives;
  HEADROOM_TRY(const SlurmScripts scripts, slurm_scripts(job));
  const std::vector<std::filesystem::path> inputs = {job.plan};
  HEADROOM_TRY([[maybe_unused]] const std::filesystem::path target, check_target(job.merged, request.force, inputs));
  if (request.force) HEADROOM_TRY_VOID(remove_parts(folder));
  HEADROOM_TRY_VOID(write_scripts(scripts, folder, request.force));
  std::optional<Jobs> jobs;
  if (arguments.submit) {
    HEADROOM_TRY(jobs, submit_jobs(folder / "submit.sh"));
  }
  tell(arguments, request, folder, job.plan, job.merged, jobs);
  return {};
}

}  // namespace

void add_slurm_options(CLI::App& command, CLI::Option& plan, SlurmArguments& arguments) {
  CLI::Option* folder =
      command
          .add_option("--slurm", arguments.folder,
                      "run nothing here: write into this folder what Slurm runs, an array of shards and the merge")
          ->type_name(kFolderValue);
  CLI::Option* shards = command.add_option("--shards", arguments.shards, "how many shards Slurm runs")
                            ->check(CLI::Range(std::int64_t{1}, kMostShards))
                            ->needs(folder);
  folder->needs(shards);
  command
      .add_option("--sbatch", arguments.directives,
                  "options of sbatch for its jobs, e.g. \"--partition=gpu --gres=gpu:1\"; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->needs(folder);
  command.add_flag("--submit", arguments.submit, "put the jobs into Slurm's queue")->needs(folder);
  for (const char* other : {"--shard", "--plan-only"}) folder->excludes(command.get_option(other));
  arguments.carried = [&command, &plan] { return carried_words(command, plan); };
}

Result<std::filesystem::path> make_slurm_folder(const SlurmArguments& arguments) {
  std::filesystem::path folder = std::filesystem::absolute(arguments.folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  std::error_code failed;
  std::filesystem::create_directories(folder / "log", failed);
  if (failed)
    return Error(ErrorCode::Io, "the folder cannot be made: " + failed.message()).in_file((folder / "log").string());
  return folder;
}

int run_slurm(const SlurmArguments& arguments, const SlurmRequest& request) {
  const auto done = run(arguments, request);
  return done ? 0 : report_error(done.error(), request.json);
}

}  // namespace headroom
