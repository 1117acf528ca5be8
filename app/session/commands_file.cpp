// Opening, closing, recent files, prompts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"
#include "app/session/demos.h"
#include "app/session/enum_words.h"
#include "app/session/opened_path.h"
#include "app/session/prompt_entry.h"
#include "app/session/run_names.h"
#include "app/ui/file_list.h"
#include "core/base/input_file.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

Result<void> open_session_file(Session& session, const std::string& path, const std::string& relinked) {
  session.edit().overlay = Overlay::None;
  if (const Result<void> opened = session.documents().open_session(path, relinked); !opened)
    session.inbox().card("Cannot open the session " + std::filesystem::path(path).filename().string(), opened.error(),
                         "");
  return {};
}

Result<void> open_path(Session& session, const Arguments& arguments, bool run) {
  if (kind_of_name(arguments[0]) == FileKind::Session)
    return open_session_file(session, arguments[0], arguments.size() > 1 ? arguments[1] : "");
  session.edit().overlay = Overlay::None;
  Session::OpenOptions options;
  options.run = run;
  const bool config = arguments.size() > 1 && arguments[1].ends_with(".json");
  if (config) options.config = arguments[1];
  session.documents().open(arguments.size() > 1 && !config ? with_base(arguments[0], arguments[1]) : arguments[0],
                           options);
  return {};
}

// A prompt that a person gave is one of those that come back; what the program brings along comes back anyway.
void set_and_remember(Session& session, PromptEntry prompt) {
  session.edit().overlay = Overlay::None;
  const auto& own = session.state().built_in_prompts;
  if (std::ranges::find(own, prompt.text, &PromptEntry::text) == own.end())
    remember_prompt(session.edit().recent_prompts, prompt);
  session.documents().set_prompt(std::move(prompt));
  session.save_settings();
}

Result<void> set_text(Session& session, std::string title, std::string text, std::int64_t max_tokens) {
  if (text.empty()) return Error(ErrorCode::InvalidArgument, "the prompt is empty");
  PromptEntry prompt;
  prompt.title = std::move(title);
  prompt.text = std::move(text);
  prompt.max_tokens = max_tokens;
  set_and_remember(session, std::move(prompt));
  return {};
}

// What a text is called where it is known: by its file's name, or as the program's own.
std::string known_title(const State& state, const std::string& text) {
  if (state.prompt.text == text) return state.prompt.title;
  for (const auto* known : {&state.built_in_prompts, &state.recent_prompts})
    for (const PromptEntry& entry : *known)
      if (entry.text == text) return entry.title;
  return text_title(text);
}

// "gpl-3" or "demo".
Result<PromptEntry> built_in_prompt(const Session& session, const std::string& name) {
  PromptEntry prompt;
  HEADROOM_TRY(prompt.text, read_text_file(session.options().assets / "prompts" / (name + ".txt"), kLargestPrompt));
  prompt.title = name == "gpl-3" ? "GPL-3" : name;
  return prompt;
}

// What is shown, as a path; empty: nothing that lies on the disk.
std::string shown_path(const State& state) {
  const RunEntry* run = state.shown();
  if (!run) return "";
  const ModelEntry* model = state.find_model(run->model);
  return model ? model->path : run->path;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string needs_decoder(const State& state) {
  const ModelEntry* model = state.find_model(state.model);
  if (!model || !model->model) return "open a checkpoint first";
  return model->model->spec.encoder ? "" : "the model has no encoder beside its decoder";
}

std::string needs_model(const State& state) { return state.find_model(state.model) ? "" : "open a checkpoint first"; }

}  // namespace

