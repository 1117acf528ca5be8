// What is made of files of `headroom ablate`: intervals over blocks of one text and over texts, two ways, and panels.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/figures/figure_data.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/figure_runs.h"
#include "app/figures/kinds/head_changes.h"
#include "core/base/student.h"
#include "tests/app/figures/made_file.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

// Two layers of three heads on seven tokens.
struct Ablated {
  std::string change = "head=off", checkpoint = "m 00";
  double first_token = 1.0;
  std::vector<double> delta{0.5, -0.2, 0.01, kNaN, 0.3, 0.0}, error{0.1, 0.01, 0.02, kNaN, 0.05, 0.01}, sets;
  std::vector<std::string> names{"L0.H0+L0.H1", "L0.H2+L1.H0"};  // of the sets
  std::int64_t blocks = 20, done = 5, asked = 5;
};

std::filesystem::path ablation_file_path(const TempFolder& folder, const std::string& name, const Ablated& is) {
  MadeFile file(folder.path() / name, kAblationSchemaName);
  file.axis("layer", 2), file.axis("head", 3), file.axis("component", 2), file.axis("position", 7);
  const std::array<std::int64_t, 2> heads{2, 3};
  file.numbers("delta_loss", {"layer", "head"}, heads, is.delta);
  file.numbers("delta_loss_se", {"layer", "head"}, heads, is.error);
  const std::array<std::int64_t, 1> length{7};
  file.numbers("token_loss", {"position"}, length, std::vector<double>{kNaN, 1, 2, 3, 2, 1, 3});
  const std::array<std::int64_t, 3> maps{2, 3, 2};
  std::vector<double> sinks;
  for (int i = 0; i < 12; ++i) sinks.push_back(i % 2 == 0 ? 0.05 * i : kNaN);
  file.numbers("sink_score", {"layer", "head", "component"}, maps, sinks);
  file.numbers("tokens/token_id", {"position"}, length, std::vector<double>{is.first_token, 2, 3, 4, 5, 6, 7},
               ElementType::Int32);
  if (!is.sets.empty()) {
    file.labels("set", is.names);
    const std::array<std::int64_t, 1> sets{std::ssize(is.sets)};
    file.numbers("set_delta_loss", {"set"}, sets, is.sets);
    file.numbers("set_delta_loss_se", {"set"}, sets, std::vector<double>(is.sets.size(), 0.03));
  }
  file.attribute("mode", std::string("zero")), file.attribute("change", is.change);
  file.attribute("next_token_loss", 2.0), file.attribute("blocks", is.blocks);
  file.attribute("results_done", is.done), file.attribute("results_asked", is.asked);
  file.attribute("model_id", std::string("m")), file.attribute("checkpoint_sha256", is.checkpoint);
  file.attribute("dtype_compute", std::string("float32"));
  return file.commit();
}

FigureRun ablation_file(const TempFolder& folder, const std::string& name, const Ablated& is = {}) {
  return required(read_figure_run(ablation_file_path(folder, name, is)));
}

const HeadChange& change_of(const HeadChanges& all, HeadRef head) {
  return *std::ranges::find(all.heads, head, &HeadChange::head);
}

std::string refusal(const std::vector<FigureRun>& runs) {
  const Result<HeadChanges> changes = head_changes(runs, {});
  return changes ? "" : changes.error().message;
}

FigureData marks_of(const Figure& figure) {
  FigureData data;
  for (const auto& panel : figure.panels) panel->add_data(data);
  return data;
}

}  // namespace

CATCH_TEST_CASE("importance: intervals of one text are over its blocks, for all changes that the file has") {
  const TempFolder folder;
  Ablated with_sets;
  with_sets.sets = {0.7, kNaN};
  const FigureRun run = ablation_file(folder, "a.h5", with_sets);
  FigureChoice choice;
  choice.layers = {0};
  const HeadChanges all = required(head_changes(std::vector{run}, choice));
  CATCH_CHECK((all.texts == 1 && all.blocks == 20 && all.of_sets == 2 && all.predictions == 6));
  CATCH_CHECK(all.tested == 7);  // five heads and two sets, though one layer is drawn
  CATCH_REQUIRE(all.heads.size() == 3);
  const double half = student_point(0.05 / 7.0, 19.0);
  CATCH_CHECK(change_of(all, {0, 0}).low == near(0.5 - half * 0.1, 1e-12));
  CATCH_CHECK(change_of(all, {0, 1}).high == near(-0.2 + half * 0.01, 1e-12));
  CATCH_CHECK((change_of(all, {0, 0}).apart() && change_of(all, {0, 1}).apart() && !change_of(all, {0, 2}).apart()));
  CATCH_CHECK(change_of(all, {0, 2}).sink == near(0.2, 1e-12));
  CATCH_CHECK(all.apart() == 2);
  // Errors of the heads and of the sets: 0.01, 0.01, 0.02, 0.03, 0.03, 0.05, 0.1.
  CATCH_CHECK(all.detectable == near(student_detectable(19.0, 0.05 / 7.0, 0.8) * 0.03, 1e-12));
  CATCH_CHECK(all.lacking == 0);
  CATCH_CHECK(required(head_changes(std::vector{run}, {})).lacking == 1);
  CATCH_REQUIRE(all.sets.size() == 1);  // the other has no value
  CATCH_CHECK((all.sets[0].heads == std::vector<HeadRef>{{0, 0}, {0, 1}} && all.sets[0].change == 0.7));
  CATCH_CHECK(all.sets[0].low == near(0.7 - half * 0.03, 1e-12));
  CATCH_CHECK(all.sets[0].sum == near(0.3, 1e-12));
}

