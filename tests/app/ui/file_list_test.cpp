#include "app/ui/file_list.h"

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::size_t bytes = 3) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << std::string(bytes, 'x');
}

std::vector<std::string> names(const FileList& list) {
  std::vector<std::string> out;
  for (const FileItem& item : list.items) out.push_back(item.name);
  return out;
}

CATCH_TEST_CASE("file list: folders first, natural order, hidden ones left out") {
  const test::TempFolder temp;
  for (const char* name : {"step10.safetensors", "step9.safetensors", "Alpha.h5", "beta.txt", ".secret"})
    write(temp.path() / name);
  write(temp.path() / "zeta" / "x");
  write(temp.path() / "model" / "config.json");
  write(temp.path() / "model" / "model.safetensors");
  const auto list = list_folder(temp.path());
  CATCH_REQUIRE(list);
  CATCH_CHECK(names(*list) == std::vector<std::string>{"model", "zeta", "Alpha.h5", "beta.txt", "step9.safetensors",
                                                       "step10.safetensors"});
  CATCH_CHECK(list->items[0].kind == FileKind::ModelFolder);
  CATCH_CHECK(list->items[1].kind == FileKind::Folder);
  CATCH_CHECK(list->items[2].kind == FileKind::Run);
  CATCH_CHECK_FALSE(list->items[3].opens());
  CATCH_CHECK(list->items[4].kind == FileKind::Checkpoint);
  CATCH_CHECK(list->items[4].size_bytes == 3);
  CATCH_CHECK(list->items[4].modified_unix > 1'600'000'000);
  FileListOptions all;
  all.hidden = true;
  CATCH_CHECK(list_folder(temp.path(), all)->items.size() == 7);
  all.most = 2;
  CATCH_CHECK(list_folder(temp.path(), all)->left_out == 5);
}

CATCH_TEST_CASE("file list: histories of trainings and folders that were trained into are told and open") {
  const test::TempFolder temp;
  write(temp.path() / "training.h5");
  write(temp.path() / "seed1" / "training.h5");
  write(temp.path() / "hf" / "checkpoint-500" / "config.json");
  write(temp.path() / "other" / "checkpoint-old" / "config.json");
  const auto list = list_folder(temp.path());
  CATCH_REQUIRE(list);
  CATCH_CHECK(names(*list) == std::vector<std::string>{"hf", "other", "seed1", "training.h5"});
  CATCH_CHECK(list->items[0].kind == FileKind::TrainingFolder);
  CATCH_CHECK(list->items[1].kind == FileKind::Folder);
  CATCH_CHECK(list->items[2].kind == FileKind::TrainingFolder);
  CATCH_CHECK(list->items[3].kind == FileKind::Training);
  for (const std::size_t i : {0U, 2U, 3U}) CATCH_CHECK(list->items[i].opens());
  CATCH_CHECK(list_folder(temp.path() / "hf")->model);
  CATCH_CHECK_FALSE(list_folder(temp.path() / "other")->model);
}

CATCH_TEST_CASE("file list: what cannot be listed says why") {
  const test::TempFolder temp;
  write(temp.path() / "file");
  CATCH_CHECK(list_folder(temp.path() / "none").error().code == ErrorCode::NotFound);
  CATCH_CHECK(list_folder(temp.path() / "file").error().code == ErrorCode::InvalidArgument);
  fs::create_symlink(temp.path() / "nowhere", temp.path() / "dangling.h5");
  const auto list = list_folder(temp.path());
  CATCH_REQUIRE(list);
  CATCH_CHECK(names(*list) == std::vector<std::string>{"dangling.h5", "file"});
  CATCH_CHECK_FALSE(list->items[0].opens());
}

CATCH_TEST_CASE("file list: natural order is an order") {
  CATCH_CHECK(natural_less("a2", "a10"));
  CATCH_CHECK_FALSE(natural_less("a10", "a2"));
  CATCH_CHECK(natural_less("B1", "b2"));
  CATCH_CHECK(natural_less("a01", "a1b"));
  const char* all[] = {"", "a", "A", "a1", "a01", "a1b", "a10", "b", "9", "10", "x9y2", "x9y10"};
  for (const char* a : all) {
    CATCH_CHECK_FALSE(natural_less(a, a));
    for (const char* b : all) {
      if (std::string(a) != b) CATCH_CHECK(natural_less(a, b) != natural_less(b, a));
    }
  }
}

CATCH_TEST_CASE("file list: typed letters find a name, going round") {
  std::vector<FileItem> items(4);
  items[0].name = "alpha";
  items[1].name = "Beta";
  items[2].name = "bravo";
  items[3].name = "gamma";
  CATCH_CHECK(find_typed(items, "b", 0) == 1);
  CATCH_CHECK(find_typed(items, "b", 2) == 2);
  CATCH_CHECK(find_typed(items, "b", 3) == 1);
  CATCH_CHECK(find_typed(items, "BR", 0) == 2);
  CATCH_CHECK(find_typed(items, "z", 0) == -1);
  CATCH_CHECK(find_typed({}, "a", 0) == -1);
}

CATCH_TEST_CASE("file list: a typed path is completed") {
  const test::TempFolder temp;
  write(temp.path() / "models" / "small.gguf");
  write(temp.path() / "models" / "smol" / "config.json");
  write(temp.path() / "models" / ".hidden");
  const std::string folder = (temp.path() / "models").string() + "/";
  CATCH_CHECK(complete_path(folder + "sm") == std::vector<std::string>{folder + "smol/", folder + "small.gguf"});
  CATCH_CHECK(complete_path(folder + ".h") == std::vector<std::string>{folder + ".hidden"});
  CATCH_CHECK(complete_path(folder + "none").empty());
}

}  // namespace
}  // namespace headroom
