#include "app/session/saving.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "app/session/enum_words.h"
#include "app/session/figure_screen.h"
#include "app/session/importance.h"
#include "app/ui/file_list.h"
#include "core/base/environment.h"
#include "core/io/atomic_file.h"

namespace headroom {
namespace {

constexpr std::size_t kLongestName = 255;  // bytes, of every file system that is usual
constexpr std::size_t kLongestPart = 60;   // of a suggested name

// The suggested name's parts, one word each, joined by underscores.
std::string joined_name(std::initializer_list<std::string> parts) {
  std::string name;
  for (const std::string& part : parts) {
    const std::string word = file_name_of(part);
    if (!word.empty()) name += (name.empty() ? "" : "_") + word;
  }
  return name.empty() ? "headroom" : name;
}

std::string name_of_shown(const State& state) {
  if (state.view.centre == CentreView::Training && !state.trainings.empty() && state.trainings.front().data)
    return "training " + (state.trainings.front().data->recipe.empty() ? state.trainings.front().name
                                                                       : state.trainings.front().data->recipe);
  const RunEntry* run = state.shown();
  if (!run) return "";
  const ModelEntry* model = state.find_model(run->model);
  std::string name = model ? model->name : std::filesystem::path(run->path).stem().string();
  for (const std::string& what_if : run->what_ifs) name += " " + what_if;
  return name;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Whether a name ends as the files of some program do.
bool has_ending(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size() || !is_letter(name[dot + 1])) return false;
  return std::ranges::all_of(name.substr(dot + 1), [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

const char* save_kind_text(SaveKind kind) { return kind == SaveKind::Importance ? "loss changes" : word_of(kind); }

std::span<const std::string_view> save_endings(SaveKind kind) {
  static constexpr std::array<std::string_view, 2> kRun = {".h5", ".hdf5"};
  static constexpr std::array<std::string_view, 1> kPicture = {".png"};
  static constexpr std::array<std::string_view, 4> kTable = {".csv", ".tsv", ".tex", ".md"};
  static constexpr std::array<std::string_view, 2> kSession = {kSessionEnding, ".json"};
  static constexpr std::array<std::string_view, 3> kFigure = {".pdf", ".svg", ".png"};
  switch (kind) {
    case SaveKind::Run:
    case SaveKind::Importance: return kRun;
    case SaveKind::Picture: return kPicture;
    case SaveKind::Table: return kTable;
    case SaveKind::Session: return kSession;
    case SaveKind::Figure: return kFigure;
  }
  return {};
}

bool has_save_ending(SaveKind kind, std::string_view name) {
  std::string ending = std::filesystem::path(name).extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return std::ranges::find(save_endings(kind), ending) != save_endings(kind).end();
}

Result<void> check_save_ending(SaveKind kind, std::string_view command, const std::string& path) {
  if (has_save_ending(kind, path)) return {};
  static constexpr const char* kWhat[] = {
      "a run file", "a picture of what is on the screen", "the table of heads", "a session", "a file of loss changes",
      "a figure"};
  std::string allowed;
  for (const std::string_view ending : save_endings(kind)) {
    if (!allowed.empty()) allowed += ending == save_endings(kind).back() ? " or " : ", ";
    allowed += ending;
  }
  Error error(ErrorCode::InvalidArgument, std::string(command) + " writes " + kWhat[static_cast<std::size_t>(kind)]);
  return error.wanted("a name that ends in " + allowed, path);
}

std::string not_savable(const State& state, SaveKind kind) {
  const RunEntry* run = state.shown();
  switch (kind) {
    case SaveKind::Picture: return "";
    case SaveKind::Session: return run || !state.trainings.empty() ? "" : "nothing is open";
    case SaveKind::Table: return state.data() ? "" : "nothing has run yet";
    case SaveKind::Figure: return state.data() || !state.trainings.empty() ? "" : "nothing has run yet";
    case SaveKind::Run:
      if (!run || !run->data) return "nothing has run yet";
      return state.find_model(run->model) ? "" : "this run is a file already: " + run->path;
    case SaveKind::Importance: {
      if (!run || !run->data) return "nothing has run yet";
      const auto& sweep = sweep_of(run->sweeps, state.view.importance.colour);
      if (!sweep || !sweep->table) return "nothing is computed yet";
      if (sweep->of_file) return "it is a file already: " + run->path;
      if (sweep->kept)
        return "a session kept the changes alone, without their tokens: importance.run computes them again";
      return sweep->status == SweepStatus::Running ? "it still goes on: importance.stop stops it" : "";
    }
  }
  return "";
}

std::string file_name_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool kept =
        byte >= 0x80 || (byte > ' ' && byte != 0x7F &&
                         std::string_view("/\\:*?\"'<>|&;$`!#~%{}()[],").find(c) == std::string_view::npos);
    if (kept && !(c == '-' && name.ends_with('-')))
      name += c;
    else if (!name.empty() && name.back() != '-' && name.back() != '_')
      name += '-';
  }
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  while (!name.empty() && (name.front() == '-' || name.front() == '.')) name.erase(0, 1);
  if (name.size() > kLongestPart) {
    std::size_t end = kLongestPart;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    name.resize(end);
  }
  return name;
}

std::string suggested_name(const State& state, SaveKind kind, std::string_view panel) {
  const std::string shown = name_of_shown(state);
  const std::optional<HeadRef>& head = state.view.selection.head;
  const std::string ending(save_endings(kind).front());
  switch (kind) {
    case SaveKind::Run: {
      const RunEntry* run = state.shown();
      return joined_name({shown, run ? run->prompt_title : ""}) + ending;
    }
    case SaveKind::Picture: {
      const bool of_head = head && (panel == "map" || panel == "head");
      return joined_name({shown, of_head ? head_text(*head) : "", panel.empty() ? "window" : std::string(panel)}) +
             ending;
    }
    case SaveKind::Table: {
      const std::string& lasso = state.view.heads.lasso_name;
      return joined_name({shown, panel != "lasso" ? "heads" : lasso.empty() ? "lasso" : lasso}) + ending;
    }
    case SaveKind::Session: return joined_name({shown}) + ending;
    case SaveKind::Figure: {
      const FigureLook look = asked_look(state, state.figure.kind);
      const std::string& heads = look.options.heads;
      return joined_name({shown, heads.substr(0, heads.find(',')), state.figure.kind}) + look.ending;
    }
    case SaveKind::Importance: {
      const RunEntry* run = state.shown();
      return joined_name({shown, run ? run->prompt_title : "",
                          std::string("loss-changes ") + word_of(state.view.importance.colour)}) +
             ending;
    }
  }
  return "headroom" + ending;
}

std::string SavePlace::path() const { return (std::filesystem::path(folder) / name).lexically_normal().string(); }

SavePlace save_place(SaveKind kind, const std::string& folder, std::string_view typed, std::string_view ending) {
  SavePlace place{folder, std::string(typed)};
  if (const std::size_t slash = typed.rfind('/'); slash != std::string_view::npos) {
    const std::filesystem::path leads = expand_home(typed.substr(0, slash + 1));
    place.folder = (std::filesystem::path(folder) / leads).lexically_normal().string();
    place.name = typed.substr(slash + 1);
  }
  if (place.name.empty() || has_ending(place.name)) return place;
  while (place.name.ends_with('.')) place.name.pop_back();
  place.name += ending.empty() ? save_endings(kind).front() : ending;
  return place;
}

std::string bad_file_name(SaveKind kind, std::string_view name) {
  if (name.empty()) return "a name is missing";
  if (name.find('/') != std::string_view::npos || name.find('\0') != std::string_view::npos)
    return "a name has no / in it";
  if (name.front() == '.') return "there is nothing before the ending";
  if (name.size() > kLongestName)
    return "the name is too long: " + std::to_string(name.size()) + " bytes of at most " + std::to_string(kLongestName);
  if (const Result<void> ending = check_save_ending(kind, std::string("a ") + word_of(kind), std::string(name));
      !ending)
    return "the name has to end in " + ending.error().expected.substr(std::string("a name that ends in ").size());
  return "";
}

std::string numbered_name(std::string_view name) {
  const std::filesystem::path path(name);
  std::string stem = path.stem().string();
  int number = 1;
  if (const std::size_t dash = stem.rfind('-'); dash != std::string::npos && dash + 1 < stem.size()) {
    int found = 0;
    const char* const end = stem.data() + stem.size();
    const auto parsed = std::from_chars(stem.data() + dash + 1, end, found);
    if (parsed.ec == std::errc() && parsed.ptr == end && found > 1 && found < 1'000'000) {
      number = found;
      stem.resize(dash);
    }
  }
  return stem + "-" + std::to_string(number + 1) + path.extension().string();
}

std::string save_folder(const State& state, SaveKind kind) {
  const auto found = state.save_folders.find(word_of(kind));
  if (found != state.save_folders.end() && !found->second.empty()) return found->second;
  const std::string home = environment_text("HOME");
  return home.empty() ? "/" : home;
}

std::string whole_path(std::string_view path) {
  std::error_code failed;
  const std::filesystem::path expanded = expand_home(path);
  const std::filesystem::path whole = std::filesystem::absolute(expanded, failed);
  return (failed ? expanded : whole).lexically_normal().string();
}

Result<void> save_text(const std::filesystem::path& path, std::string_view text) {
  return write_whole_file(path, text, /*force=*/true);
}

}  // namespace headroom
