// What models and runs are called: folder/model · changes, and no two alike.
#include "app/session/run_names.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/session/session.h"
#include "core/checkpoint/checkpoint_name.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

using test::SessionBench;
using test::TempFolder;

std::vector<std::string> run_names(const State& state) {
  std::vector<std::string> names;
  for (const RunEntry& run : state.runs) names.push_back(run.name);
  return names;
}

struct Made {
  State state;
  int model(const std::string& path, const std::string& config = "") {
    ModelEntry entry;
    entry.id = static_cast<int>(100 + state.models.size());
    entry.path = path, entry.config = config;
    state.models.push_back(entry);
    return entry.id;
  }
  RunEntry& run(int model, std::vector<std::string> what_ifs = {}, const std::string& prompt = "GPL-3") {
    RunEntry entry;
    entry.id = static_cast<int>(state.runs.size());
    entry.model = model, entry.what_ifs = std::move(what_ifs), entry.prompt_title = prompt;
    entry.dtype = "float32", entry.device = "cpu";
    state.runs.push_back(entry);
    return state.runs.back();
  }
};

CATCH_TEST_CASE("names: a file's own, with its folder where the name is that of many models") {
  const TempFolder temp;
  std::filesystem::create_directories(temp.path() / "bytes" / "diff_v2");
  std::filesystem::create_directory(temp.path() / "Qwen");
  for (const char* name : {"Qwen/model.safetensors", "Qwen/small.Q4_1.gguf"}) temp.write(name, "x");
  const std::string root = temp.path().string();
  CATCH_CHECK(opened_title(root + "/bytes/diff_v2") == "bytes/diff_v2");
  CATCH_CHECK(opened_title(root + "/bytes/diff_v2/") == "bytes/diff_v2");
  CATCH_CHECK(opened_title(root + "/Qwen/model.safetensors") == "Qwen/model");
  CATCH_CHECK(opened_title(root + "/Qwen/small.Q4_1.gguf") == "small.Q4_1");
  CATCH_CHECK(opened_title(root + "/Qwen/small.Q4_1.gguf", 1) == "Qwen/small.Q4_1");
  CATCH_CHECK(opened_title("/runs/rc2.h5") == "rc2");
  CATCH_CHECK(opened_title("/rc2.h5", 9) == "rc2");  // no more folders
  CATCH_CHECK(opened_title("/runs/.h5") == ".h5");
  CATCH_CHECK(checkpoint_name(root + "/Qwen/model.safetensors") == "Qwen/model.safetensors");
  CATCH_CHECK(checkpoint_name(root + "/bytes/diff_v2/") == "diff_v2");
  for (const char* usual :
       {"model.safetensors", "model-00001-of-00002.safetensors", "pytorch_model.bin", "ggml-model-f16.gguf",
        "consolidated.00.pth", "adapter_model.safetensors", "capture.npz", "model.safetensors.index.json"})
    CATCH_CHECK(is_usual_name(usual));
  for (const char* own : {"models.pt", "model-large.bin", "my-model.pt", "SmolLM2-135M.gguf", "modelling.pt", ""})
    CATCH_CHECK_FALSE(is_usual_name(own));
  CATCH_CHECK(text_title("\n  Two\n\twords ") == "Two words");
  CATCH_CHECK(text_title(std::string(39, 'a') + "äb") == std::string(39, 'a') + "ä…");
}

CATCH_TEST_CASE("names: three files called model are told by their folders, and further ones where these are alike") {
  Made made;
  for (const char* path : {"/x/run1/model.safetensors", "/x/run2/model.safetensors", "/y/run2/model.safetensors"})
    made.run(made.model(path));
  name_models_and_runs(made.state);
  CATCH_CHECK(run_names(made.state) == std::vector<std::string>{"run1/model", "x/run2/model", "y/run2/model"});
  CATCH_CHECK(made.state.models[1].name == "x/run2/model");
  // A run file beside a checkpoint of the same name.
  Made mixed;
  mixed.run(mixed.model("/a/small.gguf"));
  mixed.run(-1).path = "/b/small.h5";
  name_models_and_runs(mixed.state);
  CATCH_CHECK(run_names(mixed.state) == std::vector<std::string>{"a/small", "b/small"});
}

CATCH_TEST_CASE("names: what tells runs of one checkpoint is said, and what does not is not") {
  Made made;
  const int model = made.model("/demo/small.gguf");
  made.run(model);
  made.run(model, {"L1.H0:lambda=0"});
  made.run(model, {"L1.H0:lambda=0"}, "kjv.txt");
  made.run(model, {"sink=off", "L2:temperature=2"});
  made.run(model, {"sink=off", "L2:temperature=2"}).dtype = "bfloat16";
  made.run(model, {}, "GPL-3");
  name_models_and_runs(made.state);
  CATCH_CHECK(run_names(made.state) ==
              std::vector<std::string>{"small", "small · λ = 0 in L1.H0 · GPL-3", "small · λ = 0 in L1.H0 · kjv.txt",
                                       "small · sink off, temperature 2 in layer 2 · float32",
                                       "small · sink off, temperature 2 in layer 2 · bfloat16", "small (2)"});
  name_models_and_runs(made.state);  // again: names are not made of names
  CATCH_CHECK(made.state.runs.back().name == "small (2)");
  made.state.runs.erase(made.state.runs.begin() + 1);
  name_models_and_runs(made.state);
  CATCH_CHECK(made.state.runs[1].name == "small · λ = 0 in L1.H0");
  // The same checkpoint with another config, twice.
  Made configs;
  for (const char* config : {"", "/c/wide.json", "/c/long.json"})
    configs.run(configs.model("/demo/small.gguf", config));
  name_models_and_runs(configs.state);
  CATCH_CHECK(run_names(configs.state) == std::vector<std::string>{"small", "small · wide.json", "small · long.json"});
}

CATCH_TEST_CASE("names: what-ifs keep their model's, a run file says what it was made with, the prompt is its text") {
  const TempFolder temp;
  const std::string saved = (temp.path() / "kept.h5").string();
  SessionBench bench;
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.run("select L1.H0");
  bench.run("what-if lambda=0");
  bench.run("what-if.complete");
  const auto changed =
      std::ranges::find_if(bench.state().runs, [](const RunEntry& run) { return !run.what_ifs.empty() && !run.quick; });
  CATCH_REQUIRE(changed != bench.state().runs.end());
  CATCH_CHECK(changed->name.starts_with("bytes/diff_v2 · λ = 0 in L1.H0"));
  const std::vector<std::string> names = run_names(bench.state());
  CATCH_CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  bench.run("show " + std::to_string(changed->id));
  bench.run("save run " + saved);
  bench.run("open " + saved);
  const RunEntry* opened = bench.state().shown();
  CATCH_REQUIRE((opened && opened->model < 0));
  CATCH_CHECK(opened->name == "kept · λ = 0 in L1.H0");
  CATCH_CHECK(opened->data->attributes.at("title") == "Attention statistics of diff_v2 · λ = 0 in L1.H0");
  CATCH_CHECK(opened->prompt_title != "");
}

}  // namespace
}  // namespace headroom
