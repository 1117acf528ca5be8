// CorpusDocuments of every container, and what is said of files that are damaged, cut off or lie. Files are made here
// byte by byte (containers.h); what each should hold is written down beside it.
#include "core/corpus/documents.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/checkpoint/sha256.h"
#include "tests/core/corpus/containers.h"
#include "tests/support/catch.h"
#include "tests/support/required.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

using Ids = std::vector<std::vector<std::int32_t>>;
const Ids kIds = {{5, 6, 7, 0}, {300, 1, 0}, {9, 0}};  // each ends with 0

struct Read {
  std::vector<CorpusDocument> documents;
  std::vector<CorpusFile> files;
  Error error;
  bool failed = false;
};

Read read_all(const std::vector<std::filesystem::path>& paths, const DocumentOptions& options = {}) {
  Read read;
  CorpusDocuments documents(required(find_corpus_files(paths)), options);
  for (;;) {
    CorpusDocument document;
    const auto more = documents.next(document);
    if (!more) {
      read.error = more.error();
      read.failed = true;
      return read;
    }
    if (!*more) break;
    read.documents.push_back(std::move(document));
  }
  read.files = required(documents.finish());
  return read;
}

std::vector<std::string> texts(const Read& read) {
  std::vector<std::string> all;
  for (const CorpusDocument& document : read.documents) all.push_back(document.name + "=" + document.text);
  return all;
}

Ids ids(const Read& read) {
  Ids all;
  for (const CorpusDocument& document : read.documents) all.push_back(document.ids);
  return all;
}

DocumentOptions of_ids(IdsType type = IdsType::UInt16) {
  DocumentOptions options;
  options.ids_type = type;
  options.document_end = 0;
  options.vocab_size = 301;
  return options;
}

}  // namespace

CATCH_TEST_CASE("documents: text is a file, its lines, or its runs of lines") {
  const TempFolder folder;
  const auto file = folder.write("a.txt", "one\ntwo\r\n\n\nthree");
  DocumentOptions options;
  CATCH_CHECK(texts(read_all({file}, options)) == std::vector<std::string>{"a.txt=one\ntwo\r\n\n\nthree"});
  options.split = TextSplit::Lines;
  CATCH_CHECK(texts(read_all({file}, options)) ==
              std::vector<std::string>{"a.txt:1=one", "a.txt:2=two", "a.txt:5=three"});
  options.split = TextSplit::Blank;
  CATCH_CHECK(texts(read_all({file}, options)) == std::vector<std::string>{"a.txt:1=one\ntwo\r\n", "a.txt:5=three"});
  CATCH_CHECK(texts(read_all({folder.write("empty.txt", "")}, {})) == std::vector<std::string>{"empty.txt="});
}

CATCH_TEST_CASE("documents: folders are read in the order of their paths as bytes, hidden files are not") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "b");
  std::filesystem::create_directory(folder.path() / ".git");
  for (const char* name : {"b/z", "b.txt", "B", ".hidden", "b/a", ".git/x"}) (void)folder.write(name, name);
  const Read read = read_all({folder.path()});
  CATCH_CHECK(texts(read) == std::vector<std::string>{"B=B", "b.txt=b.txt", "b/a=b/a", "b/z=b/z"});
  CATCH_REQUIRE(read.files.size() == 4);
  CATCH_CHECK(read.files[2].bytes == 3);
  CATCH_CHECK(read.files[2].sha256 == required(sha256_of_file(folder.path() / "b/a")));
  const TempFolder empty;
  const auto none = find_corpus_files(std::vector<std::filesystem::path>{empty.path()});
  CATCH_REQUIRE(!none);
  CATCH_CHECK(none.error().code == ErrorCode::Corrupt);
  const auto missing = find_corpus_files(std::vector<std::filesystem::path>{empty.path() / "no"});
  CATCH_REQUIRE(!missing);
  CATCH_CHECK(missing.error().code == ErrorCode::NotFound);
}

