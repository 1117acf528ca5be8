// The tokenizer.json that goes with a checkpoint encodes as its task does.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/training/byte_vocabulary.h"

#include "core/text/tokenizer.h"
#include "tests/core/training/task_text.h"

namespace headroom::test {
namespace {

std::unique_ptr<Tokenizer> tokenizer_of(const Task& task) {
  auto tokenizer = Tokenizer::from_tokenizer_json(task.tokenizer_json(), nullptr);
  if (!tokenizer) CATCH_FAIL(describe(tokenizer.error()));
  return std::move(*tokenizer);
}

std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, const std::string& text, BosMode bos = BosMode::Auto) {
  const auto encoding = tokenizer.encode(text, bos);
  if (!encoding) CATCH_FAIL(describe(encoding.error()));
  return encoding->ids;
}

}  // namespace

CATCH_TEST_CASE("byte vocabulary: every byte is its own token behind BOS 256") {
  const TempFolder folder;
  folder.write("text.txt", counting_text(5000));
  const auto task = require_task({{"kind", "bytes"}, {"text", "text.txt"}, {"length", 20}}, folder.path());
  const auto tokenizer = tokenizer_of(*task);
  CATCH_CHECK(tokenizer->vocab_size() == 257);
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
    CATCH_CHECK(tokenizer->token_bytes(byte) == std::string(1, static_cast<char>(byte)));
    CATCH_CHECK(!tokenizer->is_special(byte));
  }
  CATCH_CHECK(tokenizer->is_special(256));
  for (const std::string& text : {std::string(), std::string("In the beginning\n\n  was  "),
                                  std::string("čistý 東京 🎉\t\r\n"), std::string("\0a\0", 3), all}) {
    std::vector<std::int32_t> expected = {256};
    for (const char byte : text) expected.push_back(static_cast<unsigned char>(byte));
    CATCH_CHECK(ids_of(*tokenizer, text) == expected);
  }
  // A text that names BOS means BOS, as in every tokenizer with special tokens.
  CATCH_CHECK(ids_of(*tokenizer, "<s>a") == std::vector<std::int32_t>{256, 256, 'a'});
}

CATCH_TEST_CASE("byte vocabulary: a sequence's own tokens, read as text, are encoded as they were") {
  const TempFolder folder;
  folder.write("chain.txt", chain_text(5000));
  const auto bytes = require_task({{"kind", "bytes"}, {"text", "chain.txt"}, {"length", 30}}, folder.path());
  const auto copies = require_task(
      {{"kind", "bigram_backcopy"}, {"text", "chain.txt"}, {"symbols", 5}, {"triggers", "b"}, {"length", 30}},
      folder.path());
  for (const Task* task : {bytes.get(), copies.get()}) {
    const auto tokenizer = tokenizer_of(*task);
    CATCH_CHECK(tokenizer->vocab_size() == task->vocab_size());
    const Batch batch = task->batch(Split::Training, 1, 0, 8);
    for (std::int64_t s = 0; s < 8; ++s) {
      const std::vector<std::int32_t> tokens(batch.tokens.begin() + s * 30, batch.tokens.begin() + (s + 1) * 30);
      std::string text;
      for (std::size_t i = 1; i < tokens.size(); ++i) text += tokenizer->token_bytes(tokens[i]);
      CATCH_CHECK(text.size() == 29);
      CATCH_CHECK(ids_of(*tokenizer, text) == tokens);
      const std::vector<std::int32_t> without(tokens.begin() + 1, tokens.end());
      CATCH_CHECK(ids_of(*tokenizer, text, BosMode::Never) == without);
    }
  }
}

CATCH_TEST_CASE("byte vocabulary: capitals are folded where the task folds them, and only there") {
  const std::vector<unsigned char> letters = {'b', 'a', ' '};
  const auto ids = [&](bool lower_case, const std::string& text) {
    const auto tokenizer = Tokenizer::from_tokenizer_json(byte_tokenizer_json(letters, 1, 0, lower_case), nullptr);
    if (!tokenizer) CATCH_FAIL(describe(tokenizer.error()));
    return ids_of(**tokenizer, text);
  };
  CATCH_CHECK(ids(true, "aB bA") == std::vector<std::int32_t>{0, 2, 1, 3, 1, 2});
  CATCH_CHECK(ids(false, "ab ba") == std::vector<std::int32_t>{0, 2, 1, 3, 1, 2});
  CATCH_CHECK(ids(false, "aB bA") != ids(true, "aB bA"));
}

}  // namespace headroom::test
