#include "app/session/folder_reader.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

struct Gate {
  int now(int Gate::* count) {
    const std::lock_guard lock(mutex);
    return this->*count;
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  int asked = 0, done = 0;
};

FolderReader::Read behind(const std::shared_ptr<Gate>& gate) {
  return [gate](const std::filesystem::path& folder, const FileListOptions& options) {
    std::unique_lock lock(gate->mutex);
    const int asked = ++gate->asked;
    gate->changed.wait(lock, [&] { return gate->open; });
    ++gate->done;
    FileList list;
    list.items.resize(1);
    list.items[0].name = folder.string() + (options.hidden ? " hidden " : " ") + std::to_string(asked);
    return Result<FileList>(list);
  };
}

void open(Gate& gate) {
  const std::lock_guard lock(gate.mutex);
  gate.open = true;
  gate.changed.notify_all();
}

bool comes(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

CATCH_TEST_CASE("a folder is read once, elsewhere, and there when it has answered", "[folders]") {
  const auto gate = std::make_shared<Gate>();
  FolderReader reader({}, behind(gate));
  CATCH_CHECK_FALSE(reader.waiting());
  CATCH_CHECK(reader.listing("/a", false) == nullptr);
  CATCH_CHECK(reader.listing("/a", false) == nullptr);
  CATCH_CHECK(reader.waiting());
  open(*gate);
  CATCH_REQUIRE(comes([&] { return !reader.waiting(); }));
  CATCH_CHECK(reader.listing("/a", false)->list.items[0].name == "/a 1");
  CATCH_CHECK(reader.listing("/a", true) == nullptr);  // another listing
  CATCH_REQUIRE(comes([&] { return !reader.waiting(); }));
  CATCH_CHECK(reader.listing("/a", true)->list.items[0].name == "/a hidden 2");
  reader.forget();
  CATCH_CHECK(reader.listing("/a", false) == nullptr);
  CATCH_REQUIRE(comes([&] { return !reader.waiting(); }));
  CATCH_CHECK(reader.listing("/a", false)->list.items[0].name == "/a 3");
}

CATCH_TEST_CASE("what was asked for before everything was forgotten is dropped when it comes", "[folders]") {
  const auto gate = std::make_shared<Gate>();
  FolderReader reader({}, behind(gate));
  CATCH_CHECK(reader.listing("/a", false) == nullptr);
  CATCH_REQUIRE(comes([&] { return gate->now(&Gate::asked) == 1; }));
  reader.forget();
  CATCH_CHECK(reader.listing("/a", false) == nullptr);
  CATCH_REQUIRE(comes([&] { return gate->now(&Gate::asked) == 2; }));
  open(*gate);
  CATCH_REQUIRE(comes([&] { return !reader.waiting(); }));
  CATCH_CHECK(reader.listing("/a", false)->list.items[0].name == "/a 2");
}

CATCH_TEST_CASE("folders that never answer are no reason to wait, to grow without end, or to stay", "[folders]") {
  const auto gate = std::make_shared<Gate>();
  {
    FolderReader reader({}, behind(gate));
    for (std::size_t i = 0; i < FolderReader::kMostAtOnce; ++i)
      CATCH_CHECK(reader.listing("/" + std::to_string(i), false) == nullptr);
    const auto refused = reader.listing("/one more", false);
    CATCH_REQUIRE(refused);
    CATCH_REQUIRE(refused->error);
    CATCH_CHECK(refused->error->message.find("do not answer") != std::string::npos);
    CATCH_CHECK(refused->error->file == "/one more");
    CATCH_CHECK_FALSE(reader.waiting());
  }
  // It is gone, and none of them has answered: what waited for them would still be there.
  CATCH_CHECK(gate->now(&Gate::done) == 0);
  open(*gate);  // they end before the test does
  CATCH_CHECK(comes([&] { return gate->now(&Gate::done) == static_cast<int>(FolderReader::kMostAtOnce); }));
}

CATCH_TEST_CASE("what reading throws is an error of that folder", "[folders]") {
  FolderReader reader(
      {}, [](const auto&, const auto&) -> Result<FileList> { throw std::runtime_error("no memory for names"); });
  CATCH_CHECK(reader.listing("/a", false) == nullptr);
  CATCH_REQUIRE(comes([&] { return !reader.waiting(); }));
  CATCH_REQUIRE(reader.listing("/a", false)->error);
  CATCH_CHECK(reader.listing("/a", false)->error->message.find("no memory for names") != std::string::npos);
}

}  // namespace
}  // namespace headroom::test