CATCH_TEST_CASE("importance: sets of several texts are means where all texts have them") {
  const TempFolder folder;
  std::vector<Ablated> is(2);
  is[0].sets = {0.7, 0.2}, is[1].sets = {0.5, 0.3}, is[1].first_token = 2.0;
  std::vector<FigureRun> runs{ablation_file(folder, "a.h5", is[0]), ablation_file(folder, "b.h5", is[1])};
  HeadChanges all = required(head_changes(runs, {}));
  CATCH_REQUIRE(all.sets.size() == 2);
  CATCH_CHECK((all.of_sets == 2 && all.tested == 7 && !all.other_sets));
  CATCH_CHECK(all.sets[0].change == near(0.6, 1e-12));
  CATCH_CHECK(all.sets[0].high == near(0.6 + student_point(0.05 / 7.0, 1.0) * 0.1, 1e-12));
  CATCH_CHECK(std::isnan(all.sets[1].sum));  // L1.H0 has no change
  is[1].names = {"L0.H0+L0.H1", "L0.H2+L1.H1"};
  runs[1] = ablation_file(folder, "b.h5", is[1]);
  all = required(head_changes(runs, {}));
  CATCH_CHECK((all.sets.empty() && all.other_sets && all.tested == 5));
}

CATCH_TEST_CASE("importance: a file of sets alone is a figure of them") {
  const TempFolder folder;
  Ablated is;
  is.delta.assign(6, kNaN), is.error.assign(6, kNaN), is.sets = {0.7, 0.2}, is.done = is.asked = 2;
  const std::vector<FigureRun> runs{ablation_file(folder, "a.h5", is)};
  const HeadChanges all = required(head_changes(runs, {}));
  CATCH_CHECK((all.heads.empty() && all.sets.size() == 2 && all.tested == 2 && std::isnan(all.sets[0].sum)));
  const Figure figure = required(make_figure(*required(find_figure_kind("importance")), runs, {}));
  CATCH_CHECK((figure.panels.size() == 1 && figure.width_mm == 84.0 && marks_of(figure).marks().size() == 2));
  CATCH_CHECK(marks_of(figure).marks()[0].series == "delta_loss L0.H0+L0.H1");
  is.names = {"L0.H0+L0.H1", "two heads"};
  CATCH_CHECK(read_figure_run(ablation_file_path(folder, "b.h5", is)).error().message == "a label names no heads");
}

CATCH_TEST_CASE("importance: a text with too few tokens has changes without intervals") {
  const TempFolder folder;
  Ablated is;
  is.blocks = 0, is.error.assign(6, kNaN);
  const HeadChanges all = required(head_changes(std::vector{ablation_file(folder, "a.h5", is)}, {}));
  CATCH_CHECK((all.heads.size() == 5 && all.apart() == 0 && all.tested == 0 && std::isnan(all.detectable)));
  CATCH_CHECK(std::ranges::none_of(all.heads, &HeadChange::has_interval));
}

CATCH_TEST_CASE("importance: several texts give Student's interval of their mean") {
  const TempFolder folder;
  std::vector<FigureRun> runs;
  const std::vector<double> first{0.5, 0.7, 0.6};
  for (std::size_t i = 0; i < first.size(); ++i) {
    Ablated is;
    is.first_token = static_cast<double>(10 + i), is.delta[0] = first[i];
    runs.push_back(ablation_file(folder, std::to_string(i) + ".h5", is));
  }
  const HeadChanges all = required(head_changes(runs, {}));
  CATCH_CHECK((all.texts == 3 && all.observations() == 3 && all.predictions == 18 && all.tested == 5));
  const HeadChange& one = change_of(all, {0, 0});
  const double error = std::sqrt((0.01 + 0.01) / 2.0 / 3.0);  // of 0.5, 0.7, 0.6
  CATCH_CHECK(one.change == near(0.6, 1e-12));
  CATCH_CHECK(one.high == near(0.6 + student_point(0.05 / 5.0, 2.0) * error, 1e-12));
  // The same in every text: the interval is a point.
  CATCH_CHECK(change_of(all, {1, 1}).low == near(0.3, 1e-9));
  CATCH_CHECK(change_of(all, {1, 1}).high == near(0.3, 1e-9));
}

