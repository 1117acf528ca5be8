// What the start page offers is what can be opened, with the numbers of what lies on the disk.
#include "app/session/demos.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "app/ui/file_list.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

CATCH_TEST_CASE("Demos say how many variants and tokens they have", "[session]") {
  const auto demos = find_demos(demo_assets());
  std::size_t trained = 0;
  for (const DemoEntry& demo : demos) {
    if (demo.variants.empty()) continue;
    ++trained;
    CATCH_INFO(demo.path);
    std::ifstream file(fs::path(demo.path) / "prompt_ids.txt");
    const std::string ids((std::istreambuf_iterator<char>(file)), {});
    const auto tokens = std::ranges::count(ids, ',') + 1;
    const auto variants = std::distance(fs::directory_iterator(demo.variants), fs::directory_iterator());
    CATCH_CHECK(demo.detail == std::to_string(variants) + " variants, " + std::to_string(tokens) + " tokens");
  }
  CATCH_CHECK(trained == 3);
  const auto bytes =
      std::ranges::find_if(demos, [](const auto& d) { return d.path.find("bytes") != std::string::npos; });
  CATCH_REQUIRE(bytes != demos.end());
  CATCH_CHECK(bytes->detail == "7 variants, 64 tokens");
  CATCH_CHECK(demo_names(demo_assets() / "demo").size() == 28);
  CATCH_CHECK(find_demos("/nowhere").empty());
}

CATCH_TEST_CASE("A file opens by every ending that is offered, and what is refused is not offered", "[session]") {
  const TempFolder folder;
  const fs::path model = demo_assets() / "demo" / "bytes" / "diff_v2";
  for (const std::string_view ending : kCheckpointEndings) {
    CATCH_INFO(std::string(ending));
    const fs::path copy = folder.path() / ("model" + std::string(ending));
    if (ending == ".gguf") {
      const char* gguf = std::getenv("HEADROOM_DEMO_GGUF");
      if (gguf == nullptr || !fs::exists(gguf)) {
        skip("no demo model");
        continue;
      }
      fs::create_symlink(fs::absolute(gguf), copy);
    } else {
      fs::copy(model / "model.safetensors", copy);
      fs::copy(model / "config.json", folder.path() / "config.json", fs::copy_options::skip_existing);
    }
    SessionBench bench;
    bench.run("open " + quote_word(copy.string()));
    CATCH_CHECK(bench.state().errors.empty());
    CATCH_CHECK(bench.state().models.size() == 1);
    CATCH_CHECK(kind_of_name("x" + std::string(ending)) == FileKind::Checkpoint);
  }
  SessionBench bench;
  for (const char* name : {"weights.npy", "weights.onnx", "weights.pkl"}) {
    CATCH_INFO(name);
    CATCH_CHECK_FALSE(kind_of_name(name) == FileKind::Checkpoint);
    std::ofstream(folder.path() / name, std::ios::binary) << std::string_view("\x80\x04\x95\x02\0\0\0\0\0\0\0N.", 13);
    bench.run("open " + quote_word((folder.path() / name).string()));
    CATCH_CHECK(bench.state().models.empty());
    CATCH_REQUIRE_FALSE(bench.state().errors.empty());
    CATCH_CHECK(bench.state().errors.back().error.code == ErrorCode::Unsupported);
  }
}

}  // namespace
}  // namespace headroom::test
