#include "app/session/run_names.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "app/session/opened_path.h"
#include "app/ui/file_list.h"
#include "core/checkpoint/checkpoint_name.h"
#include "core/model/what_if_title.h"

namespace headroom {
namespace {

constexpr std::size_t kPromptBytes = 24;  // of its title, in the name of a run
constexpr std::size_t kMostFolders = 32;

using Names = std::vector<std::string>;

// Adds to names that are equal what differs between them; a part that is the same in all of them, or empty in one,
// says nothing there.
void add_what_differs(Names& names, const std::function<std::string(std::size_t)>& part) {
  const Names before = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string own = part(i);
    bool differs = false;
    for (std::size_t j = 0; j < names.size(); ++j) differs = differs || (before[j] == before[i] && part(j) != own);
    if (differs && !own.empty()) names[i] += " · " + own;
  }
}

void number_what_is_left(Names& names) {
  std::map<std::string, std::size_t> count;
  for (std::string& name : names)
    if (const std::size_t time = ++count[name]; time > 1) name += " (" + std::to_string(time) + ")";
}

// Names of what was opened; of the same path further folders say nothing.
Names opened_names(const Names& opened) {
  std::vector<std::size_t> more(opened.size());
  Names names, paths;
  for (const std::string& text : opened) {
    names.push_back(opened_title(text));
    paths.push_back(parse_opened_path(text).path);
  }
  for (std::size_t round = 0; round < kMostFolders; ++round) {
    bool changed = false;
    const Names before = names;
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t j = 0; j < names.size(); ++j)
        if (before[i] == before[j] && paths[i] != paths[j]) {
          names[i] = opened_title(opened[i], ++more[i]);
          changed = changed || names[i] != before[i];
          break;
        }
    if (!changed) break;
  }
  return names;
}

}  // namespace

std::string opened_title(std::string_view opened, std::size_t more) {
  const OpenedPath given = parse_opened_path(std::string(opened));
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::absolute(given.path, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const bool folder = std::filesystem::is_directory(path, ignored);
  std::string name = path.filename().string();
  if (folder || is_usual_name(name)) ++more;
  if (!folder) {
    std::vector<std::string_view> endings(kCheckpointEndings.begin(), kCheckpointEndings.end());
    endings.insert(endings.end(), {".h5", ".hdf5"});
    for (const std::string_view ending : endings)
      if (name.ends_with(ending) && name.size() > ending.size()) name.resize(name.size() - ending.size());
  }
  for (; more > 0 && path.has_parent_path() && path.parent_path() != path; --more) {
    path = path.parent_path();
    if (path.filename().empty()) break;
    name = path.filename().string() + "/" + name;
  }
  if (given.sequence != 0) name += " · sequence " + std::to_string(given.sequence);
  return name;
}

std::string text_title(std::string_view text, std::size_t most_bytes) {
  std::string title;
  bool space = false;
  for (const char c : text) {
    if (c == '\n' || c == '\t' || c == '\r' || c == ' ') {
      space = !title.empty();
      continue;
    }
    // Not in the middle of a character.
    if (title.size() >= most_bytes && (static_cast<unsigned char>(c) & 0xC0) != 0x80) return title + "…";
    if (space) title += ' ';
    space = false;
    title += c;
  }
  return title;
}

void name_models_and_runs(State& state) {
  // Run files and checkpoints stand in one list, so that one is not taken for the other.
  Names opened;
  std::vector<std::string*> names;
  for (ModelEntry& model : state.models) opened.push_back(model.path), names.push_back(&model.name);
  for (RunEntry& run : state.runs)
    if (run.model < 0) opened.push_back(run.path), names.push_back(&run.name);
  Names found = opened_names(opened);
  const std::size_t models = state.models.size();
  {
    Names of_models(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(models));
    add_what_differs(of_models,
                     [&](std::size_t i) { return std::filesystem::path(state.models[i].config).filename().string(); });
    add_what_differs(of_models, [&](std::size_t i) {
      const std::string base = parse_opened_path(state.models[i].path).base;
      return base.empty() ? base : "on " + opened_title(base);
    });
    number_what_is_left(of_models);
    std::ranges::copy(of_models, found.begin());
  }
  for (std::size_t i = 0; i < names.size(); ++i) *names[i] = found[i];

  Names runs;
  for (const RunEntry& run : state.runs) {
    const ModelEntry* model = state.find_model(run.model);
    std::string name = model ? model->name : run.name;
    if (!run.what_ifs.empty()) name += " · " + what_ifs_title(run.what_ifs);
    runs.push_back(std::move(name));
  }
  const auto of = [&](const std::function<std::string(const RunEntry&)>& part) {
    add_what_differs(runs, [&](std::size_t i) { return part(state.runs[i]); });
  };
  of([](const RunEntry& run) { return run.quick ? std::string("one head") : std::string(); });
  of([](const RunEntry& run) { return text_title(run.prompt_title, kPromptBytes); });
  of([](const RunEntry& run) { return run.data ? std::to_string(run.data->length) + " tokens" : std::string(); });
  of([](const RunEntry& run) { return run.dtype; });
  of([](const RunEntry& run) { return run.device; });
  number_what_is_left(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) state.runs[i].name = std::move(runs[i]);
}

}  // namespace headroom