CATCH_TEST_CASE("importance: files that are not texts of one model, or more than two ways, are refused") {
  const TempFolder folder;
  Ablated other_model, other_text, mean, mean_elsewhere, third;
  other_model.checkpoint = "n 11", other_model.first_token = 3.0;
  other_text.first_token = 2.0;
  mean.change = "head=mean", mean_elsewhere = mean, mean_elsewhere.first_token = 9.0;
  third.change = "hide-key=0,1";
  const FigureRun a = ablation_file(folder, "a.h5"), again = ablation_file(folder, "again.h5");
  CATCH_CHECK(refusal({a, again}).find("a.h5 and again.h5 are of one text") != std::string::npos);
  CATCH_CHECK(refusal({a, ablation_file(folder, "m.h5", other_model)}).find("checkpoint_sha256 of m.h5") !=
              std::string::npos);
  const FigureRun by_mean = ablation_file(folder, "mean.h5", mean);
  CATCH_CHECK(refusal({a, ablation_file(folder, "e.h5", mean_elsewhere)}).find("the text of e.h5 (head=mean)") !=
              std::string::npos);
  CATCH_CHECK(refusal({a, by_mean, ablation_file(folder, "t.h5", third)}).find("two ways") != std::string::npos);
  CATCH_CHECK(refusal({a, ablation_file(folder, "b.h5", other_text), by_mean}) ==
              "importance: head=off has 2 texts, head=mean has 1");
  CATCH_CHECK(refusal({a, by_mean}).empty());
}

CATCH_TEST_CASE("importance: the largest changes are listed by value, and the head that is asked for with them") {
  const TempFolder folder;
  Ablated stopped;
  stopped.asked = 6;
  const FigureRun run = ablation_file(folder, "a.h5", stopped);
  FigureChoice choice;
  choice.kind = "importance", choice.top = 2, choice.heads = {{1, 2}};
  Figure figure = required(make_importance(std::vector{run}, choice));
  set_letters(figure, "a");
  CATCH_REQUIRE(figure.panels.size() == 3);
  CATCH_CHECK(
      (figure.panels[0]->name == "heads" && figure.panels[1]->name == "atlas" && figure.panels[2]->name == "sinks"));
  CATCH_REQUIRE(figure.notes.size() == 1);
  CATCH_CHECK(figure.notes.front().find("5 of 6 heads") != std::string::npos);
  std::vector<double> listed;
  std::size_t cells = 0, points = 0;
  const FigureData data = marks_of(figure);
  for (const FigureMark& mark : data.marks()) {
    if (mark.panel == "a") listed.push_back(mark.x);
    cells += mark.panel == "b" ? 1 : 0, points += mark.panel == "c" ? 1 : 0;
  }
  CATCH_CHECK(listed == std::vector<double>{0.5, 0.3, 0.0});
  CATCH_CHECK((cells == 6 && points == 5));
  CATCH_CHECK(figure.panels[1]->caption().find("Hatched: 1 head ") != std::string::npos);
}

CATCH_TEST_CASE("importance: two ways are drawn against each other") {
  const TempFolder folder;
  Ablated mean;
  mean.change = "head=mean", mean.delta = {0.1, 0.0, 0.0, kNaN, 0.2, 0.4};
  Figure figure = required(make_importance(
      std::vector{ablation_file(folder, "a.h5"), ablation_file(folder, "mean.h5", mean)}, FigureChoice{}));
  set_letters(figure, "a");
  CATCH_REQUIRE(figure.panels.size() == 3);
  CATCH_CHECK(figure.panels[2]->name == "ways");
  bool found = false;
  const FigureData data = marks_of(figure);
  for (const FigureMark& mark : data.marks())
    if (mark.panel == "c" && mark.layer == 1 && mark.head == 1) found = mark.x == 0.3 && mark.y == 0.2;
  CATCH_CHECK(found);
}

CATCH_TEST_CASE("figure kinds: files of ablations and circuits are of kinds of their own") {
  const TempFolder folder;
  const FigureRun run = ablation_file(folder, "a.h5");
  CATCH_CHECK(file_sort(run) == "a file of headroom ablate");
  for (const FigureKind& kind : figure_kinds()) {
    CATCH_INFO(kind.name);
    FigureChoice choice;
    choice.kind = kind.name;
    const Result<void> can = check_figure(kind, run, choice);
    CATCH_CHECK(can.has_value() == (std::string(kind.name) == "importance"));
    if (!can) {
      CATCH_CHECK(can.error().message.ends_with("; a.h5 is a file of headroom ablate"));
    }
  }
}

}  // namespace headroom::test
