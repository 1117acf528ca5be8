#include "app/figures/figure_runs.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/io/run_file.h"
#include "core/run/read_run.h"

namespace headroom {

std::string FigureRun::attribute(std::string_view wanted) const {
  if (run == nullptr && history == nullptr) return {};
  const auto& all = run != nullptr ? run->attributes : history->attributes;
  const auto found = all.find(wanted);
  return found == all.end() ? std::string() : found->second;
}

Result<FigureRun> read_figure_run(const std::filesystem::path& path) {
  std::map<std::string, std::string, std::less<>> attributes;
  if (is_hdf5_file(path)) {
    HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
    for (const char* name : {"schema_name", "recipe_sha256", "variant", "seed", "created_utc", "device",
                             "dtype_compute", "source", "diverged_step"})
      if (const Result<std::string> text = file->root_attribute(name)) attributes.emplace(name, *text);
  }
  if (attributes.contains("schema_name") && attributes.at("schema_name") == "headroom-training") {
    HEADROOM_TRY(StoredHistory curves, read_history(path, std::nullopt));
    return FigureRun{path, nullptr,
                     std::make_shared<const FigureHistory>(FigureHistory{std::move(curves), std::move(attributes)})};
  }
  HEADROOM_TRY(auto run, read_run_without_predictions(path));
  return FigureRun{path, std::move(run)};
}

}  // namespace headroom
