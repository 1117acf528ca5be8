// Run files read back as snapshots, and the look-ups of a snapshot.
#include "core/run/run_snapshot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/io/run_file.h"
#include "core/io/run_file_writer.h"
#include "tests/core/run/live_runs.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {

CATCH_TEST_CASE("run snapshot: a run file read back is the run in memory, rounded to the file's type") {
  for (const char* name : {"bytes/diff_v2", "bytes/diff_v1", "bytes/gated"}) {
    CATCH_INFO(name);
    const LiveModel demo(name, 140);
    const TempFolder folder;
    AnalysisRequest request = demo.analysis(folder.path() / "run.h5");
    request.pool_blocks = 8;
    request.prompt.texts.assign(request.prompt.ids.size(), "x");
    request.prompt.texts[1] = "é\xFF";
    request.prompt.is_special.assign(request.prompt.ids.size(), 0);
    request.prompt.is_special[0] = 1;
    request.what_ifs = {required(parse_what_if("L1.H1:hide-key=3,5"))};
    (void)required(analyze(live_backend(), request, {}, {}));
    LiveRunRequest same = demo.request();
    same.what_ifs = request.what_ifs;
    const Snapshot run = live(same);
    const Snapshot file = required(read_run(request.output));

    CATCH_CHECK(file->prompt->ids == request.prompt.ids);
    CATCH_CHECK(file->prompt->texts[1] == "é\\xFF");
    CATCH_CHECK(file->prompt->is_special == request.prompt.is_special);
    CATCH_CHECK(file->layers == run->layers);
    CATCH_CHECK(file->heads == run->heads);
    CATCH_CHECK(file->min_row == run->min_row);
    CATCH_CHECK(file->length == 140);
    CATCH_CHECK(file->complete);
    CATCH_CHECK(std::abs(file->sink_null - run->sink_null) < 1e-7);
    CATCH_REQUIRE(file->next_token_loss);
    CATCH_CHECK(std::abs(*file->next_token_loss - *run->next_token_loss) < 1e-12);
    CATCH_CHECK(file->model_name == run->model_name);
    CATCH_CHECK(file->model_kind == run->model_kind);
    CATCH_CHECK(file->attributes.at("dtype_compute") == "float32");
    CATCH_CHECK(file->attention->backend == run->attention->backend);
    for (const std::int64_t l : run->layers) {
      const LayerSnapshot& a = *run->layer(l);
      const LayerSnapshot& b = *file->layer(l);
      CATCH_CHECK(a.kind == b.kind);
      CATCH_CHECK(a.kv_heads == b.kv_heads);
      CATCH_CHECK(!b.maps);
      CATCH_CHECK(b.visible.size() == 1);
      CATCH_CHECK(a.key_norms == b.key_norms);
      CATCH_CHECK(a.value_norms == b.value_norms);
      CATCH_CHECK(
          (std::isnan(a.lambda_init) ? std::isnan(b.lambda_init) : std::abs(a.lambda_init - b.lambda_init) < 1e-7));
      for (std::size_t h = 0; h < a.programs.size(); ++h) {
        HeadProgram program = a.programs[h];
        // The file holds a constant only where λ is one.
        if (program.lambda != LambdaSource::Constant) program.lambda_constant = 0.0;
        CATCH_CHECK(program == b.programs[h]);
      }
      CATCH_CHECK(a.summary.size() == b.summary.size());
      for (const auto& [quantity, values] : a.summary) {
        CATCH_INFO(quantity);
        CATCH_REQUIRE(b.summary.contains(quantity));
        const auto& read = b.summary.find(quantity)->second;
        CATCH_REQUIRE(read.size() == values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double rounded = static_cast<double>(static_cast<float>(values[i]));
          CATCH_REQUIRE((std::isnan(rounded) ? std::isnan(read[i]) : read[i] == rounded));
        }
      }
      for (const auto& [quantity, values] : a.series) {
        CATCH_INFO(quantity);
        CATCH_REQUIRE(b.series.contains(quantity));
        const auto& read = b.series.find(quantity)->second;
        CATCH_REQUIRE(read.size() == values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
          CATCH_REQUIRE((std::isnan(values[i]) ? std::isnan(read[i]) : read[i] == values[i]));
      }
      CATCH_CHECK(b.series.size() == a.series.size() + 5);  // the pooled maps
      CATCH_CHECK(b.row_values("maps/pooled_mean", 0).size() == 64);
    }
    CATCH_CHECK(file->layer(1)->programs[1].hidden_keys == std::vector<std::int64_t>{3, 5});
  }
}

CATCH_TEST_CASE(
    "run snapshot: weights that are not finite are named alike in memory and in a file, and the layers go on") {
  const TempFolder folder;
  const std::filesystem::path model = folder.path() / "model";
  std::filesystem::copy(demo_folder() / "bytes/softmax", model);
  constexpr const char* kTensor = "model.layers.1.self_attn.k_proj.weight";
  {
    const LiveModel intact(model.string());
    const auto tensors = intact.model->checkpoint->tensors();
    const auto place = std::ranges::find(tensors, kTensor, &TensorInfo::name);
    CATCH_REQUIRE(place != tensors.end());
    std::fstream file(intact.model->checkpoint->files()[place->file].path(),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(place->offset));
    for (std::uint64_t i = 0; i < place->size_bytes; ++i) file.put('\xFF');  // NaN in every float type
  }
  const LiveModel demo(model.string(), 20);
  const AnalysisRequest request = demo.analysis(folder.path() / "run.h5");
  const AnalysisOutcome outcome = required(analyze(live_backend(), request, {}, {}));
  CATCH_CHECK(outcome.self_check.violations.empty());
  const Snapshot run = live(demo.request());
  const Snapshot file = required(read_run(request.output));
  CATCH_REQUIRE(run->non_finite_weights.size() == 1);
  CATCH_CHECK(run->non_finite_weights.front().starts_with(std::string("layer 1, ") + kTensor + ": "));
  CATCH_CHECK(file->non_finite_weights == run->non_finite_weights);
  for (const Snapshot& snapshot : {run, file}) {
    CATCH_CHECK(snapshot->complete);
    CATCH_CHECK(snapshot->non_finite_layer == 1);
    CATCH_CHECK_FALSE(snapshot->next_token_loss);
    CATCH_CHECK_FALSE(std::isnan(snapshot->at("sink_score", 0, 0)));
    CATCH_CHECK(std::isnan(snapshot->at("sink_score", 1, 0)));
    CATCH_CHECK(snapshot->at("finite_rows", 1, 0) == 0.0);
  }
  // A what-if that begins after the layer keeps what is known of it.
  LiveRunRequest later = demo.request();
  later.base = run;
  later.first_layer = later.last_layer = 0;
  CATCH_CHECK(live(later)->non_finite_weights == run->non_finite_weights);
}

CATCH_TEST_CASE("run snapshot: coordinates of axes, and what is none") {
  const LiveModel demo("bytes/softmax", 20);
  const TempFolder folder;
  AnalysisRequest request = demo.analysis(folder.path() / "run.h5");
  request.heads = {1, 2};
  (void)required(analyze(live_backend(), request, {}, {}));
  const auto file = required(RunFile::open(request.output));
  CATCH_CHECK(required(file->read_axis("head")) == std::vector<double>{1.0, 2.0});
  CATCH_CHECK(required(file->read_axis("position")).size() == 20);
  CATCH_CHECK(file->read_axis("bound").error().code == ErrorCode::Corrupt);  // labels
  CATCH_CHECK(file->read_axis("sink_score").error().code == ErrorCode::NotFound);
  CATCH_CHECK(file->read_axis("nothing").error().code == ErrorCode::NotFound);
  const Snapshot run = required(read_run(request.output));
  CATCH_CHECK(run->heads == std::vector<std::int64_t>{1, 2});
  CATCH_CHECK(!std::isnan(run->at("sink_score", 0, 2)));
  CATCH_CHECK(std::isnan(run->at("sink_score", 0, 0)));
}

CATCH_TEST_CASE("run snapshot: look-ups by layer, head and name") {
  auto layer = std::make_shared<LayerSnapshot>();
  layer->layer = 4;
  layer->heads = {1, 3};
  layer->summary["a"] = {1.0, 2.0, 3.0, 4.0};
  layer->series["rows/b"] = {5.0F, 6.0F};
  RunSnapshot run;
  run.layers = {2, 4};
  run.data = {nullptr, layer};
  CATCH_CHECK(run.finished_layers() == 1);
  CATCH_CHECK(!run.layer(2));
  CATCH_CHECK(!run.layer(3));
  CATCH_CHECK(run.layer(4) == layer.get());
  CATCH_CHECK(run.at("a", 4, 1) == 1.0);
  CATCH_CHECK(run.at("a", 4, 3, 1) == 4.0);
  CATCH_CHECK(std::isnan(run.at("a", 4, 3, 2)));
  CATCH_CHECK(std::isnan(run.at("a", 4, 2)));
  CATCH_CHECK(std::isnan(run.at("b", 4, 1)));
  CATCH_CHECK(std::isnan(run.at("a", 2, 1)));
  CATCH_CHECK(layer->row_values("rows/b", 3)[0] == 6.0F);
  CATCH_CHECK(layer->row_values("rows/b", 0).empty());
}

CATCH_TEST_CASE("run snapshot: files that hold no run, and damaged ones, are refused") {
  const auto refused = [](const std::filesystem::path& path, ErrorCode code) {
    const auto result = read_run(path);
    return !result.has_value() && result.error().code == code;
  };
  CATCH_CHECK(refused(demo_folder() / "backcopy/diff_v2/training.h5", ErrorCode::InvalidArgument));
  CATCH_CHECK(refused(demo_folder() / "none.h5", ErrorCode::NotFound));
  const TempFolder folder;
  const auto text = folder.path() / "text.h5";
  std::ofstream(text) << "no HDF5";
  CATCH_CHECK(refused(text, ErrorCode::Corrupt));

  // A quantity with an extent that it never has: panels would read beyond it. Names of a head program that mean
  // nothing.
  struct Case {
    std::int64_t components;
    const char *lambda_source, *sink, *dataset;
  };
  for (const Case& given : {Case{3, "none", "none", "sink_score"}, Case{2, "guessed", "none", "program/lambda_source"},
                            Case{2, "projection", "", "program/sink"}, Case{2, "projection", "zero", ""}}) {
    CATCH_INFO(given.lambda_source << ", " << given.sink);
    const auto made = folder.path() / "made.h5";
    RunFileWriter::Options options;
    options.force = true;
    auto writer = required(RunFileWriter::create(made, options));
    const auto axis = [&](const char* name, std::int64_t size) {
      AxisDef def;
      def.name = name;
      def.size = size;
      for (std::int64_t i = 0; i < size; ++i) def.values.push_back(static_cast<double>(i));
      def.units = "1";
      def.long_name = name;
      required_void(writer->add_axis(def));
    };
    axis("layer", 1), axis("head", 2), axis("component", given.components), axis("position", 5);
    const auto dataset = [&](const char* group, const char* name, std::vector<std::string> axes, ElementType type) {
      DatasetDef def;
      def.group = group;
      def.name = name;
      def.axes = std::move(axes);
      def.type = type;
      def.units = "1";
      def.long_name = def.definition = name;
      required_void(writer->add_dataset(def));
    };
    dataset("tokens", "token_id", {"position"}, ElementType::Int32);
    dataset("", "sink_score", {"layer", "head", "component"}, ElementType::Float32);
    dataset("program", "q1", {"layer", "head"}, ElementType::Int32);
    const std::int64_t start[] = {0, 0}, count[] = {1, 2};
    for (const auto& [name, text_of_second] :
         {std::pair{"lambda_source", given.lambda_source}, std::pair{"sink", given.sink}}) {
      dataset("program", name, {"layer", "head"}, ElementType::String);
      const std::vector<std::string> texts = {"none", text_of_second};
      required_void(writer->write_strings(std::string("program/") + name, start, count, texts));
    }
    required_void(writer->commit());
    const auto result = read_run(made);
    CATCH_REQUIRE(result.has_value() == (*given.dataset == '\0'));
    if (result) {
      CATCH_CHECK((*result)->layer(0)->programs[1].lambda == LambdaSource::Projection);
      CATCH_CHECK((*result)->layer(0)->programs[1].sink == SinkSource::Zero);
      continue;
    }
    CATCH_CHECK(result.error().code == ErrorCode::Corrupt);
    CATCH_CHECK(describe(result.error()).find(given.dataset) != std::string::npos);
  }
}

}  // namespace headroom::test
