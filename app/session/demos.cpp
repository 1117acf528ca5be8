#include "app/session/demos.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/run/open_model.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

constexpr std::uint64_t kLargestIds = std::uint64_t{1} << 20;

struct Demo {
  const char* folder;   // with one checkpoint for each variant
  const char* variant;  // the one that opens
  const char* title;
  const char* line;
};

// What app/run.sh fetches.
struct Fetched {
  const char* path;  // below .deps
  const char* title;
  const char* line;
};

constexpr Fetched kFetched[] = {
    {"demo/SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M",
     "a language model: sinks from layer 12 on, induction in layer 17"},
    {"all-MiniLM-L6-v2", "all-MiniLM-L6-v2", "an encoder of sentences: every token sees those before it and behind it"},
};

constexpr Demo kTrained[] = {
    {"trigger_no_bos", "diff_v2", "Trigger task",
     "softmax must park attention on some token; without one it fails, DIFF V2 does not"},
    {"backcopy", "diff_v2", "Bigram-Backcopy",
     "a sink is born in softmax, in one head; DIFF V2 learns the same task without one"},
    {"bytes", "diff_v2", "Character language model",
     "two layers on public-domain text: λ, cancellation, negative mass"},
};

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// "7 variants, 64 tokens": of the prompt that comes with the checkpoint.
std::string detail_of(const std::filesystem::path& variant) {
  std::error_code ignored;
  std::size_t variants = 0;
  for (const auto& entry : std::filesystem::directory_iterator(variant.parent_path(), ignored))
    variants += std::filesystem::exists(entry.path() / "config.json", ignored) ? 1 : 0;
  std::string detail = counted(variants, "variant");
  const auto text = read_text_file(variant / kExamplePromptFile, kLargestIds);
  if (const auto ids = text ? parse_ids(*text) : Result<std::vector<std::int32_t>>(text.error()))
    detail += ", " + counted(ids->size(), "token");
  return detail;
}

// "30 layers × 9 heads, softmax"; empty for a file that does not open.
std::string shape_of(const std::filesystem::path& path) {
  const auto opened = open_model(path, {});
  if (!opened || opened->spec.blocks.empty()) return {};
  return format("%zu layers × %lld heads, %s", opened->spec.blocks.size(),
                static_cast<long long>(opened->spec.num_heads), opened->spec.kinds_text().c_str());
}

}  // namespace

std::vector<DemoEntry> find_demos(const std::filesystem::path& assets) {
  std::error_code ignored;
  std::vector<DemoEntry> demos;
  for (const Fetched& model : kFetched) {
    const std::filesystem::path path = assets / ".." / ".deps" / model.path;
    if (std::filesystem::exists(path, ignored))
      demos.push_back({path.lexically_normal().string(), model.title, model.line, shape_of(path), ""});
  }
  for (const Demo& demo : kTrained) {
    const std::filesystem::path folder = assets / "demo" / demo.folder, variant = folder / demo.variant;
    if (!std::filesystem::exists(variant / "config.json", ignored)) continue;
    demos.push_back({variant.string(), demo.title, demo.line, detail_of(variant), folder.string()});
  }
  return demos;
}

std::vector<std::string> demo_names(const std::filesystem::path& demos) {
  std::error_code ignored;
  std::vector<std::string> names;
  for (const auto& task : std::filesystem::directory_iterator(demos, ignored))
    for (const auto& variant : std::filesystem::directory_iterator(task.path(), ignored))
      if (std::filesystem::exists(variant.path() / "config.json", ignored))
        names.push_back((task.path().filename() / variant.path().filename()).string());
  std::ranges::sort(names);
  return names;
}

}  // namespace headroom
