#include "app/panels/chrome/corpus_overlay.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/file_rows.h"
#include "app/panels/chrome/overlay.h"
#include "app/session/commands.h"
#include "app/session/folder_reader.h"
#include "app/session/saving.h"
#include "app/session/what_ifs.h"
#include "app/ui/file_list.h"
#include "core/base/number_text.h"
#include "core/base/parse_number.h"
#include "core/model/what_if_title.h"

namespace headroom {
namespace {

constexpr std::int64_t kUsualLength = 128;
constexpr std::array<const char*, 3> kSplitWords{"none", "lines", "blank"};

// What is typed, beside what follows from it until a person types something else.
struct CorpusFields {
  std::string &data, &length, &sequences, &output;
  double &split, &curves, &changed, &output_typed, &serial, &kept;
  double& wrong;  // of the form: where Enter leads the keyboard to; −1: nowhere
};
CorpusFields corpus_fields(Ui& ui) {
  return {
      ui.kept_text("corpus data"),      ui.kept_text("corpus length"),         ui.kept_text("corpus sequences"),
      ui.kept_text("corpus output"),    ui.kept_number("corpus split"),        ui.kept_number("corpus curves"),
      ui.kept_number("corpus changed"), ui.kept_number("corpus output typed"), ui.kept_number("corpus serial", -1.0),
      ui.kept_number("corpus kept"),    ui.kept_number("corpus wrong", -1.0)};
}

// A file or folder as the listing of what it is in has it.
struct FoundPath {
  bool known = false;  // the folder is read
  bool folder = false;
  const FileItem* item = nullptr;
  std::shared_ptr<const FolderListing> listing;  // that the item is of
};
FoundPath find_path(PanelContext& context, const std::string& path) {
  FoundPath found;
  const std::filesystem::path whole(path);
  const std::string name = whole.filename().string();
  if (name.empty()) return found;
  found.listing = listing_of(context, whole.parent_path().string(), name.starts_with('.'));
  if (!found.listing) return found;
  found.known = true;
  for (const FileItem& item : found.listing->list.items)
    if (item.name == name) found.item = &item, found.folder = item.folder();
  return found;
}

std::string suggested_output(const State& state, const std::string& data, const std::vector<std::string>& what_ifs) {
  const std::string name = std::filesystem::path(data).stem().string();
  const ModelEntry* model = state.find_model(state.model);
  std::string of = model ? file_name_of(model->name) + "_" : "";
  for (const std::string& what_if : what_ifs) of += file_name_of(what_if) + "_";
  return short_path(
      SavePlace{save_folder(state, SaveKind::Run), of + (name.empty() ? "" : file_name_of(name) + "_") + "corpus.h5"}
          .path());
}

void take_order(const State& state, CorpusFields& fields) {
  const CorpusTask& order = state.corpus_wish.task;
  const ModelEntry* model = state.find_model(state.model);
  std::int64_t length = order.length;
  if (length == 0) {
    length = kUsualLength;
    if (model && model->model && model->model->spec.max_positions > 0)
      length = std::min(length, model->model->spec.max_positions);
  }
  fields.data = short_path(order.data);
  fields.length = std::to_string(length);
  fields.sequences = order.sequences > 0 ? std::to_string(order.sequences) : "";
  fields.split = static_cast<double>(std::ranges::find(kSplitWords, order.split) - kSplitWords.begin());
  // A person who asks for no more looks at every tab afterwards.
  fields.curves = order.output.empty() || order.curves ? 1.0 : 0.0;
  fields.changed = order.what_ifs.empty() ? 0.0 : 1.0;
  fields.output = short_path(order.output);
  fields.output_typed = order.output.empty() ? 0.0 : 1.0;
}

// What is wrong with a field, and what is known of it.
struct FieldNote {
  std::string problem, note;
  std::string failed;  // what came of the same order
  bool warns = false;
  bool open = false;  // nothing is typed yet: nothing is wrong, and nothing can be run
};

struct CorpusForm {
  CorpusTask order;
  FieldNote data, length, sequences, split, rows, what_ifs, output;
  bool there = false, reading = false;
  // The first field that is wrong, in their order; −1: none is.
  [[nodiscard]] double wrong() const {
    double place = 0.0;
    for (const FieldNote* const field : {&data, &length, &sequences, &output}) {
      if (field->open || !field->problem.empty()) return place;
      place += 1.0;
    }
    return -1.0;
  }
  [[nodiscard]] bool right() const { return wrong() < 0.0; }
};

CorpusForm read_form(PanelContext& context, const CorpusFields& fields) {
  const State& state = context.state;
  CorpusForm form;
  CorpusTask& order = form.order;
  order.split = kSplitWords[static_cast<std::size_t>(std::clamp(fields.split, 0.0, 2.0))];
  order.curves = fields.curves != 0.0;
  if (fields.changed != 0.0) order.what_ifs = shown_what_ifs(state);
  if (fields.data.empty()) {
    form.data.open = true;
    form.data.note = "choose a file or a folder of texts, JSONL or token ids";
  } else {
    order.data = whole_path(fields.data);
    if (order.data.size() > 1 && order.data.ends_with('/')) order.data.pop_back();
    const FoundPath found = find_path(context, order.data);
    if (found.known && found.item == nullptr)
      form.data.problem = found.listing->error ? describe(*found.listing->error) : "there is nothing of this name";
    else if (found.folder)
      form.data.note = "a folder: every file in it and below";
    else if (found.item != nullptr)
      form.data.note = size_text(static_cast<double>(found.item->size_bytes));
    form.reading = !found.known;
  }
  const auto length = parse_index(fields.length);
  if (!length || *length < 1)
    form.length.problem = "a whole number of positions, 1 or more";
  else
    order.length = *length;
  form.length.note = "positions of every sequence; shorter documents are left out";
  const ModelEntry* model = state.find_model(state.model);
  if (model && model->model && model->model->spec.max_positions > 0 &&
      order.length > model->model->spec.max_positions) {
    form.length.note = "the model was trained on " + grouped_text(model->model->spec.max_positions) + " positions";
    form.length.warns = true;
  }
  if (!fields.sequences.empty()) {
    const auto sequences = parse_index(fields.sequences);
    if (!sequences || *sequences < 1)
      form.sequences.problem = "1 or more, or nothing for all";
    else
      order.sequences = *sequences;
  }
  form.sequences.note = "at most: first pieces of all documents, then second ones";
  form.split.note = "of text files; of JSONL a document is a line";
  form.rows.note = "means and quantiles by how many keys a row sees, for the tab By keys";
  form.what_ifs.note = "to be compared with the corpus of the model as it was trained";
  if (fields.output.empty()) {
    form.output.problem = "the file that is written";
  } else {
    order.output = whole_path(fields.output);
    const FoundPath found = find_path(context, order.output);
    const std::string name = std::filesystem::path(order.output).filename().string();
    if (name.empty())
      form.output.problem = "a name is missing";
    else if (!has_save_ending(SaveKind::Run, name))
      form.output.problem = "its name ends in .h5";
    else if (found.known && found.listing->error)
      form.output.problem = describe(*found.listing->error);
    else if (found.folder)
      form.output.problem = "a folder is called so";
    else if (found.item != nullptr) {
      form.there = true;
      form.output.note = "is there, " + size_text(static_cast<double>(found.item->size_bytes)) +
                         ": the same corpus has nothing to do, another one replaces it";
      form.output.warns = true;
    } else {
      form.output.note = "what is done is kept beside it until all is";
    }
    form.reading |= !found.known;
  }
  const CorpusWish& wish = state.corpus_wish;
  CorpusTask asked = wish.task;
  asked.replace = order.replace;
  if (!wish.failed.empty() && asked == order)
    for (const auto& [field, note] : {std::pair{CorpusField::Data, &form.data},
                                      {CorpusField::Length, &form.length},
                                      {CorpusField::Sequences, &form.sequences},
                                      {CorpusField::Split, &form.split},
                                      {CorpusField::Output, &form.output}})
      if (wish.field == field) note->failed = wish.failed;
  return form;
}

}  // namespace

void keep_corpus(PanelContext& context) {
  const CorpusFields fields = corpus_fields(context.ui);
  fields.kept = 1.0;
}

void draw_corpus(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  const CorpusWish& wish = state.corpus_wish;
  CorpusFields fields = corpus_fields(ui);
  const bool appeared = ui.appeared("corpus");
  const bool chosen_texts = appeared && fields.kept != 0.0;  // in the panel of files, which may come first
  const bool first = appeared && (!chosen_texts || fields.serial < 0.0);
  if (first) {
    take_order(state, fields);
    if (context.folders) context.folders->forget();
  } else if (fields.serial != static_cast<double>(wish.serial)) {
    if (!wish.task.data.empty()) fields.data = short_path(wish.task.data);
  }
  fields.serial = static_cast<double>(wish.serial);
  fields.kept = 0.0;
  const std::vector<std::string> what_ifs = shown_what_ifs(state);
  if (fields.output_typed == 0.0)
    fields.output = suggested_output(state, fields.data, fields.changed != 0.0 ? what_ifs : std::vector<std::string>());

  const ModelEntry* model = state.find_model(state.model);
  const Rect box = begin_box(context, "corpus", window, {720.0f, what_ifs.empty() ? 518.0f : 584.0f});
  Rect rest = draw_box_title(context, box, "Run a corpus",
                             model ? "many texts through " + model->name + ", with intervals over documents" : "", "");
  const float margin = box.width() < 600.0f ? 12.0f : 24.0f;
  const Rect foot = rest.cut_bottom(48.0f);
  ui.push_id("corpus");
  rest = {rest.x0 + margin, rest.y0 + 12.0f, rest.x1 - margin, rest.y1 - 6.0f};
  const float row_height = std::min(66.0f, rest.height() / (what_ifs.empty() ? 6.0f : 7.0f));
  const bool notes = row_height >= 48.0f;
  const float named = box.width() < 600.0f ? 92.0f : 120.0f;
  const CorpusForm before = read_form(context, fields);
  bool submitted = false;
  struct Row {
    Rect field, note;
  };
  const auto row = [&](const char* title) {
    Rect area = rest.cut_top(row_height);
    Rect line = area.cut_top(28.0f);
    ui.label_at(line.x0, line.centre_y(), title, theme.body(theme.text2), named - 8.0f);
    line.x0 += named;
    return Row{line, {line.x0, line.y1 + 2.0f, line.x1, line.y1 + 20.0f}};
  };
  // At a failing field the sentence of what is wrong stands even where there is no room for notes.
  const auto note = [&](const Row& place, const FieldNote& of) {
    const bool bad = !of.problem.empty() || !of.failed.empty();
    const std::string& text = !of.problem.empty() ? of.problem : bad ? of.failed : of.note;
    const Color color = bad || of.warns ? theme.warn : theme.text3;
    if (notes)
      ui.label_at(place.note.x0, place.note.centre_y(), text, theme.body(color), place.note.width());
    else if (!text.empty())
      ui.tooltip(place.field, text);
    if (bad || of.warns) painter.stroke_rect(place.field, theme.warn, 1.0f, measure::kRadius);
  };
  const auto field = [&](const char* id, const Row& place, std::string& value, const char* hint, bool focus) {
    TextFieldOptions options;
    options.mono = true;
    options.hint = hint;
    options.focus = focus;
    options.select_stem = true;  // what is typed takes the place of what was suggested
    const TextFieldResult typed = ui.text_field(id, place.field, value, options);
    submitted |= typed.submitted;
    return typed.changed;
  };

  Row data = row("Texts");
  const Row data_note = data;
  const float browse = ui.button_width("Choose…") + 8.0f;
  const Rect choose = data.field.cut_right(browse);
  data.field.cut_right(8.0f);
  ui.button(choose, "Choose…", "corpus.browse");
  const double wrong = std::exchange(fields.wrong, -1.0);
  field("data", data, fields.data, "a file or a folder", (first && !chosen_texts) || wrong == 0.0);
  note({data.field, data_note.note}, before.data);

  Row length = row("Length");
  const Row length_note = length;
  length.field.x1 = std::min(length.field.x1, length.field.x0 + 120.0f);
  field("length", length, fields.length, "positions", chosen_texts || wrong == 1.0);
  note({length.field, length_note.note}, before.length);

  Row sequences = row("Sequences");
  const Row sequences_note = sequences;
  sequences.field.x1 = std::min(sequences.field.x1, sequences.field.x0 + 120.0f);
  field("sequences", sequences, fields.sequences, "all", wrong == 2.0);
  note({sequences.field, sequences_note.note}, before.sequences);

  const Row split = row("A document is");
  const auto now = static_cast<std::size_t>(std::clamp(fields.split, 0.0, 2.0));
  const std::vector<Choice> splits{
      {"a file", "", now == 0, ""}, {"a line", "", now == 1, ""}, {"a paragraph", "", now == 2, ""}};
  std::size_t chosen = splits.size();
  const float taken = ui.segmented({split.field.x0, split.field.y0 + 2.0f}, 24.0f, splits, true, &chosen);
  if (chosen < splits.size()) fields.split = static_cast<double>(chosen);
  note({Rect::sized(split.field.x0, split.field.y0, taken, 28.0f), split.note}, before.split);

  const Row rows = row("Rows");
  const auto check = [&](const Row& place, const std::string& title, double& value, const FieldNote& of) {
    const float width = std::min(place.field.width(), 26.0f + ui.width(title, theme.body(theme.text)));
    const Rect frame = Rect::sized(place.field.x0, place.field.y0, width, 28.0f);
    if (ui.check_box(frame, title, value != 0.0, "")) value = value != 0.0 ? 0.0 : 1.0;
    note({frame, place.note}, of);
  };
  check(rows, "curves over visible keys", fields.curves, before.rows);
  if (!what_ifs.empty()) check(row("What-ifs"), what_ifs_title(what_ifs), fields.changed, before.what_ifs);

  const Row output = row("File");
  if (field("output", output, fields.output, "…/name.h5", wrong == 3.0)) fields.output_typed = 1.0;
  note(output, before.output);

  // Where the keyboard is at no field and no control, it is the panel's.
  submitted |= ui.key(Key::Enter) && !ui.wants_text() && !ui.control_focused();

  // After the fields: what is typed in this frame counts.
  const CorpusForm form = read_form(context, fields);
  painter.fill_rect({foot.x0 + 1.0f, foot.y0, foot.x1 - 1.0f, foot.y0 + 1.0f}, theme.line);
  const std::string reason = context.commands.disabled_reason(state, "corpus.run");
  const bool can = form.right() && reason.empty() && !wish.planning && !form.reading;
  const float y = foot.centre_y();
  float right = foot.x1 - margin;
  const auto place = [&](const std::string& title) {
    const float width = std::max(80.0f, ui.button_width(title) + 12.0f);
    right -= width;
    const Rect frame = Rect::sized(right, y - 13.0f, width, 26.0f);
    right -= 8.0f;
    return frame;
  };
  const auto line = [&](bool replace) {
    return "corpus.run " + quote_word(form.order.data) + " " + std::to_string(form.order.length) + " " +
           quote_word(form.order.output) + " " +
           (form.order.sequences > 0 ? std::to_string(form.order.sequences) : std::string("all")) + " " +
           form.order.split + (form.order.curves ? " curves" : "") + (form.order.what_ifs.empty() ? "" : " what-ifs") +
           (replace ? " replace" : "");
  };
  if (wish.planning) {
    ui.button(place("Stop"), "Stop", "corpus.stop");
  } else {
    const Rect main = place("Run");
    const bool pressed = ui.button(main, "Run", "", can ? ButtonStyle::Primary : ButtonStyle::Plain);
    ui.tooltip(main, can ? "Enter" : reason);
    if (can && (pressed || submitted))
      ui.run(line(false));
    else if (submitted)
      fields.wrong = form.wrong();  // whoever typed it goes on there
    if (form.there && can && ui.button(place("Replace"), "Replace", "", ButtonStyle::Plain)) ui.run(line(true));
  }
  const std::string leave = wish.planning ? "Close" : "Cancel";
  ui.button(place(leave), leave, "overlay.close");
  std::string text = wish.planning ? "reading the texts: " + wish.doing : reason;
  Color color = wish.planning ? theme.text2 : theme.warn;
  CorpusTask asked = wish.task;
  asked.replace = form.order.replace;
  if (text.empty() && !wish.failed.empty() && asked == form.order && (wish.field == CorpusField::None || !notes))
    text = wish.failed;
  if (text.empty() && form.reading) text = "the folder is being read", color = theme.text3;
  ui.label_at(foot.x0 + margin, y, text, theme.body(color), right - foot.x0 - margin - 8.0f);
  context.facts.set("corpus.form", form.right() ? line(false) : "");
  ui.pop_id();
  end_box(context);
}

}  // namespace headroom
