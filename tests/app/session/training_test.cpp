// Histories of trainings in a session: what opens them, the cursor, pictures of the film strip that are what a fresh
// run of the checkpoint gives, a history that grows while it is looked at, and the session that keeps it all.
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

#include "app/session/film_strip.h"
#include "app/session/session.h"
#include "tests/app/session/session_bench.h"
#include "tests/core/maps/live_maps.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

std::string trained(const char* kind) { return (demo_assets() / "demo" / "backcopy" / kind).string(); }

// Until every picture that the strip asks for is there.
void wait_for_film(SessionBench& bench) {
  for (int i = 0; i < 40; ++i) {
    bench.wait();
    bool done = true;
    for (const TrainingEntry& entry : bench.state().trainings)
      for (const FilmFrame& frame : entry.film)
        done = done && (!entry.chosen || frame.layer >= 0 || !frame.failed.empty());
    if (done) return;
  }
  CATCH_FAIL("the film strip is not done");
}

const FilmFrame& frame_at(const SessionBench& bench, std::size_t entry, std::int64_t step) {
  for (const FilmFrame& frame : bench.state().trainings[entry].film)
    if (frame.checkpoint.step == step) return frame;
  CATCH_FAIL("no such picture");
  throw 0;
}

}  // namespace

CATCH_TEST_CASE("training view: pictures of the film strip are those of fresh runs of the same checkpoints",
                "[training]") {
  SessionBench bench;
  bench.run("open " + quote_word(trained("softmax") + "/training.h5"));
  CATCH_CHECK(bench.state().view.centre == CentreView::Training);
  bench.run("open " + quote_word(trained("diff_v2") + "/training.h5"));
  CATCH_REQUIRE(bench.state().trainings.size() == 2);
  wait_for_film(bench);
  CATCH_CHECK(bench.state().errors.empty());
  for (const std::size_t entry : {std::size_t{0}, std::size_t{1}})
    for (const std::int64_t step : {0, 1000, 6000}) {
      CATCH_INFO("history " << entry << ", step " << step);
      const FilmFrame frame = frame_at(bench, entry, step);
      CATCH_REQUIRE(frame.failed.empty());
      CATCH_REQUIRE(frame.side == 64);
      CATCH_CHECK(frame.cell_tokens == 1);
      CATCH_CHECK(frame.is_signed == (entry == 1));
      bench.run("training.checkpoint " + std::to_string(step) + " " +
                std::to_string(bench.state().trainings[entry].id));
      const RunSnapshot* run = bench.state().data();
      CATCH_REQUIRE(run != nullptr);
      CATCH_CHECK(bench.state().view.centre == CentreView::Map);
      CATCH_REQUIRE(run->length == 64);
      const MapSource& maps = *run->layer(0)->maps;
      for (std::int64_t query = 0; query < 64; ++query)
        for (std::int64_t key = 0; key < 64; ++key) {
          const MapSource::Cell cell = maps.cell(0, query, key);
          const float shown = (*frame.maps[0])[static_cast<std::size_t>(query * 64 + key)];
          CATCH_REQUIRE(std::isfinite(shown) == cell.visible);
          if (cell.visible) CATCH_REQUIRE(std::abs(static_cast<double>(shown) - cell.net) < 5e-5);
        }
      CATCH_CHECK(frame.run->at("sink_score", 0, 0) == run->at("sink_score", 0, 0));
      bench.run("training");
      CATCH_CHECK(bench.state().view.centre == CentreView::Training);
    }
}

