#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/builders.h"
#include "tests/core/checkpoint/torch_builders.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kIndex = "model.safetensors.index.json";

// One shard with the named tensors, two bytes each.
std::string shard(const std::vector<std::string>& names, const json& metadata = nullptr, const char* dtype = "U8") {
  json header = json::object();
  if (!metadata.is_null()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const std::string& name : names) {
    const std::size_t extent = dtype == std::string_view("U8") ? 2 : 1;
    header[name] = {{"dtype", dtype}, {"shape", {extent}}, {"data_offsets", {offset, offset + 2}}};
    offset += 2;
  }
  return safetensors(header.dump(), std::string(offset, '\x05'));
}

std::string index_of(const json& weight_map, const json& total_size = nullptr) {
  json root = {{"weight_map", weight_map}};
  if (!total_size.is_null()) root["metadata"] = {{"total_size", total_size}};
  return root.dump();
}

bool warns(const Checkpoint& checkpoint, const std::string& part) {
  for (const std::string& warning : checkpoint.warnings())
    if (warning.find(part) != std::string::npos) return true;
  return false;
}

Error refusal(const fs::path& folder) {
  const auto opened = Checkpoint::open(folder);
  CATCH_REQUIRE(!opened.has_value());
  CATCH_CHECK(exit_code(opened.error().code) == 3);
  return opened.error();
}

void write_two_shards(const TempFolder& folder) {
  folder.write("1.safetensors", shard({"a", "b"}));
  folder.write("2.safetensors", shard({"c"}));
}

const json kTwoShards = {{"a", "1.safetensors"}, {"b", "1.safetensors"}, {"c", "2.safetensors"}};

}  // namespace

CATCH_TEST_CASE("shards: tensors of all files are found, and read from their own file") {
  const TempFolder folder;
  write_two_shards(folder);
  folder.write(kIndex, index_of(kTwoShards, 6));
  folder.write("config.json", R"({"model_type":"llama"})");
  folder.write("tokenizer.json", "{}");
  const auto opened = Checkpoint::open(folder.path());
  CATCH_REQUIRE(opened.has_value());
  const Checkpoint& checkpoint = **opened;
  CATCH_CHECK(checkpoint.files().size() == 2);
  CATCH_CHECK(checkpoint.tensors().size() == 3);
  CATCH_CHECK(checkpoint.missing_tensors().empty());
  CATCH_CHECK(checkpoint.warnings().empty());
  CATCH_CHECK(checkpoint.find("c")->file == 1);
  std::vector<float> values(2);
  CATCH_REQUIRE(checkpoint.read(*checkpoint.find("c"), 0, std::span<float>(values)).has_value());
  CATCH_CHECK(values == std::vector<float>{5.0F, 5.0F});
  CATCH_CHECK(checkpoint.config()["model_type"] == "llama");
  CATCH_CHECK(checkpoint.read_sibling("tokenizer.json").value() == "{}");
  CATCH_CHECK(checkpoint.read_sibling("vocab.json").error().code == ErrorCode::NotFound);
  CATCH_CHECK(checkpoint.file_hashes().value().size() == 2);
}

CATCH_TEST_CASE("catalogue 39: a missing shard is listed, the rest opens as partial") {
  const TempFolder folder;
  folder.write("1.safetensors", shard({"a", "b"}));
  folder.write(kIndex, index_of(kTwoShards, 6));
  const auto opened = Checkpoint::open(folder.path());
  CATCH_REQUIRE(opened.has_value());
  CATCH_CHECK((*opened)->tensors().size() == 2);
  CATCH_REQUIRE((*opened)->missing_tensors().size() == 1);
  CATCH_CHECK((*opened)->missing_tensors()[0] == "c");
  CATCH_CHECK(warns(**opened, "the shard 2.safetensors is missing"));
  fs::remove(folder.path() / "1.safetensors");
  refusal(folder.path());
}

CATCH_TEST_CASE("catalogue 40: shard names that lead out of the folder are refused before anything is opened") {
  for (const std::string name :
       {"../secret.safetensors", "sub/../../secret.safetensors", "/etc/passwd", "https://example.org/a.safetensors",
        "C:\\model.safetensors", "..\\secret", "", "a\nb", "..", "C:/model"}) {
    const TempFolder folder;
    // A good shard that would be a missing-tensor error if it were opened first.
    folder.write("1.safetensors", "not a shard");
    folder.write(kIndex, index_of({{"a", "1.safetensors"}, {"c", name}}));
    CATCH_INFO(name);
    const Error error = refusal(folder.path());
    CATCH_CHECK(error.found == name);
    CATCH_CHECK(error.tensor == "c");
  }
}

