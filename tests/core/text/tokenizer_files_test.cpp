// Tokenizers of folders without tokenizer.json: which file counts, what each says, and how damage is named.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/text/sentencepiece_model.h"
#include "core/text/tokenizer.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;
using Ids = std::vector<std::int32_t>;

class Folder {
 public:
  explicit Folder(const Files& files) {
    for (const auto& [name, content] : files) std::ofstream(folder_.path() / name, std::ios::binary) << content;
  }
  [[nodiscard]] Result<std::unique_ptr<Tokenizer>> open() const { return Tokenizer::from_folder(folder_.path()); }

 private:
  test::TempFolder folder_;
};

Ids require_ids(const Files& files, const std::string& text) {
  const auto tokenizer = Folder(files).open();
  if (!tokenizer) CATCH_FAIL(describe(tokenizer.error()));
  const auto encoding = (*tokenizer)->encode(text, BosMode::Auto);
  if (!encoding) CATCH_FAIL(describe(encoding.error()));
  return encoding->ids;
}

std::string bytes_field(int number, const std::string& value) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(value.size()) + value;
}

std::string number_field(int number, int value) {
  return std::string(1, static_cast<char>(number << 3)) + static_cast<char>(value);
}

// A piece whose score is −1 (BF800000) unless another follows.
std::string piece(const std::string& text, SentencePiece::Kind kind, const std::string& score = {"\0\0\x80\xBF", 4}) {
  return bytes_field(1, bytes_field(1, text) + "\x15" + score + number_field(3, static_cast<int>(kind)));
}

using Kind = SentencePiece::Kind;

std::string tiny_model(int algorithm) {
  const std::string better(4, '\0');  // 0
  return piece("<unk>", Kind::Unknown) + piece("<s>", Kind::Control) + piece("</s>", Kind::Control) +
         piece("\xE2\x96\x81", Kind::Normal) + piece("a", Kind::Normal) +
         piece(
             "\xE2\x96\x81"
             "a",
             Kind::Normal, better) +
         piece("<x>", Kind::UserDefined) + bytes_field(2, number_field(3, algorithm));
}

const std::string kVocabText = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nca\n##fe\nCA\n,\n";

CATCH_TEST_CASE("vocab.txt is WordPiece with BERT's normalisation") {
  CATCH_CHECK(require_ids({{"vocab.txt", kVocabText}}, "Caf\xC3\xA9, [MASK]") == Ids{2, 5, 6, 8, 4, 3});
  const std::string cased = R"({"do_lower_case": false})";
  CATCH_CHECK(require_ids({{"vocab.txt", kVocabText}, {"tokenizer_config.json", cased}}, "ca CA") == Ids{2, 5, 7, 3});
}

CATCH_TEST_CASE("tokenizer.model is SentencePiece") {
  for (const int algorithm : {1, 2}) {
    CATCH_INFO("algorithm " << algorithm);
    CATCH_CHECK(require_ids({{"tokenizer.model", tiny_model(algorithm)}}, "a  a<x>a z") == Ids{1, 5, 5, 6, 4, 3, 0});
  }
  // WORD cuts before each sign and nowhere else; CHAR everywhere but in what the user defined.
  CATCH_CHECK(require_ids({{"tokenizer.model", tiny_model(3)}}, "a  a<x>a z") == Ids{1, 5, 0});
  CATCH_CHECK(require_ids({{"tokenizer.model", tiny_model(4)}}, "a  a<x>a z") == Ids{1, 3, 4, 3, 4, 6, 4, 3, 0});
  const Files t5 = {{"spiece.model", tiny_model(1)},
                    {"tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer"})"}};
  CATCH_CHECK(require_ids(t5, "a") == Ids{5, 2});
  const Files fairseq = {{"sentencepiece.bpe.model", tiny_model(1)}};
  CATCH_CHECK(require_ids(fairseq, "a<mask>") == Ids{0, 6, 8, 2});
  const Files both = {{"tokenizer.model", tiny_model(1)}, {"vocab.txt", kVocabText}};
  CATCH_CHECK(require_ids(both, "a") == Ids{1, 5});
}

CATCH_TEST_CASE("vocab.json with merges.txt is BPE by its class") {
  const std::string vocabulary = R"({"a": 0, "b": 1, "ab": 2, "Ġ": 3, "<|endoftext|>": 4, "<s>": 5, "</s>": 6})";
  const Files gpt2 = {{"vocab.json", vocabulary}, {"merges.txt", "#version: 0.2\na b\n"}};
  CATCH_CHECK(require_ids(gpt2, "ab a<|endoftext|>") == Ids{2, 3, 0, 4});
  Files roberta = gpt2;
  roberta.emplace_back("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizerFast"})");
  CATCH_CHECK(require_ids(roberta, "ab") == Ids{5, 2, 6});
  const Files clip = {{"vocab.json", R"({"a": 0, "b</w>": 1, "ab</w>": 2, "<|startoftext|>": 3, "<|endoftext|>": 4})"},
                      {"merges.txt", "a b</w>\n"}};
  CATCH_CHECK(require_ids(clip, "AB") == Ids{3, 2, 4});
}