CATCH_TEST_CASE("training view: a cell of a long map is its weight of the largest magnitude", "[training]") {
  MadeMaps made;
  made.length = 300;
  const auto source = made_maps(made);
  FilmFrame frame;
  CATCH_REQUIRE(pool_film_maps(*source, frame, [] { return false; }).has_value());
  CATCH_REQUIRE(frame.cell_tokens == 3);
  CATCH_REQUIRE(frame.side == 100);
  CATCH_REQUIRE(frame.maps.size() == source->heads.size());
  for (std::size_t h = 0; h < source->heads.size(); ++h)
    for (const std::int64_t row : {0, 13, 57, 99})
      for (std::int64_t column = 0; column < 100; ++column) {
        double largest = NAN;
        for (std::int64_t query = 3 * row; query < 3 * row + 3; ++query)
          for (std::int64_t key = 3 * column; key < 3 * column + 3; ++key) {
            const MapSource::Cell cell = source->cell(source->heads[h].head, query, key);
            if (cell.visible && (std::isnan(largest) || std::abs(cell.net) > std::abs(largest))) largest = cell.net;
          }
        const auto shown = static_cast<double>((*frame.maps[h])[static_cast<std::size_t>(row * 100 + column)]);
        CATCH_REQUIRE(std::isnan(shown) == std::isnan(largest));
        if (!std::isnan(largest)) CATCH_REQUIRE(std::abs(shown - largest) < 1e-4);
      }
}

CATCH_TEST_CASE("training view: commands of the cursor, and what is refused", "[training]") {
  SessionBench bench;
  CATCH_CHECK(bench.refusal("training.step 5").find("open a training.h5") != std::string::npos);
  CATCH_CHECK(bench.refusal("training.add " + quote_word((demo_assets() / "prompts").string())).find("no history") !=
              std::string::npos);
  bench.run("open " + quote_word(trained("softmax") + "/training.h5"));
  const State& state = bench.state();
  CATCH_CHECK(state.training_step() == 6000);
  bench.run("training.step 2345");
  CATCH_CHECK(state.training_step() == 2345);
  bench.run("training.kept next");
  CATCH_CHECK(state.training_step() == 3000);
  bench.run("training.kept previous");
  CATCH_CHECK(state.training_step() == 1000);
  bench.run("training.step 999999");
  CATCH_CHECK(state.training_step() == 6000);
  bench.run("undo");
  CATCH_CHECK(state.training_step() == 1000);
  CATCH_CHECK(bench.refusal("training.checkpoint 17").find("0, 100, 300, 1000, 3000, 6000") != std::string::npos);
  CATCH_CHECK(bench.refusal("training.head L3.H0").find("one head of a history") != std::string::npos);
  CATCH_CHECK(bench.refusal("training.zoom 50 20").find("the second one later") != std::string::npos);
  CATCH_CHECK(bench.refusal("training.show 77").find("the number of a history") != std::string::npos);
  // The same path twice is one history.
  bench.run("training.add " + quote_word(trained("softmax") + "/training.h5"));
  CATCH_CHECK(state.trainings.size() == 1);
  // Playing goes from checkpoint to checkpoint, and ends at the last.
  bench.run("training.step first");
  bench.run("training.play");
  CATCH_CHECK(state.training_plays);
  const double end = seconds_now() + 20.0;
  while (state.training_plays && seconds_now() < end) bench.wait();
  CATCH_CHECK_FALSE(state.training_plays);
  CATCH_CHECK(state.training_step() == 6000);
  bench.run("close");
  CATCH_CHECK(state.trainings.empty());
  CATCH_CHECK(state.nothing_open());
  CATCH_CHECK(state.view.centre == CentreView::Map);
}

