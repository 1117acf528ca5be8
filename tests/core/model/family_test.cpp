// Every row of the family table: config and tensors give the description that core/model/ARCHITECTURES.md asks for, and
// a checkpoint that does not fit is refused with the tensor's name.
#include "core/model/family.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/decoder_parts.h"
#include "tests/core/model/every_row.h"
#include "tests/core/model/model_files.h"
#include "tests/core/model/spec_text.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

struct MarkedTensor {
  TensorLine tensor;
  bool optional = false, decides_layout = false;
  std::string bare_name;  // without the wrapper of torch.compile
};

struct RowFiles {
  nlohmann::json config;
  std::vector<MarkedTensor> tensors;

  [[nodiscard]] std::vector<TensorLine> lines() const {
    std::vector<TensorLine> result;
    for (const MarkedTensor& marked : tensors) result.push_back(marked.tensor);
    return result;
  }
};

RowFiles files_of(const FamilyRow& row) {
  RowFiles files{nlohmann::json::parse(row.config), {}};
  const nlohmann::json& config = files.config;
  int layers = 0;
  const nlohmann::json& decoder = config.contains("text_config") ? config["text_config"] : config;
  for (const char* key : {"n_layer", "n_layers", "num_layers", "num_hidden_layers"})
    layers = decoder.value(key, layers);
  for (TensorLine& tensor : tensor_lines(row.tensors, layers)) {
    MarkedTensor marked;
    marked.optional = tensor.name.front() == '?';
    marked.decides_layout = tensor.name.front() == '!';
    if (marked.optional || marked.decides_layout) tensor.name.erase(0, 1);
    const std::size_t wrapper = tensor.name.starts_with("_orig_mod.") ? std::string_view("_orig_mod.").size() : 0;
    marked.bare_name = tensor.name.substr(wrapper);
    marked.tensor = tensor;
    files.tensors.push_back(std::move(marked));
  }
  return files;
}

}  // namespace

CATCH_TEST_CASE("family: the description that follows from config and tensors") {
  for (const FamilyRow& row : every_row()) {
    CATCH_INFO(row.name);
    const RowFiles files = files_of(row);
    const auto model = ModelFolder(files.config, files.lines()).describe();
    CATCH_INFO((model ? "" : describe(model.error())));
    CATCH_REQUIRE(model.has_value());
    CATCH_CHECK(spec_text(*model) == unindented(row.description));
    for (const std::string& warning : model->warnings) CATCH_CHECK(warning == "");
  }
}

CATCH_TEST_CASE("family: every family has a row") {
  const std::vector<FamilyRow>& rows = every_row();
  for (const Family* family : families()) {
    CATCH_INFO(std::string(family->model_type));
    CATCH_CHECK(std::ranges::any_of(rows, [&](const FamilyRow& row) {
      return nlohmann::json::parse(row.config)["model_type"] == family->model_type;
    }));
    CATCH_CHECK_FALSE(family->summary.empty());
  }
}

CATCH_TEST_CASE("family: a missing tensor is named, with the shape it should have") {
  for (const FamilyRow& row : every_row()) {
    const RowFiles files = files_of(row);
    for (std::size_t i = 0; i < files.tensors.size(); ++i) {
      const MarkedTensor& marked = files.tensors[i];
      CATCH_INFO(row.name << ": without " << marked.tensor.name);
      std::vector<TensorLine> tensors = files.lines();
      tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
      const ModelFolder folder(files.config, tensors);
      const auto model = folder.describe();
      CATCH_CHECK(model.has_value() == marked.optional);
      if (model || marked.optional) continue;
      CATCH_CHECK(model.error().code == ErrorCode::Corrupt);
      CATCH_CHECK(model.error().found == "nothing");
      CATCH_CHECK(model.error().file == folder.path());
      if (marked.decides_layout) continue;
      // The embedding tells the prefix of all names: without it the other prefix is expected.
      const std::string& named = model.error().tensor;
      CATCH_CHECK((marked.bare_name.ends_with(named) || named.ends_with(marked.bare_name)));
      CATCH_CHECK(model.error().expected == shape_text(marked.tensor.shape));
    }
  }
}

CATCH_TEST_CASE("family: a tensor of another shape is named, expected and found") {
  for (const FamilyRow& row : every_row()) {
    const RowFiles files = files_of(row);
    for (std::size_t i = 0; i < files.tensors.size(); ++i) {
      const MarkedTensor& marked = files.tensors[i];
      if (marked.optional) continue;
      CATCH_INFO(row.name << ": other " << marked.tensor.name);
      std::vector<TensorLine> tensors = files.lines();
      if (tensors[i].shape.empty())
        tensors[i].shape.push_back(2);
      else
        ++tensors[i].shape.back();
      const ModelFolder folder(files.config, tensors);
      const auto model = folder.describe();
      CATCH_CHECK_FALSE(model.has_value());
      if (model) continue;
      CATCH_CHECK(model.error().code == ErrorCode::Corrupt);
      CATCH_CHECK(model.error().file == folder.path());
      if (marked.decides_layout) continue;
      CATCH_CHECK(model.error().tensor == marked.bare_name);
      CATCH_CHECK(model.error().expected == shape_text(marked.tensor.shape));
      CATCH_CHECK(model.error().found == shape_text(tensors[i].shape));
    }
  }
}

