// A saved session taken up again: its files opened, its prompt run, what was looked at shown, its what-ifs run again.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/session/commands.h"
#include "app/session/documents.h"
#include "app/session/opened_path.h"
#include "app/session/run_names.h"
#include "core/base/format.h"
#include "core/base/input_file.h"

namespace headroom {

Result<void> Documents::open_session(const std::string& path, const std::string& relinked) {
  HEADROOM_TRY(SavedSession loaded, load_session(path));
  for (const std::string& training : loaded.trainings) open_training(training);
  trainings_.forget_opening();
  if (loaded.files.empty()) {
    keeping_.add_recent_session(path, loaded);
    history_.remember("session");
    state_.view.training = loaded.view.training;
    return {};
  }
  if (!relinked.empty()) loaded.files[loaded.shown] = {relinked, 0, loaded.files[loaded.shown].config};
  const auto session = std::make_shared<const SavedSession>(std::move(loaded));
  for (std::size_t i = 0; i < session->files.size(); ++i)
    if (i != session->shown) {
      OpenOptions beside;
      beside.config = session->files[i].config;
      open(session->files[i].path, beside);
    }
  const SavedSession::File& shown = session->files[session->shown];
  std::error_code ignored;
  if (!std::filesystem::exists(parse_opened_path(shown.path).path, ignored)) {
    Error error = path_error(shown.path, ENOENT);
    error.advise("where it lies now: session.open " + quote_word(path) + " PATH");
    return error;
  }
  keeping_.add_recent_session(path, *session);
  OpenOptions options;
  options.session = session;
  options.config = shown.config;
  open(shown.path, options);
  return {};
}

// The view of a saved session; what does not fit the checkpoint any more is left out by those who show it.
void Documents::take_up(const SavedSession& saved, const ModelEntry& model) {
  const SavedSession::File& file = saved.files[saved.shown];
  if (file.size_bytes != 0 && file.size_bytes != model.size_bytes)
    inbox_.message(MessageLevel::Warning, format("%s is not the checkpoint of the session: %llu bytes then, %llu now",
                                                 model.name.c_str(), static_cast<unsigned long long>(file.size_bytes),
                                                 static_cast<unsigned long long>(model.size_bytes)));
  if (!saved.prompt.text.empty() || !saved.prompt.ids.empty()) set_prompt(saved.prompt);
  ViewState view = saved.view;
  view.run = state_.view.run;
  view.centre = CentreView::Map;  // until there are two runs
  const ModelSpec& spec = model.model->spec;
  if (view.selection.head && (!std::ranges::binary_search(spec.attention_layers(), view.selection.head->layer) ||
                              view.selection.head->head >= spec.num_heads))
    view.selection = {};
  if (saved.view.centre == CentreView::Training && !state_.trainings.empty()) view.centre = CentreView::Training;
  state_.view = view;
  if (!saved.ran) return;
  // It measures what it did then; what is chosen for the runs after it stays chosen.
  const RunMeasures measures{saved.keep_residual, saved.extra};
  if (const Result<void> started = runner_.start_run(/*keep_maps=*/true, measures); !started) {
    inbox_.message(MessageLevel::Warning, describe(started.error()));
    return;
  }
  state_.view.map.window = saved.view.map.window;  // a run begins with the whole map
  state_.view.centre = view.centre;
  const auto session = std::make_shared<const SavedSession>(saved);
  runner_.when_complete(state_.view.run, [this, session, base = state_.view.run] { take_up_what_ifs(*session, base); });
}

// The run as trained is there: what-ifs go on from its layers, first those of the run that was shown.
void Documents::take_up_what_ifs(const SavedSession& saved, int base_id) {
  const RunEntry* base = state_.run(base_id);
  if (!base || state_.view.run != base_id) return;  // the person looks at something else by now
  if (saved.what_ifs.empty()) {
    take_up_beside(saved, base_id, base_id);
    return;
  }
  const Result<int> started = runner_.start_changed(*base, saved.what_ifs, /*complete=*/true, {});
  if (!started) {
    inbox_.card("The what-if of the session does not fit " + base->name, started.error());
    return;
  }
  state_.view.other_run = *started;
  const auto session = std::make_shared<const SavedSession>(saved);
  runner_.when_complete(*started, [this, session, base_id, id = *started] {
    if (state_.view.run != base_id) return;
    const ViewState before = state_.view;
    runner_.show_run(id);
    state_.view.map.window = before.map.window;
    state_.view.selection = before.selection;
    take_up_beside(*session, base_id, id);
  });
}

// The loss changes of the run that is shown, which is complete; they are of another model where its loss is another.
void Documents::take_up_sweeps(const SavedSession& saved, int run_id) {
  constexpr double kSameLoss = 1e-3;  // nats; devices and types differ by less
  RunEntry* run = state_.edit_run(run_id);
  if (!run || !run->data) return;
  for (const SavedSession::Sweep& sweep : saved.sweeps) {
    const LossTable& table = sweep.table;
    const double loss = run->data->next_token_loss.value_or(kNaN);
    if (table.layers != run->data->layers || table.heads != run->data->heads ||
        !(std::abs(table.loss - loss) < kSameLoss)) {
      inbox_.message(
          MessageLevel::Warning,
          format("%s: the loss changes of the session are of a loss of %.4f nats, which is %.4f now; left out",
                 way_info(sweep.way).title, table.loss, loss));
      continue;
    }
    LossSweep& taken = run->sweeps[static_cast<std::size_t>(sweep.way)].emplace();
    taken.status = table.done == table.asked ? SweepStatus::Done : SweepStatus::Stopped;
    taken.table = taken.kept = std::make_shared<const LossTable>(table);
    run->data = with_loss_changes(*run->data, run->sweeps);
  }
}

// The other run of the same checkpoint, where one stood beside it: as trained, changed, or changed in one head.
void Documents::take_up_beside(const SavedSession& saved, int base_id, int shown_id) {
  take_up_sweeps(saved, shown_id);
  if (state_.view.centre == CentreView::Training) return;
  state_.view.centre = saved.view.centre == CentreView::Compare ? CentreView::Map : saved.view.centre;
  if (!saved.beside) return;
  if (saved.beside->what_ifs.empty()) {
    state_.view.other_run = base_id;
    state_.view.centre = saved.view.centre;
    return;
  }
  // What is beside it changes the run that is shown further, or else the one as trained.
  const auto& all = saved.beside->what_ifs;
  const bool further =
      all.size() > saved.what_ifs.size() && std::equal(saved.what_ifs.begin(), saved.what_ifs.end(), all.begin());
  const RunEntry& base = *state_.run(further ? shown_id : base_id);
  const std::vector<std::string> added(all.begin() + (further ? static_cast<std::ptrdiff_t>(saved.what_ifs.size()) : 0),
                                       all.end());
  const bool quick = saved.beside->quick && further && state_.view.selection.head;
  const Result<int> started =
      runner_.start_changed(base, added, !quick, state_.view.selection.head.value_or(HeadRef{}));
  if (!started) {
    inbox_.card("The what-if of the session does not fit " + base.name, started.error());
    return;
  }
  state_.view.other_run = *started;
  state_.view.centre = saved.view.centre;
}

}  // namespace headroom