void add_file_commands(CommandTable& table) {
  table.add(
      {"open",
       "PATH [PATH]",
       "Open a checkpoint, a run file, a training or a session; with its config (.json), or the model that an adapter changes",
       "File",
       {},
       [](Session& s, const Arguments& a) { return open_path(s, a, false); }});
  table.add({"open.run", "PATH [PATH]", "Open a checkpoint and run it", "File", {}, [](Session& s, const Arguments& a) {
               return open_path(s, a, true);
             }});
  table.add({"open.dialog", "[PATH]", "Open…", "File", {}, [](Session& s, const Arguments& a) {
               if (a.empty() && s.options().desktop_dialog) {
                 s.request({WindowRequest::Kind::NativeDialog, ""});
                 return;
               }
               s.edit().overlay = Overlay::Files;
               s.edit().checkpoint_wanted.clear();
               s.edit().overlay_text = a.empty() ? "" : a[0];
             }});
  table.add(
      {"open.panel", "[PATH]", "Open with the program's own panel…", "File", {}, [](Session& s, const Arguments& a) {
         s.edit().overlay = Overlay::Files;
         s.edit().checkpoint_wanted.clear();
         s.edit().overlay_text = a.empty() ? "" : a[0];
       }});
  table.add({"run.checkpoint", "[PATH]", "Open the checkpoint of this run file", "File",
             [](const State& state) -> std::string {
               const RunEntry* run = state.shown();
               if (!run) return "nothing is open";
               return run->model < 0 && run->data ? "" : "no run file is shown";
             },
             [](Session& s, const Arguments& a) { return s.documents().open_checkpoint(a.empty() ? "" : a[0]); }});
  table.add_entry({"run.checkpoint", "Open the checkpoint of this run file", "File", ""});
  table.add({"demo", "NAME", "Open a demo", "File", {}, [](Session& s, const Arguments& a) -> Result<void> {
               const std::filesystem::path demos = s.options().assets / "demo";
               std::error_code ignored;
               if (!std::filesystem::exists(demos / a[0] / "config.json", ignored))
                 return a.wrong(list_of(demo_names(demos)));
               s.edit().overlay = Overlay::None;
               s.documents().open((demos / a[0]).lexically_normal().string(), {true, {}});
               return {};
             }});
  table.add({"session.open",
             "PATH [PATH]",
             "Open a saved session; the checkpoint's new place if it moved",
             "File",
             {},
             [](Session& s, const Arguments& a) { return open_session_file(s, a[0], a.size() == 2 ? a[1] : ""); }});
  table.add(
      {"session.last", "", "Open what was open when the program quit last", "File",
       [](const State& state) -> std::string { return state.last_session.empty() ? "no session is kept yet" : ""; },
       [](Session& s) { return open_session_file(s, s.state().last_session, ""); }});
  table.add_entry({"session.last", "Open the last session again", "File", ""});
  table.add_entry({"session.open", "Open a saved session", "File", "", true});
  table.add({"reload", "", "Open the changed checkpoint again", "File",
             [](const State& state) -> std::string {
               const RunEntry* run = state.shown();
               return run && state.find_model(run->model) ? "" : "no checkpoint is shown";
             },
             [](Session& s) {
               const ModelEntry* model = s.state().find_model(s.state().shown()->model);
               for (ModelEntry& entry : s.edit().models)
                 if (entry.id == model->id) entry.changed_on_disk = true;
               Session::OpenOptions options;
               options.run = true;
               options.head = s.state().view.selection.head;
               options.config = model->config;
               s.documents().open(model->path, options);
             }});
  table.add(
      {"file.show", "[PATH]", "Show a file in its folder, in the desktop's file manager", "File",
       [](const State& state, const Arguments& a) -> std::string {
         if (a.empty() && shown_path(state).empty()) return "nothing is open that lies in a file";
         return state.no_file_manager;
       },
       [](Session& s, const Arguments& a) { s.documents().show_file(a.empty() ? shown_path(s.state()) : a[0]); }});
  table.add({"close", "", "Close what is shown", "File",
             [](const State& state) -> std::string {
               const bool histories = state.view.centre == CentreView::Training && !state.trainings.empty();
               return state.shown() || histories ? "" : "nothing is open";
             },
             [](Session& s) { s.documents().close_shown(); }});
  table.add({"clear-recent", "", "Clear the lists of recent files and prompts", "File",
             [](const State& state) -> std::string {
               return state.recent.empty() && state.recent_prompts.empty() ? "the list is empty" : "";
             },
             [](Session& s) {
               s.edit().recent.clear();
               s.edit().recent_prompts.clear();
               s.save_settings();
             }});
  table.add({"prompt", "TEXT [TOKENS]", "Set the prompt's text", "Run", needs_model,
             [](Session& s, const Arguments& a) -> Result<void> {
               return set_text(s, known_title(s.state(), a[0]), a[0], a.maybe_index(1).value_or(0));
             }});
  table.add({"prompt-file", "PATH [TOKENS]", "Read the prompt from a text file", "Run", needs_model,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(std::string text, read_text_file(a[0], kLargestPrompt));
               return set_text(s, std::filesystem::path(a[0]).filename().string(), std::move(text),
                               a.maybe_index(1).value_or(0));
             }});
  table.add({"prompt.browse", "", "Choose a text file as the prompt…", "Run", needs_model,
             [](Session& s, const Arguments&) -> Result<void> {
               s.edit().overlay = Overlay::PromptFile;
               s.edit().overlay_text.clear();
               return {};
             }});
  table.add({"prompt.built-in", "gpl-3|demo [TOKENS]", "Use a built-in text", "Run", needs_model,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(PromptEntry prompt, built_in_prompt(s, a[0]));
               prompt.max_tokens = a.maybe_index(1).value_or(0);
               s.edit().overlay = Overlay::None;
               s.documents().set_prompt(std::move(prompt));
               return {};
             }});
  table.add({"prompt.first", "TOKENS", "Only the first tokens of the prompt; 0: all", "Run", needs_model,
             [](Session& s, const Arguments& a) {
               PromptEntry prompt = s.state().prompt;
               prompt.max_tokens = a.index(0);
               s.documents().set_prompt(std::move(prompt));
             }});
  table.add({"prompt.recent", "NUMBER", "A prompt that was set before; 1: the latest", "Run",
             [](const State& state) -> std::string {
               if (std::string reason = needs_model(state); !reason.empty()) return reason;
               return state.recent_prompts.empty() ? "no prompt was set before" : "";
             },
             [](Session& s, const Arguments& a) -> Result<void> {
               const std::int64_t number = a.index(0);
               const auto count = static_cast<std::int64_t>(s.state().recent_prompts.size());
               if (number < 1 || number > count) return a.wrong("1 to " + std::to_string(count));
               set_and_remember(s, s.state().recent_prompts[static_cast<std::size_t>(number - 1)]);
               return {};
             }});
  table.add({"prompt.bos", all_words<BosMode>(), "Prompt: whether a BOS token stands before the text", "Run",
             [](const State& state) -> std::string {
               if (std::string reason = needs_model(state); !reason.empty()) return reason;
               return state.prompt.ids.empty() ? "" : "ids are read as they are";
             },
             [](Session& s, const Arguments& a) {
               PromptEntry prompt = s.state().prompt;
               prompt.bos = a.choice<BosMode>(0);
               auto& recent = s.edit().recent_prompts;
               if (!recent.empty() && recent.front().text == prompt.text) recent.front().bos = prompt.bos;
               s.documents().set_prompt(std::move(prompt));
             }});
  table.add({"prompt.default", "", "Use the checkpoint's usual prompt", "Run", needs_model, [](Session& s) {
               s.documents().set_prompt(s.documents().default_prompt(*s.state().find_model(s.state().model)));
             }});
  table.add({"ids", "LIST…", "Set the prompt as token ids", "Run", needs_model,
             [](Session& s, const Arguments& a) -> Result<void> {
               HEADROOM_TRY(std::vector<std::int32_t> ids, parse_ids(a.text()));
               PromptEntry prompt;
               prompt.title = std::to_string(ids.size()) + (ids.size() == 1 ? " id" : " ids");
               prompt.ids = std::move(ids);
               set_and_remember(s, std::move(prompt));
               return {};
             }});
  table.add({"target", "[TEXT]", "Set what the decoder shall predict; nothing: the prompt", "Run", needs_decoder,
             [](Session& s, const Arguments& a) {
               PromptEntry prompt = s.state().prompt;
               prompt.target = a.empty() ? "" : a[0];
               prompt.target_ids.clear();
               s.edit().overlay = Overlay::None;
               s.documents().set_prompt(std::move(prompt));
             }});
  table.add({"target-ids", "LIST…", "Set the token ids that the decoder reads", "Run", needs_decoder,
             [](Session& s, const Arguments& a) -> Result<void> {
               PromptEntry prompt = s.state().prompt;
               HEADROOM_TRY(prompt.target_ids, parse_ids(a.text()));
               prompt.target.clear();
               s.edit().overlay = Overlay::None;
               s.documents().set_prompt(std::move(prompt));
               return {};
             }});
  table.add({"prompt.edit", "", "Edit the prompt…", "Run", needs_model, [](Session& s) {
               std::vector<PromptEntry>& texts = s.edit().built_in_prompts;
               if (texts.empty())
                 for (const char* name : {"gpl-3", "demo"})
                   if (Result<PromptEntry> text = built_in_prompt(s, name)) texts.push_back(std::move(*text));
               s.edit().overlay = Overlay::Prompt;
             }});
  table.add_entry({"open.dialog", "Open a checkpoint or a run…", "File", "Ctrl+O"});
  table.add_entry({"open.panel", "Open with the program's own panel…", "File", "Ctrl+Shift+O"});
  table.add_entry({"open", "Open a path", "File", "", true});
  for (const char* demo : {"backcopy/diff_v2", "backcopy/softmax", "trigger_bos/softmax", "trigger_no_bos/diff_v2",
                           "bytes/diff_v2", "bytes/diff_v1"})
    table.add_entry({std::string("demo ") + demo, std::string("Open the demo ") + demo, "File", ""});
  table.add_entry({"reload", "Open the changed checkpoint again", "File", "F5"});
  table.add_entry({"file.show", "Show what is open in its folder", "File", ""});
  table.add_entry({"close", "Close what is shown", "File", "Ctrl+W"});
  table.add_entry({"clear-recent", "Clear the lists of recent files and prompts", "File", ""});
  table.add_entry({"prompt.edit", "Edit the prompt…", "Run", "Ctrl+T"});
  table.add_entry({"prompt", "Prompt: a text", "Run", "", true});
  table.add_entry({"prompt-file", "Prompt: a text file", "Run", "", true});
  table.add_entry({"prompt.browse", "Prompt: choose a text file…", "Run", ""});
  table.add_entry({"ids", "Prompt: token ids", "Run", "", true});
  table.add_entry({"target", "Prompt: what the decoder shall predict", "Run", "", true});
  table.add_entry({"target-ids", "Prompt: token ids of the decoder", "Run", "", true});
  table.add_entry({"prompt.first", "Prompt: only its first tokens", "Run", "", true});
  table.add_entry({"prompt.recent", "Prompt: one that was set before", "Run", "", true});
  for (const BosMode mode : {BosMode::Auto, BosMode::Always, BosMode::Never})
    table.add_entry({std::string("prompt.bos ") + word_of(mode),
                     mode == BosMode::Auto     ? "Prompt: BOS as trained"
                     : mode == BosMode::Always ? "Prompt: with a BOS token"
                                               : "Prompt: without a BOS token",
                     "Run", ""});
  table.add_entry({"prompt.built-in gpl-3 512", "Prompt: GPL-3, 512 tokens", "Run", ""});
  table.add_entry({"prompt.built-in gpl-3 2048", "Prompt: GPL-3, 2048 tokens", "Run", ""});
  table.add_entry({"prompt.built-in gpl-3", "Prompt: GPL-3, the whole text", "Run", ""});
  table.add_entry({"prompt.built-in demo", "Prompt: a short text about attention", "Run", ""});
  table.add_entry({"prompt.default", "Prompt: the checkpoint's usual one", "Run", ""});
}

}  // namespace headroom
