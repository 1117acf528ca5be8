// From a run file to the checkpoint that it was made from, found by its hash: the same prompt runs again there, with
// its what-ifs, and what was looked at is shown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/documents.h"
#include "app/session/opened_path.h"
#include "app/session/run_names.h"
#include "app/ui/file_list.h"
#include "core/corpus/plan_file.h"
#include "core/io/hdf5_error.h"
#include "core/io/run_file.h"
#include "core/run/same_checkpoint.h"

namespace headroom {
namespace {

constexpr std::uint64_t kReadUnasked = std::uint64_t{8} << 30;  // bytes of a checkpoint that nobody named

struct Candidate {
  std::string path, config;
};

std::string attribute_of(const RunSnapshot& run, const char* name) {
  const auto found = run.attributes.find(name);
  return found == run.attributes.end() ? std::string() : found->second;
}

// What may be the checkpoint: what is open, what was opened lately, what the run's own command line names.
std::vector<Candidate> candidates_of(const State& state, const RunEntry& run) {
  std::vector<Candidate> all;
  const auto add = [&](const std::string& path, const std::string& config = {}) {
    if (!path.empty() && std::ranges::find(all, path, &Candidate::path) == all.end() && !is_hdf5_file(path) &&
        kind_of_name(path) != FileKind::Session)
      all.push_back({path, config});
  };
  for (const ModelEntry& model : state.models)
    if (model.model) add(model.path, model.config);
  for (const std::string& path :
       paths_in(attribute_of(*run.data, "command_line"), std::filesystem::path(run.path).parent_path().string()))
    add(path);
  for (const RecentFile& file : state.recent) add(file.path);
  return all;
}

// Why it is not the one; none: it is.
Result<void> check_candidate(const Candidate& candidate, const std::string& hashes, bool asked) {
  const OpenedPath given = parse_opened_path(candidate.path);
  CheckpointOptions options;
  options.base = given.base;
  options.config = candidate.config;
  HEADROOM_TRY(const std::shared_ptr<const Checkpoint> checkpoint, Checkpoint::open(given.path, options));
  std::uint64_t bytes = 0;
  for (const InputFile& file : checkpoint->files()) bytes += file.size_bytes();
  if (!asked && bytes > kReadUnasked) return Error(ErrorCode::NotFound, "it is too large to be read unasked");
  std::string found;
  HEADROOM_TRY(const bool same, is_checkpoint_of(hashes, *checkpoint, found, {}));
  if (same) return {};
  Error error(ErrorCode::InvalidArgument, "this is not the checkpoint that the run file was made from");
  error.in_file(candidate.path);
  const std::string files = std::to_string(checkpoint->files().size()) + " files";
  return error.wanted("SHA-256 " + hashes, found.empty() ? files : "SHA-256 " + found);
}

}  // namespace

Result<void> Documents::open_checkpoint(const std::string& path) {
  const RunEntry* run = state_.shown();
  if (!run || run->model >= 0 || !run->data) return Error(ErrorCode::InvalidArgument, "no run file is shown");
  const std::string hashes = attribute_of(*run->data, "checkpoint_sha256");
  if (stored_hashes(hashes).empty()) {
    Error error(ErrorCode::Unsupported, "the run file does not say which checkpoint it was made from");
    return error.in_file(run->path);
  }
  state_.overlay = Overlay::None;
  state_.checkpoint_wanted.clear();
  const bool asked = !path.empty();
  std::vector<Candidate> candidates = asked ? std::vector<Candidate>{{path, ""}} : candidates_of(state_, *run);
  if (run->corpus && !state_.view.corpus.sequence) state_.view.corpus.sequence = run->corpus.file->number.front();
  const std::optional<std::int64_t> sequence = run->corpus ? state_.view.corpus.sequence : std::nullopt;
  struct Outcome {
    std::optional<Candidate> found;
    std::vector<std::int32_t> ids;  // of a corpus' sequence
    std::optional<Error> error, unread;
  };
  inbox_.message(MessageLevel::Info, "looking for the checkpoint of " + run->name);
  inbox_.ask(
      io_,
      [this, candidates = std::move(candidates), hashes, asked, sequence, file = run->path] {
        Outcome outcome;
        if (sequence) {
          const MutexLock lock(hdf5_);
          prepare_hdf5();
          auto ids = read_planned_sequence(file, *sequence);
          if (!ids) {
            outcome.unread = ids.error();
            return outcome;
          }
          outcome.ids = std::move(*ids);
        }
        for (std::size_t i = 0; i < candidates.size() && !outcome.found; ++i) {
          if (const Result<void> checked = check_candidate(candidates[i], hashes, asked))
            outcome.found = candidates[i];
          else
            outcome.error = checked.error();
        }
        return outcome;
      },
      [this, asked, sequence, id = run->id](const Outcome& outcome) {
        const RunEntry* of = state_.run(id);
        if (!of || state_.view.run != id) return;  // the person looks at something else by now
        if (outcome.unread) {
          inbox_.card("Cannot read a sequence of " + of->name, *outcome.unread);
        } else if (outcome.found) {
          checkpoint_found(id, outcome.found->path, outcome.found->config, sequence, outcome.ids);
        } else if (asked) {
          inbox_.card("Cannot open the checkpoint of " + of->name, *outcome.error, "run.checkpoint");
        } else {
          inbox_.message(MessageLevel::Info,
                         "the checkpoint of " + of->name + " is not among what is open or was: choose it");
          state_.checkpoint_wanted = of->name;
          state_.overlay = Overlay::Files;
          state_.overlay_text = std::filesystem::path(of->path).parent_path().string();
        }
      });
  return {};
}

void Documents::checkpoint_found(int run_id, const std::string& path, const std::string& config,
                                 std::optional<std::int64_t> sequence, const std::vector<std::int32_t>& ids) {
  const RunEntry& run = *state_.run(run_id);
  SavedSession saved;
  saved.files = {{path, 0, config}};
  saved.prompt.title = run.prompt_title;
  // The ids themselves, so that no tokenizer can read them otherwise; a run of two sequences has both.
  const auto known = [](const std::vector<std::int32_t>& all) {
    std::vector<std::int32_t> kept;
    std::ranges::copy_if(all, std::back_inserter(kept), [](std::int32_t id) { return id >= 0; });
    return kept;
  };
  if (sequence) saved.prompt.title = run.name + " S" + std::to_string(*sequence);
  saved.prompt.ids =
      !ids.empty() ? ids : known(run.data->prompt->key_ids.empty() ? run.data->prompt->ids : run.data->prompt->key_ids);
  if (!run.data->prompt->key_ids.empty()) saved.prompt.target_ids = known(run.data->prompt->ids);
  saved.ran = true;
  saved.what_ifs = run.what_ifs;
  saved.view = state_.view;
  saved.view.other_run = -1;
  if (!run.dtype.empty() && run.dtype != state_.settings.dtype)
    inbox_.message(MessageLevel::Info,
                   "the run file was computed in " + run.dtype + ", this run is in " + state_.settings.dtype);
  for (const ModelEntry& model : state_.models)
    if (model.path == path && model.config == config && model.model && !model.changed_on_disk) {
      // It is open: a run of its own stands beside those that it has.
      state_.model = model.id;
      RunEntry waiting;
      waiting.model = model.id;
      waiting.status = RunStatus::Waiting;
      waiting.prompt_title = saved.prompt.title;
      const int model_id = model.id;
      runner_.show_run(runner_.add_run(std::move(waiting)));
      take_up(saved, *state_.find_model(model_id));
      return;
    }
  OpenOptions options;
  options.session = std::make_shared<const SavedSession>(std::move(saved));
  options.config = config;
  open(path, options);
}

}  // namespace headroom