CATCH_TEST_CASE("family: lambda_init by depth") {
  // 0.8 − 0.6·exp(−0.3·depth), with six digits.
  const std::pair<std::int64_t, double> goldens[] = {{-1, -0.009915}, {0, 0.200000}, {1, 0.355509},  {2, 0.470713},
                                                     {3, 0.556058},   {5, 0.666122}, {10, 0.770128}, {17, 0.796342},
                                                     {31, 0.799945},  {10000, 0.8}};
  for (const auto& [depth, value] : goldens) {
    CATCH_INFO("depth " << depth);
    CATCH_CHECK(std::abs(lambda_init(depth) - value) < 5e-7);
  }
}

CATCH_TEST_CASE("family: a file without lm_head is tied and says so") {
  const RowFiles files = files_of(kFamilyRows.front());
  std::vector<TensorLine> tensors = files.lines();
  std::erase_if(tensors, [](const TensorLine& tensor) { return tensor.name == "lm_head.weight"; });
  const auto model = ModelFolder(files.config, tensors).describe();
  CATCH_REQUIRE(model.has_value());
  CATCH_CHECK(model->tied);
  CATCH_CHECK(model->lm_head.weight.tensor == "model.embed_tokens.weight");
  CATCH_REQUIRE(model->warnings.size() == 1);
  CATCH_CHECK(model->warnings.front().find("lm_head.weight") != std::string::npos);
}

CATCH_TEST_CASE(
    "family: a DiffLlama with an odd number of key heads is warned about, and pairs values as eager code did") {
  const auto row =
      std::ranges::find(kFamilyRows, std::string_view("diffllama: halves, groups of two"), &FamilyRow::name);
  CATCH_REQUIRE(row != kFamilyRows.end());
  RowFiles files = files_of(*row);
  files.config["num_key_value_heads"] = 1;
  std::vector<TensorLine> tensors = files.lines();
  for (TensorLine& tensor : tensors)
    if (tensor.name.ends_with("k_proj.weight") || tensor.name.ends_with("v_proj.weight")) tensor.shape[0] = 2;
  const auto model = ModelFolder(files.config, tensors).describe();
  CATCH_REQUIRE(model.has_value());
  CATCH_REQUIRE(model->warnings.size() == 1);
  CATCH_CHECK(model->warnings.front().find("num_key_value_heads is odd") != std::string::npos);
  for (const HeadProgram& head : model->blocks[0].attention.heads)
    CATCH_CHECK(head.first.value_blocks == std::vector<std::int64_t>{0, 0});
}

CATCH_TEST_CASE("family: without a model_type the tensor names of differential attention decide") {
  const std::pair<const char*, const char*> rows[] = {{"diff_transformer: V1", "diff_transformer"},
                                                      {"diff_transformer: V2", "diff_transformer"},
                                                      {"llama-differential: heads", "llama-differential"},
                                                      {"Motif: 2.6B", "Motif"},
                                                      {"diffllama: halves", "diffllama"}};
  for (const auto& [name, type] : rows) {
    CATCH_INFO(name);
    const auto row = std::ranges::find_if(
        every_row(), [&](const FamilyRow& each) { return std::string_view(each.name).starts_with(name); });
    CATCH_REQUIRE(row != every_row().end());
    RowFiles files = files_of(*row);
    files.config.erase("model_type");
    const auto model = ModelFolder(files.config, files.lines()).describe();
    CATCH_REQUIRE(model.has_value());
    CATCH_CHECK(model->model_type == type);
    CATCH_CHECK(spec_text(*model) == unindented(row->description));
    files.config["model_type"] = "gpt2";  // what a config says is not questioned
    CATCH_CHECK_FALSE(ModelFolder(files.config, files.lines()).describe().has_value());
  }
}

CATCH_TEST_CASE("family: an unknown or absent model_type is unsupported, by name") {
  RowFiles files = files_of(kFamilyRows.front());
  files.config["model_type"] = "mamba";
  const ModelFolder unknown(files.config, files.lines());
  const auto model = unknown.describe();
  CATCH_REQUIRE_FALSE(model.has_value());
  CATCH_CHECK(model.error().code == ErrorCode::Unsupported);
  CATCH_CHECK(model.error().message == "no head view for model_type 'mamba'");
  CATCH_CHECK(model.error().found == "mamba");
  CATCH_CHECK(model.error().file == unknown.path() / "config.json");
  CATCH_CHECK(model.error().hint == "headroom families lists them");
  const std::pair<const char*, const char*> near_names[] = {
      {"qwen_3", "qwen3"}, {"gpt-neox", "gpt_neox"}, {"olmo_2", "olmo2"}, {"lama", "llama"}};
  for (const auto& [type, nearest] : near_names) {
    files.config["model_type"] = type;
    const auto near = ModelFolder(files.config, files.lines()).describe();
    CATCH_REQUIRE_FALSE(near.has_value());
    CATCH_CHECK(near.error().expected == "one of " + std::to_string(families().size()) + ", such as " + nearest);
  }
  for (const nlohmann::json& type : {nlohmann::json(), nlohmann::json(7), nlohmann::json("")}) {
    files.config["model_type"] = type;
    const auto untyped = ModelFolder(files.config, files.lines()).describe();
    CATCH_REQUIRE_FALSE(untyped.has_value());
    CATCH_CHECK(untyped.error().code == ErrorCode::Unsupported);
    CATCH_CHECK(untyped.error().message == "config.json has no model_type");
  }
}

}  // namespace headroom::test