CATCH_TEST_CASE("training view: a folder of trainings opens whole, one of its kind is in the film strip",
                "[training]") {
  SessionBench bench;
  bench.run("open " + quote_word((demo_assets() / "demo" / "bytes").string()));
  const State& state = bench.state();
  CATCH_REQUIRE(state.trainings.size() == 7);
  CATCH_CHECK(state.view.centre == CentreView::Training);
  for (const TrainingEntry& entry : state.trainings) {
    CATCH_REQUIRE(entry.data != nullptr);
    CATCH_CHECK(entry.chosen);  // each is a kind of its own
    CATCH_CHECK(entry.film.size() == 1);
  }
  bench.run("training.head L1.H2");
  CATCH_CHECK(state.trainings[3].data->curves.contains({1, 2}));
  const int id = state.trainings[3].id;
  bench.run("training.hide " + std::to_string(id));
  CATCH_CHECK(state.trainings[3].hidden);
  bench.run("training.remove " + std::to_string(id));
  CATCH_CHECK(state.trainings.size() == 6);
  // A model folder is a model, with its history at hand.
  bench.demo("bytes/softmax");
  CATCH_CHECK(state.view.centre == CentreView::Map);
  CATCH_CHECK(state.models.size() == 1);
}

CATCH_TEST_CASE("training view: how a model was trained, from the model", "[training]") {
  SessionBench bench;
  bench.demo("backcopy/softmax");
  bench.run("training");
  CATCH_REQUIRE(bench.state().trainings.size() == 1);
  CATCH_CHECK(bench.state().view.centre == CentreView::Training);
  bench.run("training.close");
  CATCH_CHECK(bench.state().view.centre == CentreView::Map);
}

CATCH_TEST_CASE("training view: an unfinished history is read again while it grows, a damaged moment loses nothing",
                "[training]") {
  const TempFolder folder;
  const auto write = [&](int entries, const std::string& ending) {
    std::string text = R"({"max_steps": 100, "global_step": )" + std::to_string(10 * entries) + R"(, "log_history": [)";
    for (int i = 1; i <= entries; ++i)
      text += std::string(i > 1 ? ", " : "") + R"({"loss": )" + std::to_string(4 - 0.1 * i) + R"(, "step": )" +
              std::to_string(10 * i) + "}";
    (void)folder.write("trainer_state.json", text + ending);
  };
  write(3, "]}");
  SessionBench bench;
  bench.run("open " + quote_word(folder.path().string()));
  const State& state = bench.state();
  CATCH_REQUIRE(state.trainings.size() == 1);
  CATCH_CHECK(state.trainings[0].data->loss.size() == 3);
  CATCH_CHECK_FALSE(state.trainings[0].data->finished);
  const auto until = [&](std::size_t steps) {
    const double end = seconds_now() + 20.0;
    while (state.trainings[0].data->loss.size() != steps && seconds_now() < end) bench.wait();
    return state.trainings[0].data->loss.size();
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a clock of another tick
  write(5, "]}");
  CATCH_CHECK(until(5) == 5);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  write(6, R"(, {"loss": 3.)");
  CATCH_CHECK(until(6) == 6);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  (void)folder.write("trainer_state.json", "{");
  const double end = seconds_now() + 3.0;
  while (seconds_now() < end) bench.wait();
  CATCH_CHECK(state.trainings[0].data->loss.size() == 6);
  CATCH_CHECK(state.errors.empty());
}

CATCH_TEST_CASE("training view: a session keeps its histories, the cursor and how they are drawn", "[training]") {
  const TempFolder folder;
  const std::string path = (folder.path() / "trained.headroom").string();
  {
    SessionBench bench;
    bench.run("open " + quote_word(trained("softmax") + "/training.h5"));
    for (const char* line : {"training.step 1234", "training.x log", "training.smooth 101", "training.seeds range"})
      bench.run(line);
    bench.run("session.save " + quote_word(path));
  }
  SessionBench bench;
  bench.run("open " + quote_word(path));
  const State& state = bench.state();
  CATCH_REQUIRE(state.trainings.size() == 1);
  CATCH_CHECK(state.view.centre == CentreView::Training);
  CATCH_CHECK(state.training_step() == 1234);
  CATCH_CHECK(state.view.training.log_steps);
  CATCH_CHECK(state.view.training.smooth == 101);
  CATCH_CHECK(state.view.training.seed_range);
  CATCH_CHECK(state.trainings[0].smoothed->width == 101);
}

}  // namespace headroom::test