CATCH_TEST_CASE("documents: ids that begin as gzip does are ids") {
  const TempFolder folder;
  DocumentOptions options;
  const Ids expected = {{0x8B1F, 7, 0x8B1F, 8, 9, 10, 11, 12}};
  CATCH_CHECK(ids(read_all({folder.write("a.bin", packed_ids<std::uint16_t>(expected))}, options)) == expected);
  const Ids later = {{0x8B1F, 8, 0, 0, 0xFF09, 12}};  // up to the effort, which gzip never has as 9
  CATCH_CHECK(ids(read_all({folder.write("b.bin", packed_ids<std::uint16_t>(later))}, options)) == later);
  CATCH_CHECK(ids(read_all({folder.write("c.bin", packed_ids<std::uint16_t>({{0x8B1F}}))}, options)) == Ids{{0x8B1F}});
  // Under another name it is a packed file that is damaged; and what is packed is no list of ids.
  CATCH_CHECK(read_all({folder.write("a.txt", packed_ids<std::uint16_t>(expected))}, options).failed);
  for (const char* name : {"d.bin", "d.bin.gz"}) {
    const Read packed = read_all({folder.write(name, gzip(packed_ids<std::uint16_t>(expected)))}, options);
    CATCH_REQUIRE(packed.failed);
    CATCH_CHECK(packed.error.code == ErrorCode::Unsupported);
  }
}

CATCH_TEST_CASE("documents: packed text is unpacked, in several members or frames too, and hashed as it lies") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 60000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string half = text.substr(0, text.size() / 2), rest = text.substr(text.size() / 2);
  for (const auto& [name, bytes] : {std::pair<std::string, std::string>{"a", gzip(text)},
                                    {"b.gz", gzip(half) + gzip(rest)},
                                    {"c", zstd(text)},
                                    {"d.zst", zstd(half) + zstd(rest)}}) {
    const auto file = folder.write(name, bytes);
    const Read read = read_all({file});
    CATCH_REQUIRE(read.documents.size() == 1);
    CATCH_CHECK(read.documents[0].text == text);
    CATCH_CHECK(read.files[0].sha256 == required(sha256_of_file(file)));
  }
}

CATCH_TEST_CASE("documents: packed files that are cut off or damaged are refused where they end") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i * i) + "\n";
  for (const std::string& bytes : {gzip(text), zstd(text)}) {
    for (const std::size_t left : {bytes.size() - 1, bytes.size() / 2, std::size_t{11}}) {
      const Read read = read_all({folder.write("cut", bytes.substr(0, left))});
      CATCH_INFO(left);
      CATCH_REQUIRE(read.failed);
      CATCH_CHECK(read.error.code == ErrorCode::Corrupt);
      CATCH_CHECK(read.error.message.find("cut off") != std::string::npos);
      CATCH_CHECK(read.error.offset == left);
    }
    std::string damaged = bytes;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    const Read read = read_all({folder.write("damaged", damaged)});
    CATCH_CHECK((read.failed || read.documents[0].text != text));
  }
  const Read read = read_all({folder.write("tail.gz", gzip(text) + "more")});
  CATCH_REQUIRE(read.failed);
  CATCH_CHECK(read.error.code == ErrorCode::Corrupt);
}

CATCH_TEST_CASE("documents: what unpacks to far more than its size is refused") {
  const TempFolder folder;
  const std::string zeros(std::size_t{32} << 20, '0');
  for (const std::string& bytes : {gzip(zeros), zstd(zeros)}) {
    const Read read = read_all({folder.write("bomb", bytes)});
    CATCH_REQUIRE(read.failed);
    CATCH_CHECK(read.error.code == ErrorCode::Corrupt);
    CATCH_CHECK(read.error.message.find("250 times") != std::string::npos);
  }
}

CATCH_TEST_CASE("documents: lines and documents beyond their limits are refused with the line") {
  const TempFolder folder;
  DocumentOptions options;
  options.most_line_bytes = 8;
  options.most_document_bytes = 20;
  options.split = TextSplit::Lines;
  Read read = read_all({folder.write("a", "short\nlonger than eight\n")}, options);
  CATCH_REQUIRE(read.failed);
  CATCH_CHECK(read.error.code == ErrorCode::Corrupt);
  CATCH_CHECK(read.error.tensor == "line 2");
  options.split = TextSplit::Blank;
  read = read_all({folder.write("b", "1234567\n1234567\n1234567\n")}, options);
  CATCH_REQUIRE(read.failed);
  CATCH_CHECK(read.error.tensor == "line 3");
  options.split = TextSplit::None;
  CATCH_CHECK(read_all({folder.write("c", std::string(21, 'x'))}, options).failed);
  CATCH_CHECK(!read_all({folder.write("d", std::string(20, 'x'))}, options).failed);
}