CATCH_TEST_CASE("damaged tokenizer files are named with the place") {
  struct Case {
    Files files;
    ErrorCode code;
    const char* file;
    const char* words;  // of the whole message
  };
  const std::string good = tiny_model(1);
  const std::vector<Case> cases = {
      {{}, ErrorCode::NotFound, "", "no tokenizer"},
      {{{"vocab.json", "{}"}}, ErrorCode::NotFound, "", "no tokenizer"},
      {{{"vocab.txt", ""}}, ErrorCode::Corrupt, "vocab.txt", "no tokens"},
      {{{"vocab.txt", kVocabText}, {"tokenizer_config.json", "{"}}, ErrorCode::Corrupt, "tokenizer_config.json", ""},
      {{{"vocab.txt", kVocabText}, {"tokenizer_config.json", R"({"do_lower_case": 1})"}},
       ErrorCode::Corrupt,
       "vocab.txt",
       "do_lower_case"},
      {{{"vocab.txt", kVocabText}, {"tokenizer_config.json", R"({"do_basic_tokenize": false})"}},
       ErrorCode::Unsupported,
       "vocab.txt",
       "do_basic_tokenize"},
      {{{"vocab.txt", kVocabText}, {"tokenizer_config.json", R"({"added_tokens_decoder": {"x": {}}})"}},
       ErrorCode::Corrupt,
       "vocab.txt",
       "added_tokens_decoder"},
      {{{"vocab.json", "[]"}, {"merges.txt", ""}}, ErrorCode::Corrupt, "vocab.json", "model.vocab"},
      {{{"vocab.json", R"({"a": 0})"}, {"merges.txt", "a b\n"}}, ErrorCode::Corrupt, "vocab.json", "merge 0"},
      {{{"vocab.json", R"({"a": 0})"}, {"merges.txt", "a\n"}}, ErrorCode::Corrupt, "vocab.json", "Merge 0"},
      {{{"tokenizer.model", ""}}, ErrorCode::Corrupt, "tokenizer.model", "no pieces"},
      {{{"tokenizer.model", good.substr(0, good.size() - 1)}}, ErrorCode::Corrupt, "tokenizer.model", "of which"},
      {{{"tokenizer.model", good + "\xFF"}}, ErrorCode::Corrupt, "tokenizer.model", "the end of the message"},
      {{{"tokenizer.model", good + "\x0F"}}, ErrorCode::Corrupt, "tokenizer.model", "a field of type 7"},
      {{{"tokenizer.model", std::string(20, '\xFF')}}, ErrorCode::Corrupt, "tokenizer.model", "64 bits"},
      {{{"tokenizer.model", good + number_field(1, 3)}}, ErrorCode::Corrupt, "tokenizer.model", "the model"},
      {{{"tokenizer.model", piece("a", static_cast<Kind>(9))}}, ErrorCode::Corrupt, "tokenizer.model", "pieces.type"},
      {{{"tokenizer.model", bytes_field(1, number_field(1, 1))}},
       ErrorCode::Corrupt,
       "tokenizer.model",
       "pieces.piece"},
      {{{"tokenizer.model", bytes_field(1, number_field(2, 1))}},
       ErrorCode::Corrupt,
       "tokenizer.model",
       "pieces.score"},
      {{{"tokenizer.model", good + bytes_field(3, bytes_field(2, "abc"))}},
       ErrorCode::Corrupt,
       "tokenizer.model",
       "precompiled_charsmap"},
      {{{"tokenizer.model", tiny_model(7)}}, ErrorCode::Corrupt, "tokenizer.model", "model_type"},
      {{{"x.tiktoken", "YQ== 0\n"}}, ErrorCode::Unsupported, "x.tiktoken", "1 tokens"},
      {{{"x.tiktoken", "YQ== 0\nYg==\n"}}, ErrorCode::Corrupt, "x.tiktoken", "Line 2"},
      {{{"x.tiktoken", "YQ== 0\nY 1\n"}}, ErrorCode::Corrupt, "x.tiktoken", "base64"},
      {{{"x.tiktoken", "YQ== 0\nYg== -1\n"}}, ErrorCode::Corrupt, "x.tiktoken", "rank"},
      {{{"x.tiktoken", "YQ== 0\nYg== 0\n"}}, ErrorCode::Corrupt, "x.tiktoken", "twice"}};
  for (const Case& c : cases) {
    const auto tokenizer = Folder(c.files).open();
    CATCH_INFO(c.file << " " << c.words);
    CATCH_REQUIRE_FALSE(tokenizer.has_value());
    CATCH_INFO(describe(tokenizer.error()));
    CATCH_CHECK(tokenizer.error().code == c.code);
    CATCH_CHECK(tokenizer.error().file.ends_with(c.file));
    CATCH_CHECK(describe(tokenizer.error()).find(c.words) != std::string::npos);
  }
}

CATCH_TEST_CASE("no cut of a tokenizer.model is read as a whole one") {
  const std::string good = tiny_model(2);
  const auto whole = read_sentencepiece_model(good);
  CATCH_REQUIRE(whole.has_value());
  std::size_t read = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto cut = read_sentencepiece_model(good.substr(0, size));
    if (!cut) continue;  // a cut between two fields is a shorter model
    ++read;
    CATCH_CHECK(cut->pieces.size() <= whole->pieces.size());
  }
  CATCH_CHECK(read == whole->pieces.size());
}

}  // namespace
}  // namespace headroom
