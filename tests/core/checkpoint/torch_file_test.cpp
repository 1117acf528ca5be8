// PyTorch files: which tensors are found, where their numbers are, and what is refused. The files of torch itself are
// read in tests/oracle/test_torch_files.py.
#include "core/checkpoint/torch_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/torch_builders.h"
#include "tests/support/catch.h"
#include "tests/support/required.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

using namespace std::string_literals;

// 0, 1, 2 …
std::string floats(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) append(out, static_cast<float>(i));
  return out;
}

std::vector<float> values_of(const Checkpoint& checkpoint, std::string_view name) {
  const TensorInfo* tensor = checkpoint.find(name);
  CATCH_REQUIRE(tensor);
  std::vector<float> out(static_cast<std::size_t>(tensor->element_count()));
  required_void(checkpoint.read(*tensor, 0, std::span<float>(out)));
  return out;
}

struct Refusal {
  ErrorCode code = ErrorCode::Corrupt;
  std::string text;
  [[nodiscard]] bool says(std::string_view words) const { return text.find(words) != std::string::npos; }
};

class Files {
 public:
  [[nodiscard]] std::shared_ptr<const Checkpoint> open(const std::string& bytes) const {
    return required(Checkpoint::open(folder_.write("model.pt", bytes)));
  }
  [[nodiscard]] Refusal refusal(const std::string& bytes) const {
    const auto path = folder_.write("model.pt", bytes);
    const auto opened = Checkpoint::open(path);
    CATCH_REQUIRE_FALSE(opened.has_value());
    CATCH_CHECK(opened.error().file == path.string());
    return {opened.error().code, describe(opened.error())};
  }

 private:
  TempFolder folder_;
};

std::string replaced(std::string text, std::string_view from, std::string_view to, bool last = false) {
  const std::size_t at = last ? text.rfind(from) : text.find(from);
  CATCH_REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

const std::string kPlain = pickle_dict({{"w", pickle_tensor("0", 12, 0, {3, 4}, {4, 1})}});

}  // namespace