CATCH_TEST_CASE("documents: JSONL has a document on each line, text or ids, in a field of any depth") {
  const TempFolder folder;
  const auto text = folder.write("a", "{\"text\": \"on\\ne\"}\n\n{\"text\": \"two\", \"more\": 1}\r\n");
  CATCH_CHECK(texts(read_all({text})) == std::vector<std::string>{"a:1=on\ne", "a:3=two"});
  DocumentOptions options;
  options.field = "meta.ids";
  for (const std::string& bytes : {json_lines(kIds), gzip(json_lines(kIds)), zstd(json_lines(kIds))})
    CATCH_CHECK(ids(read_all({folder.write("b", bytes)}, options)) == kIds);
  // A text that begins with a brace is a text.
  CATCH_CHECK(texts(read_all({folder.write("c", "{ int x; }\n")})) == std::vector<std::string>{"c={ int x; }\n"});
}

CATCH_TEST_CASE("documents: a bad line of JSONL is named") {
  const TempFolder folder;
  DocumentOptions options;
  options.vocab_size = 10;
  for (const auto& [bad, word] : {std::pair<std::string, std::string>{"{\"text\": }", "no JSON"},
                                  {"{\"text\": \"a\", \"text\": \"b\"}", "no JSON"},
                                  {"{\"other\": 1}", "has not the field"},
                                  {"[1]", "has not the field"},
                                  {"{\"text\": 1.5}", "neither text nor"},
                                  {"{\"text\": [1, \"2\"]}", "neither text nor"},
                                  {"{\"text\": [10]}", "not in the vocabulary"},
                                  {"{\"text\": [-1]}", "not in the vocabulary"},
                                  {"{\"text\": [18446744073709551615]}", "not in the vocabulary"}}) {
    std::string lines;
    for (int i = 1; i < 7; ++i) lines += "{\"text\": \"line\"}\n";
    const Read read = read_all({folder.write("bad.jsonl", lines + bad + "\n")}, options);
    CATCH_INFO(bad);
    CATCH_REQUIRE(read.failed);
    CATCH_CHECK(read.documents.size() == 6);
    CATCH_CHECK(read.error.code == ErrorCode::Corrupt);
    CATCH_CHECK(read.error.tensor == "line 7");
    CATCH_CHECK(read.error.offset.value_or(0) >= lines.size());
    CATCH_CHECK(read.error.file == (folder.path() / "bad.jsonl").string());
    CATCH_CHECK(read.error.message.find(word) != std::string::npos);
  }
}