CATCH_TEST_CASE("catalogue 40: a link out of the folder is refused, a hub cache's own links open") {
  const TempFolder root;
  const fs::path model = root.path() / "models--a--b";
  const fs::path snapshot = model / "snapshots" / "0123";
  fs::create_directories(snapshot);
  fs::create_directories(model / "blobs");
  root.write("outside.safetensors", shard({"a"}));
  root.write("models--a--b/blobs/deadbeef", shard({"a"}));
  root.write("models--a--b/snapshots/0123/" + std::string(kIndex), index_of({{"a", "1.safetensors"}}));
  fs::create_symlink("../../blobs/deadbeef", snapshot / "1.safetensors");
  CATCH_CHECK(Checkpoint::open(snapshot).has_value());
  fs::create_directory_symlink(snapshot, root.path() / "shortcut");
  CATCH_CHECK(Checkpoint::open(root.path() / "shortcut").has_value());
  for (const fs::path& target : {root.path() / "outside.safetensors", fs::path("../../../outside.safetensors")}) {
    fs::remove(snapshot / "1.safetensors");
    fs::create_symlink(target, snapshot / "1.safetensors");
    CATCH_CHECK(refusal(snapshot).found == fs::canonical(root.path() / "outside.safetensors").string());
  }
  // A folder in between that is a link.
  fs::create_directory(root.path() / "elsewhere");
  root.write("elsewhere/1.safetensors", shard({"a"}));
  fs::create_directory_symlink(root.path() / "elsewhere", snapshot / "sub");
  root.write("models--a--b/snapshots/0123/" + std::string(kIndex), index_of({{"a", "sub/1.safetensors"}}));
  refusal(snapshot);
}

CATCH_TEST_CASE("catalogue 41: a tensor absent from its shard, in two shards, or in another shard") {
  const TempFolder folder;
  write_two_shards(folder);
  json map = kTwoShards;
  map["d"] = "2.safetensors";
  folder.write(kIndex, index_of(map));
  CATCH_CHECK(refusal(folder.path()).tensor == "d");
  folder.write(kIndex, index_of(kTwoShards));
  folder.write("2.safetensors", shard({"b", "c"}));
  const Error twice = refusal(folder.path());
  CATCH_CHECK(twice.tensor == "b");
  CATCH_CHECK(twice.found == "1.safetensors and 2.safetensors");
  folder.write("1.safetensors", shard({"a"}));
  CATCH_CHECK(refusal(folder.path()).tensor == "b");
  folder.write("1.safetensors", shard({"a", "b", "extra"}));
  folder.write("2.safetensors", shard({"c"}));
  const auto opened = Checkpoint::open(folder.path());
  CATCH_REQUIRE(opened.has_value());
  CATCH_CHECK(warns(**opened, "not in the index (1): extra"));
}

CATCH_TEST_CASE("catalogue 42: total_size that disagrees is warned about with both numbers") {
  const TempFolder folder;
  write_two_shards(folder);
  folder.write(kIndex, index_of(kTwoShards, 7));
  const auto opened = Checkpoint::open(folder.path());
  CATCH_REQUIRE(opened.has_value());
  CATCH_CHECK(warns(**opened, "total_size 7, the tensors have 6 bytes"));
}

CATCH_TEST_CASE("catalogue 43: shards of different checkpoints are warned about") {
  const TempFolder folder;
  folder.write(kIndex, index_of({{"layers.0.w", "1.safetensors"}, {"layers.1.w", "2.safetensors"}}));
  const auto opened_with = [&](const std::string& first, const std::string& second) {
    folder.write("1.safetensors", first);
    folder.write("2.safetensors", second);
    return Checkpoint::open(folder.path());
  };
  const auto metadata =
      opened_with(shard({"layers.0.w"}, {{"format", "pt"}}), shard({"layers.1.w"}, {{"format", "mlx"}}));
  CATCH_REQUIRE(metadata.has_value());
  CATCH_CHECK(warns(**metadata, "__metadata__ of 1.safetensors and 2.safetensors differ"));
  const auto dtypes = opened_with(shard({"layers.0.w"}, nullptr, "F16"), shard({"layers.1.w"}, nullptr, "BF16"));
  CATCH_REQUIRE(dtypes.has_value());
  CATCH_CHECK(warns(**dtypes, "layers.0.w is F16 and layers.1.w is BF16"));
  CATCH_CHECK(opened_with(shard({"layers.0.w"}), shard({"layers.1.w"})).value()->warnings().empty());
  const fs::path old = folder.path() / "1.safetensors";
  fs::last_write_time(old, fs::last_write_time(old) - std::chrono::hours(24 * 365));
  const auto times = Checkpoint::open(folder.path());
  CATCH_REQUIRE(times.has_value());
  CATCH_CHECK(warns(**times, "more than a day apart"));
}