CATCH_TEST_CASE("catalogue 64: views of a storage are read as they are seen, whole and in parts") {
  const Files files;
  const std::string pickle = pickle_dict(
      {{"whole", pickle_tensor("0", 12, 0, {3, 4}, {4, 1})},
       {"turned", pickle_tensor("0", 12, 0, {4, 3}, {1, 4})},
       {"part", pickle_tensor("0", 12, 5, {2, 2}, {4, 2})},
       {"same", pickle_tensor("0", 12, 2, {2, 3}, {0, 1})},
       {"one", pickle_tensor("0", 12, 7, {}, {})},
       {"none", pickle_tensor("0", 12, 12, {0, 4}, {4, 1})},
       {"nothing", pickle_tensor("0", 12, 0, {2147483647, 2147483647, 0, 2147483647, 2147483647}, {0, 0, 0, 0, 0})},
       {"thin", pickle_tensor("0", 12, 4, {1, 4}, {99, 1})}});
  for (const bool old : {false, true}) {
    const auto checkpoint = files.open(old ? torch_old(pickle, {floats(12)}) : torch_zip(pickle, {floats(12)}));
    CATCH_CHECK(checkpoint->format_name() == (old ? "PyTorch (before 1.6)" : "PyTorch (zip)"));
    CATCH_CHECK(checkpoint->tensors().size() == 8);
    CATCH_CHECK(values_of(*checkpoint, "whole") == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    CATCH_CHECK(values_of(*checkpoint, "turned") == std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    CATCH_CHECK(values_of(*checkpoint, "part") == std::vector<float>{5, 7, 9, 11});
    CATCH_CHECK(values_of(*checkpoint, "same") == std::vector<float>{2, 3, 4, 2, 3, 4});
    CATCH_CHECK(values_of(*checkpoint, "one") == std::vector<float>{7});
    CATCH_CHECK(values_of(*checkpoint, "none").empty());
    CATCH_CHECK(values_of(*checkpoint, "nothing").empty());
    CATCH_CHECK(values_of(*checkpoint, "thin") == std::vector<float>{4, 5, 6, 7});
    CATCH_CHECK(checkpoint->find("thin")->strides.empty());
    const TensorInfo& turned = *checkpoint->find("turned");
    const std::vector<float> all = values_of(*checkpoint, "turned");
    for (std::size_t first = 0; first < all.size(); ++first)
      for (std::size_t count = 0; first + count <= all.size(); ++count) {
        std::vector<double> some(count);
        required_void(checkpoint->read(turned, static_cast<std::int64_t>(first), std::span<double>(some)));
        CATCH_CHECK(std::equal(some.begin(), some.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
      }
  }
}

CATCH_TEST_CASE("catalogue 65: of a training's file the model alone is taken, without what wrappers add to its names") {
  const Files files;
  const std::string tensor = pickle_tensor("0", 12, 0, {3}, {1});
  const auto inner = [&](std::string_view name) { return "}(" + pickle_text(name) + tensor + "u"; };
  const auto checkpoint =
      files.open(torch_zip(pickle_dict({{"model", inner("module._orig_mod.w")},
                                        {"optimizer", inner("w")},
                                        {"epoch", pickle_int(3)},
                                        {"args", pickle_global("argparse", "Namespace") + ")\x81}b"}}),
                           {floats(12)}));
  CATCH_REQUIRE(checkpoint->tensors().size() == 1);
  CATCH_CHECK(checkpoint->tensors()[0].name == "w");
  CATCH_CHECK(checkpoint->metadata().dump() == R"({"epoch":3})");
  std::string told;
  for (const std::string& warning : checkpoint->warnings()) told += warning + "\n";
  CATCH_INFO(told);
  for (const char* words : {"those of 'model'", "left out: optimizer, args", "prefix 'module.'", "prefix '_orig_mod.'"})
    CATCH_CHECK(told.find(words) != std::string::npos);
  // The names of a Hugging Face model begin with what could be a wrapper.
  const auto plain =
      files.open(torch_zip(pickle_dict({{"model.embed", tensor}, {"model.norm", tensor}}), {floats(12)}));
  CATCH_CHECK(plain->find("model.embed"));
}

CATCH_TEST_CASE("catalogue 52 and 53: a pickle that names a function no model needs is refused by its name") {
  const Files files;
  const std::vector<std::pair<std::string, std::string>> calls = {{"os", "system"},
                                                                  {"posix", "system"},
                                                                  {"builtins", "eval"},
                                                                  {"__builtin__", "exec"},
                                                                  {"builtins", "getattr"},
                                                                  {"subprocess", "run"},
                                                                  {"torch", "load"},
                                                                  {"torch.hub", "load"},
                                                                  {"runpy", "run_path"},
                                                                  {"pip", "main"},
                                                                  {"pip._internal", "main"},
                                                                  {"operator", "attrgetter"},
                                                                  {"importlib", "import_module"},
                                                                  {"numpy.testing._private.utils", "runstring"}};
  for (const auto& [module, name] : calls) {
    CATCH_INFO(module << "." << name);
    const std::string call = pickle_global(module, name) + "(" + pickle_text("touch canary") + "tR";
    const std::string stacked = pickle_text(module) + pickle_text(name) + "\x93(" + pickle_text("x") + "tR";
    for (const std::string& evil : {call, stacked, pickle_global(module, name)}) {
      for (const std::string& pickle : {pickle_dict({{"w", pickle_tensor("0", 12, 0, {3, 4}, {4, 1})}, {"x", evil}}),
                                        "\x80\x02" + evil + "garbage"}) {
        const Refusal refusal = files.refusal(torch_zip(pickle, {floats(12)}));
        CATCH_CHECK(refusal.code == ErrorCode::Corrupt);
        CATCH_CHECK(refusal.says(module + "." + name));
      }
      CATCH_CHECK(files.refusal(torch_old("\x80\x02" + evil + ".", {})).says(module + "." + name));
    }
  }
  // A name with dots leads to what is inside: builtins' `object.__reduce__`, say.
  CATCH_CHECK(files.refusal(torch_zip(pickle_dict({{"x", pickle_global("builtins", "object.__subclasses__")}}), {}))
                  .says("object.__subclasses__"));
  // Classes of somebody's own are kept as they are written, also in a module that is called as one of Python's.
  for (const char* module : {"code.model", "types", "io.config"}) {
    const std::string own = pickle_global(module, "SimpleNamespace") + ")\x81}b";
    const auto kept = files.open(
        torch_zip(pickle_dict({{"w", pickle_tensor("0", 12, 0, {3, 4}, {4, 1})}, {"c", own}}), {floats(12)}));
    CATCH_CHECK(kept->tensors().size() == 1);
  }
  const auto opened = files.open(torch_zip(pickle_dict({{"w", pickle_tensor("0", 12, 0, {3, 4}, {4, 1})},
                                                        {"c", pickle_global("mine.config", "Config") + ")\x81}b"}}),
                                           {floats(12)}));
  CATCH_CHECK(opened->tensors().size() == 1);
}

CATCH_TEST_CASE("catalogue 55 and 66: what is no file of weights is told by name") {
  const Files files;
  const Refusal script = files.refusal(
      zip_file({{"archive/data.pkl", kPlain}, {"archive/code/m.py", "x"}, {"archive/data/0", floats(12)}}));
  CATCH_CHECK((script.code == ErrorCode::Unsupported && script.says("TorchScript")));
  const Refusal big = files.refusal(
      zip_file({{"archive/data.pkl", kPlain}, {"archive/byteorder", "big"}, {"archive/data/0", floats(12)}}));
  CATCH_CHECK((big.code == ErrorCode::Unsupported && big.says("byteorder little, found big")));
  CATCH_CHECK(files.refusal(zip_file({{"archive/version", "3"}})).says("data.pkl"));
  CATCH_CHECK(files.refusal(torch_zip(pickle_dict({{"a", pickle_int(1)}}), {})).says("no tensors"));
  const auto odd = files.open(
      torch_zip(pickle_dict({{"w", pickle_tensor("0", 12, 0, {3, 4}, {4, 1})},
                             {"q", pickle_global("torch._utils", "_rebuild_qtensor") + "(" + pickle_int(1) + "tR"}}),
                {floats(12)}));
  CATCH_REQUIRE(odd->find("q"));
  CATCH_CHECK(odd->find("q")->dtype == DType::Unsupported);
}

CATCH_TEST_CASE("catalogue 56, 57 and 58: pickles that do not hold together, and those without end") {
  const Files files;
  const auto refusal = [&](const std::string& ops) { return files.refusal(torch_zip("\x80\x02" + ops, {})); };
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"", "ends inside"},
      {".", "empty stack"},
      {"0.", "empty stack"},
      {"}s.", "empty stack"},
      {"t.", "mark is missing"},
      {"}u.", "mark is missing"},
      {"}(" + pickle_text("a") + "u.", "no value"},
      {"]" + pickle_int(1) + pickle_int(2) + "s.", "no dict"},
      {pickle_int(1) + pickle_int(2) + "a.", "no list"},
      {"h\x07.", "refers to value 7"},
      {"j\xFF\xFF\xFF\xFF.", "refers to value 4294967295"},
      {"q\x01.", "empty stack"},
      {"\x93.", "empty stack"},
      {pickle_int(1) + pickle_int(2) + "\x93.", "no text"},
      {pickle_text("f") + pickle_int(2) + "R.", "no tuple"},
      {"X" + little_endian(std::uint32_t{0xFFFFFFFF}) + "a", "ends inside"},
      {"\x8d" + little_endian(std::uint64_t{1} << 62) + "a", "ends inside"},
      {"\x8e" + little_endian(~std::uint64_t{0}) + "a", "ends inside"},
      {"\x95" + little_endian(std::uint64_t{1} << 62) + "N.", "frame"},
      {"\x8b" + little_endian(std::uint32_t{0x7FFFFFFF}) + "a", "ends inside"},
      {"c" + std::string(5000, 'a') + "\n", "too long"},
      {"I1\n.", "opcode 0x49"},
      {"\xFF.", "opcode 0xFF"},
  };
  for (const auto& [ops, words] : cases) {
    const Refusal refused = refusal(ops);
    CATCH_INFO(refused.text << " for " << words);
    CATCH_CHECK(refused.code == ErrorCode::Corrupt);
    CATCH_CHECK(refused.says(words));
    CATCH_CHECK(refused.says("at byte"));
  }
  CATCH_CHECK(files.refusal(torch_zip("\x80\x09N.", {})).code == ErrorCode::Unsupported);
  // A list that holds itself, and one in which everything stands twice: 2^40 values.
  std::string level = pickle_tensor("0", 12, 0, {3, 4}, {4, 1}) + "q\x02";
  for (int i = 0; i < 40; ++i) level = "](" + level + "h" + static_cast<char>(i + 2) + "eq" + static_cast<char>(i + 3);
  for (const std::string& endless : {"\x80\x02]q\x01h\x01"s + "a."s, "\x80\x02"s + level + "."}) {
    const Refusal refused = files.refusal(torch_zip(endless, {floats(12)}));
    CATCH_INFO(refused.text);
    CATCH_CHECK(refused.code == ErrorCode::OutOfMemory);
  }
  CATCH_CHECK(files.refusal(torch_zip("\x80\x02" + std::string(4'100'000, 'N') + ".", {})).says("opcodes"));
}

CATCH_TEST_CASE("catalogue 63: a tensor beyond its storage is refused with both numbers") {
  const Files files;
  struct Case {
    std::int32_t begin;
    std::vector<std::int32_t> shape, strides;
    const char* words;
  };
  for (const Case& test :
       {Case{0, {3, 4}, {4, 2}, "found 15"}, Case{1, {3, 4}, {4, 1}, "found 13"}, Case{-1, {3}, {1}, "negative"},
        Case{0, {3, 4}, {4, -1}, "negative"}, Case{0, {-3}, {1}, "negative"}, Case{0, {3}, {1, 1}, "different lengths"},
        Case{0, {2147483647, 2147483647, 2147483647}, {0, 0, 0}, "64 bits"},
        Case{0, {2147483647, 2147483647}, {0, 0}, "too many times"},
        Case{0, {2147483647, 2, 2}, {2147483647, 1, 1}, "beyond"}}) {
    const std::string pickle = pickle_dict({{"w", pickle_tensor("0", 12, test.begin, test.shape, test.strides)}});
    for (const std::string& bytes : {torch_zip(pickle, {floats(12)}), torch_old(pickle, {floats(12)})}) {
      const Refusal refused = files.refusal(bytes);
      CATCH_INFO(refused.text);
      CATCH_CHECK(refused.code == ErrorCode::Corrupt);
      CATCH_CHECK(refused.says(test.words));
      CATCH_CHECK(refused.says("w"));
    }
  }
  CATCH_CHECK(
      files.refusal(torch_zip(pickle_dict({{"w", pickle_tensor("7", 12, 0, {3}, {1})}}), {floats(12)})).says("data/7"));
}

CATCH_TEST_CASE("torch: an archive beyond 4 GiB, whose places are in the fields of ZIP64") {
  constexpr std::uint64_t kHole = (std::uint64_t{5} << 30) + 4 * 12;  // twelve floats at its end
  const auto elements = static_cast<std::int64_t>(kHole / 4);
  const std::string pickle = "\x80\x02}(" + pickle_text("w") + pickle_global("torch._utils", "_rebuild_tensor_v2") +
                             "((" + pickle_text("storage") + pickle_global("torch", "FloatStorage") + pickle_text("0") +
                             pickle_text("cpu") + "\x8a\x08" + little_endian(elements) + "tQ\x8a\x08" +
                             little_endian(elements - 12) + pickle_tuple({3, 4}) + pickle_tuple({4, 1}) + "\x89)tRu.";
  // The storage first, so that the pickle lies beyond 4 GiB as well.
  const auto header = [](std::string_view name, std::uint64_t size, std::uint32_t crc,
                         std::optional<std::uint64_t> place) {
    std::string out = place ? "PK\1\2-\0"s : "PK\3\4"s;
    out += "-\0"s + std::string(8, '\0') + little_endian(crc) + std::string(8, '\xFF');
    append(out, static_cast<std::uint16_t>(name.size()));
    append(out, static_cast<std::uint16_t>(place ? 28 : 20));
    if (place) out += std::string(10, '\0') + std::string(4, '\xFF');
    out += std::string(name) + "\1\0"s + little_endian(static_cast<std::uint16_t>(place ? 24 : 16));
    out += little_endian(size) + little_endian(size);
    if (place) append(out, *place);
    return out;
  };
  const std::string first = header("a/data/0", kHole, 0, std::nullopt);
  const std::uint64_t second_place = first.size() + kHole;
  const std::string second = header("a/data.pkl", pickle.size(), crc32_of(pickle), std::nullopt) + pickle;
  const std::string directory = header("a/data/0", kHole, 0, std::uint64_t{0}) +
                                header("a/data.pkl", pickle.size(), crc32_of(pickle), second_place);
  const std::uint64_t directory_place = second_place + second.size();
  const auto end = [&](std::uint64_t place) {
    std::string out = "PK\6\6" + little_endian(std::uint64_t{44}) + "-\0-\0"s + std::string(8, '\0');
    append(out, std::uint64_t{2});
    append(out, std::uint64_t{2});
    append(out, static_cast<std::uint64_t>(directory.size()));
    append(out, place);
    out += "PK\6\7"s + std::string(4, '\0') + little_endian(directory_place + directory.size());
    append(out, std::uint32_t{1});
    return out + "PK\5\6" + std::string(4, '\0') + std::string(12, '\xFF') + std::string(2, '\0');
  };
  const TempFolder folder;
  const auto path = folder.write("model.pt", first);
  const auto finish = [&](std::uint64_t place) {
    std::filesystem::resize_file(path, first.size());
    std::filesystem::resize_file(path, second_place - 48);
    std::ofstream(path, std::ios::binary | std::ios::app) << floats(12) << second << directory << end(place);
  };
  finish(directory_place);
  const auto opened = required(Checkpoint::open(path));
  CATCH_CHECK(values_of(*opened, "w") == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CATCH_CHECK(opened->find("w")->offset > (std::uint64_t{5} << 30));
  for (const std::uint64_t lie : {std::uint64_t{0}, directory_place - 1, directory_place + 1, ~std::uint64_t{0}}) {
    finish(lie);
    const auto refused = Checkpoint::open(path);
    CATCH_REQUIRE_FALSE(refused.has_value());
    CATCH_CHECK(refused.error().code == ErrorCode::Corrupt);
  }
}

CATCH_TEST_CASE("catalogue 51, 59, 60, 61, 62 and 67: archives that can be read in two ways, or are cut off") {
  const Files files;
  const std::string good = torch_zip(kPlain, {floats(12)});
  CATCH_CHECK(values_of(*files.open(good), "w").back() == 11.0F);
  const auto refused = [&](const std::string& bytes, ErrorCode code, const char* words) {
    const Refusal refusal = files.refusal(bytes);
    CATCH_INFO(refusal.text << " for " << words);
    CATCH_CHECK(refusal.code == code);
    CATCH_CHECK(refusal.says(words));
  };
  refused(good.substr(0, good.size() / 2), ErrorCode::Corrupt, "cut off after");
  refused(good + "x", ErrorCode::Corrupt, "no directory");
  refused(replaced(good,
                   "\x89"
                   "c",
                   "\x88"
                   "c"),
          ErrorCode::Corrupt, "checksum");
  refused(replaced(good, "archive/data/0", "archive/data/1"), ErrorCode::Corrupt, "different names");
  const std::size_t central = good.find("PK\1\2"), local = 0;
  const auto with = [&](std::size_t at, auto value, std::string bytes) {
    const std::string written = little_endian(value);
    return bytes.replace(at, written.size(), written);
  };
  const std::string encrypted = with(local + 6, std::uint16_t{1}, with(central + 8, std::uint16_t{1}, good));
  refused(encrypted, ErrorCode::Unsupported, "encrypted");
  refused(with(central + 8, std::uint16_t{0x4000}, good), ErrorCode::Corrupt, "flags");
  const std::string packed = with(local + 8, std::uint16_t{8}, with(central + 10, std::uint16_t{8}, good));
  refused(packed, ErrorCode::Unsupported, "compressed");
  const std::uint32_t grown = 4'000'000'000;
  refused(with(local + 22, grown, with(central + 24, grown, packed)), ErrorCode::OutOfMemory, "thousandfold");
  refused(with(central + 10, std::uint16_t{8}, good), ErrorCode::Corrupt, "contradict");
  refused(with(central + 20, std::uint32_t{5}, good), ErrorCode::Corrupt, "two sizes");
  refused(with(local + 18, std::uint32_t{5}, good), ErrorCode::Corrupt, "contradict");
  const std::uint32_t huge = 0x7FFFFFFF;
  refused(with(central + 24, huge, with(central + 20, huge, with(local + 22, huge, with(local + 18, huge, good)))),
          ErrorCode::Corrupt, "into its directory");
  refused(with(central + 42, std::uint32_t{3}, good), ErrorCode::Corrupt, "leads to no entry");
  refused(with(good.size() - 12, std::uint16_t{9}, with(good.size() - 14, std::uint16_t{9}, good)), ErrorCode::Corrupt,
          "number of entries");
  refused(with(good.size() - 6, std::uint32_t{1}, good), ErrorCode::Corrupt, "before its end record");
  for (const char* name : {"../data.pkl", "/data.pkl", "a\\data.pkl", "c:/data.pkl", "a/../data.pkl"})
    refused(zip_file({{"archive/data.pkl", kPlain}, {name, "x"}}), ErrorCode::Corrupt, "name of an entry");
  refused(zip_file({{"archive/data.pkl", kPlain}, {"archive/data.pkl", kPlain}}), ErrorCode::Corrupt, "same name");
  refused(zip_file({{"archive/data.pkl", kPlain}, {"other/data.pkl", kPlain}}), ErrorCode::Corrupt, "two pickles");
  // The second entry begins inside the first.
  std::string outer = zip_header({"archive/data/1", ""}, false);
  const std::vector<ZipPart> parts = {{"archive/data.pkl", kPlain}, {"archive/data/0", floats(8) + outer}};
  std::string overlapping = zip_file(parts);
  const std::size_t inside = overlapping.find(outer);
  const std::size_t directory = overlapping.find("PK\1\2");
  const std::string more = zip_header({"archive/data/1", ""}, true, static_cast<std::uint32_t>(inside));
  const std::size_t end = overlapping.rfind("PK\5\6");
  std::string with_entry = overlapping;
  with_entry.insert(end, more);
  const std::size_t record = end + more.size();
  with_entry = with(record + 8, std::uint16_t{3}, with(record + 10, std::uint16_t{3}, with_entry));
  with_entry = with(record + 12, static_cast<std::uint32_t>(end + more.size() - directory), with_entry);
  refused(with_entry, ErrorCode::Corrupt, "overlap");
}

}  // namespace headroom::test