CATCH_TEST_CASE("documents: every container of ids holds the same documents") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "mega");
  const auto megatron = [&](std::uint8_t type, std::size_t bytes, const std::string& data) {
    (void)folder.write("mega/x.idx", megatron_index(kIds, type, bytes));
    (void)folder.write("mega/x.bin", data);
  };
  CATCH_CHECK(ids(read_all({folder.write("a.bin", packed_ids<std::uint16_t>(kIds))}, of_ids())) == kIds);
  CATCH_CHECK(ids(read_all({folder.write("b.bin", packed_ids<std::uint32_t>(kIds))}, of_ids(IdsType::UInt32))) == kIds);
  CATCH_CHECK(ids(read_all({folder.write("c.bin", packed_ids<std::int32_t>(kIds))}, of_ids(IdsType::Int32))) == kIds);
  CATCH_CHECK(ids(read_all({folder.write("d.bin", llm_c(kIds, false))}, of_ids())) == kIds);
  CATCH_CHECK(ids(read_all({folder.write("e", llm_c(kIds, true))}, of_ids())) == kIds);
  megatron(4, 4, packed_ids<std::int32_t>(kIds));
  CATCH_CHECK(ids(read_all({folder.path() / "mega/x.idx"}, of_ids())) == kIds);
  CATCH_CHECK(ids(read_all({folder.path() / "mega/x.bin"}, of_ids())) == kIds);
  megatron(5, 8, packed_ids<std::int64_t>(kIds));
  CATCH_CHECK(ids(read_all({folder.path() / "mega"}, of_ids())) == kIds);
  megatron(8, 2, packed_ids<std::uint16_t>(kIds));
  const Read read = read_all({folder.path() / "mega"}, of_ids());
  CATCH_CHECK(ids(read) == kIds);
  CATCH_CHECK(read.documents[1].name == "x.bin:1");
  CATCH_REQUIRE(read.files.size() == 2);
  CATCH_CHECK(read.files[1].sha256 == required(sha256_of_file(folder.path() / "mega/x.bin")));
  for (const auto& [descr, data] : {std::pair<std::string, std::string>{"<u2", packed_ids<std::uint16_t>(kIds)},
                                    {"<i4", packed_ids<std::int32_t>(kIds)},
                                    {"<i8", packed_ids<std::int64_t>(kIds)},
                                    {"<u8", packed_ids<std::uint64_t>(kIds)}})
    CATCH_CHECK(ids(read_all({folder.write("f.npy", numpy_array(descr, "(9,)", data))}, of_ids())) == kIds);
}

CATCH_TEST_CASE("documents: ids without an end are one document, rows of a matrix are sequences") {
  const TempFolder folder;
  const Read one = read_all({folder.write("a.bin", packed_ids<std::uint16_t>(kIds))});
  CATCH_CHECK(ids(one) == Ids{{5, 6, 7, 0, 300, 1, 0, 9, 0}});
  CATCH_CHECK(one.documents[0].name == "a.bin");
  const Ids rows = {{1, 2, 3}, {4, 5, 6}};
  const Read matrix = read_all({folder.write("m.npy", numpy_array("<i4", "(2, 3)", packed_ids<std::int32_t>(rows)))});
  CATCH_CHECK(ids(matrix) == rows);
  CATCH_CHECK(matrix.documents[1].is_sequence);
  CATCH_CHECK(matrix.documents[1].name == "m.npy:1");
}

CATCH_TEST_CASE("documents: files of ids that are odd, cut off or lie are refused with the offset") {
  const TempFolder folder;
  const std::string two = packed_ids<std::uint16_t>(kIds), four = packed_ids<std::int32_t>(kIds);
  const auto with = [](std::string bytes, std::size_t at, std::string_view value) {
    return bytes.replace(at, value.size(), value);
  };
  struct Fault {
    std::string name, bytes;
    ErrorCode code = ErrorCode::Corrupt;
    std::uint64_t offset = 0;
    std::string words;
  };
  const Fault faults[] = {
      {"odd.bin", two + "x", ErrorCode::Corrupt, 18, "ends inside an id"},
      {"vocab.bin", with(two, 4, std::string("\x2D\x01", 2)), ErrorCode::Corrupt, 4, "not in the vocabulary"},
      {"llm.bin", llm_c(kIds, false).substr(0, 1030), ErrorCode::Corrupt, 8, "another size"},
      {"head.bin", llm_c(kIds, false).substr(0, 1000), ErrorCode::Corrupt, 1000, "cut off"},
      {"version.bin", with(llm_c(kIds, false), 4, std::string(1, '\x02')), ErrorCode::Corrupt, 4, "another version"},
      {"minus.bin", with(llm_c(kIds, false), 8, "\xFF\xFF\xFF\xFF"), ErrorCode::Corrupt, 8, "another size"},
      {"o.npy", numpy_array("|O", "(9,)", "x"), ErrorCode::Corrupt, 10, "objects"},
      {"f.npy", numpy_array("<f4", "(9,)", four), ErrorCode::Corrupt, 10, "no token ids"},
      {"big.npy", numpy_array(">i4", "(9,)", four), ErrorCode::Corrupt, 10, "most significant"},
      {"fortran.npy", numpy_array("<i4", "(3, 3)", four, true), ErrorCode::Corrupt, 10, "do not lie"},
      {"size.npy", numpy_array("<i4", "(8,)", four), ErrorCode::Corrupt, 10, "not that of its shape"},
      {"huge.npy", numpy_array("<i4", "(4611686018427387905, 4)", four), ErrorCode::Corrupt, 10, "shape"},
      {"cube.npy", numpy_array("<i4", "(1, 3, 3)", four), ErrorCode::Corrupt, 10, "one axis"},
      {"cut.npy", numpy_array("<i4", "(9,)", four).substr(0, 40), ErrorCode::Corrupt, 8, "longer than it can be"},
  };
  for (const Fault& fault : faults) {
    const Read read = read_all({folder.write(fault.name, fault.bytes)}, of_ids());
    CATCH_INFO(fault.name);
    CATCH_REQUIRE(read.failed);
    CATCH_CHECK(read.error.code == fault.code);
    CATCH_CHECK(read.error.offset == fault.offset);
    CATCH_CHECK(read.error.file == (folder.path() / fault.name).string());
    CATCH_INFO(describe(read.error));
    CATCH_CHECK(read.error.message.find(fault.words) != std::string::npos);
  }
}