CATCH_TEST_CASE("catalogue 44: config.json missing, malformed, not an object, too large, replaced by --config") {
  const TempFolder folder;
  folder.write("model.safetensors", shard({"a"}));
  const auto without = Checkpoint::open(folder.path());
  CATCH_REQUIRE(without.has_value());
  CATCH_CHECK((*without)->config().is_null());
  folder.write("config.json", "{\"a\":1,}");
  const Error malformed = refusal(folder.path());
  CATCH_CHECK(malformed.offset == 7);
  CATCH_CHECK(malformed.file == (folder.path() / "config.json").string());
  folder.write("config.json", "[1]");
  CATCH_CHECK(refusal(folder.path()).offset == 0);
  fs::resize_file(folder.path() / "config.json", std::uintmax_t{1} << 30);
  CATCH_CHECK(refusal(folder.path()).offset == 64 << 20);
  CheckpointOptions options;
  options.config = folder.write("other.json", R"({"model_type":"headroom"})");
  const auto replaced = Checkpoint::open(folder.path(), options);
  CATCH_REQUIRE(replaced.has_value());
  CATCH_CHECK((*replaced)->config()["model_type"] == "headroom");
  options.config = folder.path() / "absent.json";
  CATCH_CHECK(Checkpoint::open(folder.path(), options).error().code == ErrorCode::NotFound);
}

CATCH_TEST_CASE("a damaged index is refused") {
  const TempFolder folder;
  write_two_shards(folder);
  for (const std::string index :
       {"", "{", "[]", "{}", R"({"weight_map":{}})", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})",
        R"({"weight_map":{"a":"1.safetensors","a":"1.safetensors"}})"}) {
    folder.write(kIndex, index);
    CATCH_INFO(index);
    CATCH_CHECK(refusal(folder.path()).file == (folder.path() / kIndex).string());
  }
}

CATCH_TEST_CASE("catalogue 3: a folder opens by what it holds, or says what is missing") {
  const TempFolder folder;
  CATCH_CHECK(refusal(folder.path()).message.find("has no weights") != std::string::npos);
  folder.write("config.json", "{}");
  CATCH_CHECK(refusal(folder.path()).message.find("config.json but no weights") != std::string::npos);
  folder.write("model.onnx", "\x08\x07");
  CATCH_CHECK(Checkpoint::open(folder.path()).error().code == ErrorCode::Unsupported);
  folder.write("optimizer.pt", "not looked at");
  CATCH_CHECK(Checkpoint::open(folder.path()).error().code == ErrorCode::Unsupported);
  const auto torch = [](const char* name) {
    return torch_zip(pickle_dict({{name, pickle_tensor("0", 2, 0, {2}, {1})}}), {std::string(8, '\x3f')});
  };
  folder.write("last.ckpt", torch("last"));
  CATCH_CHECK(Checkpoint::open(folder.path()).value()->format() == ContainerFormat::Torch);
  folder.write("other.bin", torch("other"));
  CATCH_CHECK(refusal(folder.path()).message.find("several PyTorch files") != std::string::npos);
  folder.write("pytorch_model.bin", torch("model"));
  CATCH_CHECK(Checkpoint::open(folder.path()).value()->find("model") != nullptr);
  folder.write("pytorch_model.bin.index.json", index_of({{"last", "last.ckpt"}, {"other", "other.bin"}}));
  CATCH_CHECK(Checkpoint::open(folder.path()).value()->tensors().size() == 2);
  folder.write("other.bin", shard({"other"}));
  CATCH_CHECK(refusal(folder.path()).message.find("another format") != std::string::npos);
  folder.write("x.gguf", gguf_file(gguf_header(0, 0), ""));
  CATCH_CHECK(Checkpoint::open(folder.path()).value()->format() == ContainerFormat::Gguf);
  CATCH_CHECK(Checkpoint::open(folder.path()).value()->config().is_null());
  folder.write("x.safetensors", shard({"a"}));
  CATCH_CHECK(Checkpoint::open(folder.path()).value()->format() == ContainerFormat::Safetensors);
  folder.write("y.safetensors", shard({"b"}));
  CATCH_CHECK(refusal(folder.path()).message.find("several safetensors files") != std::string::npos);
  folder.write("model.safetensors", shard({"c"}));
  CATCH_CHECK(Checkpoint::open(folder.path()).value()->find("c") != nullptr);
  folder.write(kIndex, index_of({{"a", "x.safetensors"}}));
  CATCH_CHECK(Checkpoint::open(folder.path()).value()->find("a") != nullptr);
}

}  // namespace headroom::test
