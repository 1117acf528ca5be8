// Tiny checkpoint folders for tests: a config and a list of tensors. Every tensor is F32 and holds 0, 1, 2, … in the
// order of the file, so that a value says where it was stored. Plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/family.h"
#include "tests/core/checkpoint/builders.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {

struct TensorLine {
  std::string name;
  std::vector<std::int64_t> shape;
};

// One tensor a line: its name and its extents. A name with '#' stands for one tensor of every layer.
[[nodiscard]] inline std::vector<TensorLine> tensor_lines(std::string_view text, int layers) {
  std::vector<TensorLine> tensors;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    TensorLine tensor;
    if (!(words >> tensor.name)) continue;
    for (std::int64_t extent = 0; words >> extent;) tensor.shape.push_back(extent);
    const std::size_t mark = tensor.name.find('#');
    for (int layer = 0; layer < (mark == std::string::npos ? 1 : layers); ++layer) {
      TensorLine copy = tensor;
      if (mark != std::string::npos) copy.name.replace(mark, 1, std::to_string(layer));
      tensors.push_back(std::move(copy));
    }
  }
  return tensors;
}

[[nodiscard]] inline std::int64_t element_count(const TensorLine& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.shape) count *= extent;
  return count;
}

[[nodiscard]] inline std::string counting_floats(std::int64_t count) {
  std::string data;
  for (std::int64_t i = 0; i < count; ++i) append(data, static_cast<float>(i));
  return data;
}

[[nodiscard]] inline std::string safetensors_of(const std::vector<TensorLine>& tensors) {
  nlohmann::ordered_json header;
  std::string data;
  for (const TensorLine& tensor : tensors) {
    const std::size_t begin = data.size();
    data += counting_floats(element_count(tensor));
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  return safetensors(header.dump(), data);
}

// A folder with config.json and model.safetensors.
class ModelFolder {
 public:
  ModelFolder(const nlohmann::json& config, const std::vector<TensorLine>& tensors) {
    folder_.write("config.json", config.dump());
    folder_.write("model.safetensors", safetensors_of(tensors));
  }

  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] Result<ModelSource> source() const {
    HEADROOM_TRY(std::shared_ptr<const Checkpoint> checkpoint, Checkpoint::open(path()));
    return ModelSource::create(std::move(checkpoint));
  }
  [[nodiscard]] Result<ModelSpec> describe() const {
    HEADROOM_TRY(const ModelSource opened, source());
    return describe_model(opened);
  }

 private:
  TempFolder folder_;
};

}  // namespace headroom::test