CATCH_TEST_CASE("documents: an index that disagrees with its .bin is refused") {
  const TempFolder folder;
  const std::string index = megatron_index(kIds, 4, 4), data = packed_ids<std::int32_t>(kIds);
  const auto number = [&](std::size_t at, auto value) {
    std::string bytes;
    put(bytes, value);
    return std::string(index).replace(at, bytes.size(), bytes);
  };
  const std::size_t lengths = 34, sequences = 6, offsets = lengths + 4 * sequences, starts = offsets + 8 * sequences;
  struct Lie {
    std::string index, data;
    std::uint64_t offset;
  };
  const Lie lies[] = {
      {number(9, std::uint64_t{2}), data, 9},
      {number(17, std::uint8_t{7}), data, 17},
      {number(17, std::uint8_t{200}), data, 17},
      {number(18, std::uint64_t{1} << 62), data, 18},
      {number(26, std::uint64_t{0}), data, 18},
      {index.substr(0, index.size() - 1), data, 18},
      {number(lengths, std::int32_t{-1}), data, lengths},
      {number(lengths + 4, std::int32_t{1000}), data, lengths + 4},
      {number(offsets, std::int64_t{-8}), data, lengths},
      {number(offsets + 8, std::int64_t{1} << 40), data, lengths + 4},
      {number(starts + 8, std::int64_t{99}), data, starts + 8},
      {number(starts, std::int64_t{1}), data, starts},
      {index, data + "abcd", lengths},
      {index, data.substr(0, data.size() - 4), lengths + 4 * (sequences - 1)},
  };
  for (const Lie& lie : lies) {
    (void)folder.write("x.bin", lie.data);
    const Read read = read_all({folder.write("x.idx", lie.index)}, of_ids());
    CATCH_INFO(&lie - lies);
    CATCH_REQUIRE(read.failed);
    CATCH_CHECK(read.error.code == ErrorCode::Corrupt);
    CATCH_CHECK(read.error.offset == lie.offset);
    CATCH_CHECK(read.error.file == (folder.path() / "x.idx").string());
  }
  // Cut off anywhere it is an error or no index at all.
  for (std::size_t size = 9; size < index.size(); ++size)
    CATCH_CHECK(read_all({folder.write("x.idx", index.substr(0, size))}, of_ids()).failed);
}

CATCH_TEST_CASE("documents: other formats are named and not read") {
  const TempFolder folder;
  for (const auto& [bytes, words] : {std::pair<std::string, std::string>{"PAR1....", "Parquet"},
                                     {std::string("ARROW1\0\0", 8), "Arrow"},
                                     {"PK\x03\x04....", "ZIP"},
                                     {gzip(llm_c(kIds, false)), "packed file of token ids"}}) {
    const Read read = read_all({folder.write("x.data", bytes)});
    CATCH_REQUIRE(read.failed);
    CATCH_CHECK(read.error.code == ErrorCode::Unsupported);
    CATCH_CHECK(read.error.message.find(words) != std::string::npos);
    CATCH_CHECK(!read.error.hint.empty());
  }
}

}  // namespace headroom::test
