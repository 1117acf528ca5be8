#include "app/session/saver.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/session/corpora.h"
#include "app/session/enum_words.h"
#include "app/session/figure_screen.h"
#include "app/session/saving.h"
#include "app/session/session_file.h"
#include "app/session/shown_table.h"
#include "core/base/capitals.h"
#include "core/run/head_table.h"

namespace headroom {
namespace {

TableFormat format_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".tsv"   ? TableFormat::Tsv
         : ending == ".tex" ? TableFormat::Latex
         : ending == ".md"  ? TableFormat::Markdown
                            : TableFormat::Csv;
}

}  // namespace

void Saver::ask(SaveKind kind, std::string panel, std::string path) {
  state_.save = {kind, std::move(panel), std::move(path), "", state_.save.serial + 1};
  state_.overlay = Overlay::Save;
}

Result<void> Saver::save(SaveKind kind, const std::string& panel, const std::string& given, bool replace) {
  HEADROOM_TRY_VOID(check_save_ending(kind, std::string("save ") + word_of(kind), given));
  if (std::string reason = not_savable(state_, kind); !reason.empty())
    return Error(ErrorCode::InvalidArgument, std::string("no ") + save_kind_text(kind) + " to save: " + reason);
  const std::string path = whole_path(given);
  std::error_code ignored;
  if (by_person_ && !replace && std::filesystem::exists(path, ignored)) {
    ask(kind, panel, path);
    return {};
  }
  const auto tell = [&](const Result<void>& written) -> Result<void> {
    if (written) {
      saved(kind, path, by_person_);
      return {};
    }
    if (!by_person_) return written;
    not_saved(kind, path, /*by_person=*/true, written.error());
    return {};
  };
  if (by_person_) state_.overlay = Overlay::None;
  switch (kind) {
    case SaveKind::Run: {
      const auto told = [this, path, by_person = by_person_](const Result<std::string>& size) {
        if (size) return saved(SaveKind::Run, path, by_person, *size);
        if (size.error().code != ErrorCode::Cancelled) not_saved(SaveKind::Run, path, by_person, size.error());
      };
      Result<void> begun = runner_.write_run(path, replace, told);
      return begun ? begun : tell(begun);
    }
    case SaveKind::Picture: inbox_.request({WindowRequest::Kind::Screenshot, path, {}, panel, by_person_}); return {};
    case SaveKind::Table: {
      if (panel == "lasso")
        return tell(save_text(path, copy_lasso(*state_.data(), state_.view.heads, format_of(path))));
      if (panel == "sequences" || panel == "statistics") {
        const TableFormat format = format_of(path);
        if (format != TableFormat::Csv && format != TableFormat::Tsv)
          return Error(ErrorCode::InvalidArgument, "tables of a corpus are CSV or TSV").wanted(".csv or .tsv", path);
        HEADROOM_TRY(const std::string table, copy_corpus(state_, panel == "sequences" ? panel : "heads", format));
        return tell(save_text(path, table));
      }
      HEADROOM_TRY(const std::string text, copy_heads(*state_.data(), state_.view.heads, format_of(path)));
      return tell(save_text(path, text));
    }
    case SaveKind::Session: {
      HEADROOM_TRY(const SavedSession session, current_session(state_));
      const Result<void> written = save_session(path, session);
      if (written && by_person_) keeping_.add_recent_session(path, session);
      return tell(written);
    }
    case SaveKind::Figure: {
      desk_.forget_other_places();
      const std::string& wanted = state_.figure.kind;
      return desk_.write(wanted, asked_look(state_, wanted), path, replace,
                         [this, path, by_person = by_person_](const Result<void>& written) {
                           written ? saved(SaveKind::Figure, path, by_person)
                                   : not_saved(SaveKind::Figure, path, by_person, written.error());
                         });
    }
    case SaveKind::Importance: {
      return runner_.sweeps().save(path, replace, [this, path, by_person = by_person_](const Result<void>& written) {
        written ? saved(SaveKind::Importance, path, by_person)
                : not_saved(SaveKind::Importance, path, by_person, written.error());
      });
    }
  }
  return {};
}

void Saver::saved(SaveKind kind, const std::string& path, bool by_person, const std::string& detail) {
  if (by_person) state_.toast = Toast{inbox_.next_id(), capitalised(save_kind_text(kind)) + " saved", path};
  inbox_.message(MessageLevel::Info, "saved the " + std::string(save_kind_text(kind)) + " as " + path +
                                         (detail.empty() ? "" : ", " + detail));
  if (!by_person) return;
  state_.save_folders[word_of(kind)] = std::filesystem::path(path).parent_path().string();
  keeping_.save_settings();
}

// The panel comes back with what was typed; the card says the rest.
void Saver::not_saved(SaveKind kind, const std::string& path, bool by_person, const Error& error) {
  inbox_.card("Cannot save " + std::filesystem::path(path).filename().string(), error);
  if (!by_person || state_.overlay != Overlay::None || state_.save.serial == 0 || state_.save.kind != kind) return;
  ask(kind, state_.save.panel, path);
  state_.save.failed = describe(error);
}

}  // namespace headroom
