#include "app/session/token_counter.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/app/session/word_tokenizer.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

using Ends = std::vector<std::size_t>;

bool comes(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

// Stands still at each text until it is let go.
class SlowTokenizer final : public WordTokenizer {
 public:
  Result<Encoding> encode(std::string_view text, BosMode bos) const override {
    std::unique_lock lock(mutex_);
    texts_.emplace_back(text);
    changed_.wait(lock, [&] { return open_ > 0; });
    --open_;
    return WordTokenizer::encode(text, bos);
  }
  void let_go(int texts = 1) {
    const std::lock_guard lock(mutex_);
    open_ += texts;
    changed_.notify_all();
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int open_ = 0;
  mutable std::vector<std::string> texts_;
};

CATCH_TEST_CASE("token count: where tokens end, and what of it holds after a change", "[tokens]") {
  const auto count = count_tokens(std::make_shared<WordTokenizer>(), "one two three");
  CATCH_REQUIRE_FALSE(count->error.has_value());
  CATCH_CHECK((count->tokens == 4 && count->added == 1));  // a BOS of no bytes
  CATCH_CHECK(count->ends == Ends{0, 3, 7, 13});
  CATCH_CHECK(count->end_of(0) == 0);
  CATCH_CHECK(count->end_of(1) == 0);
  CATCH_CHECK(count->end_of(3) == 7);
  CATCH_CHECK(count->end_of(400) == 13);
  CATCH_CHECK(count->ends_in("one two three") == 4);
  CATCH_CHECK(count->ends_in("one two threes") == 3);
  CATCH_CHECK(count->ends_in("one tw") == 1);
  CATCH_CHECK(count->ends_in("") == 0);
  CATCH_CHECK(count->ends_in("One two three") == 0);
  const auto failed = count_tokens(std::make_shared<WordTokenizer>("cannot"), "one");
  CATCH_REQUIRE(failed->error.has_value());
  CATCH_CHECK(failed->error->message.find("cannot") != std::string::npos);
}

CATCH_TEST_CASE("token counter: of the texts that come while one is counted, only the last is", "[tokens]") {
  const auto slow = std::make_shared<SlowTokenizer>();
  std::atomic<int> woken = 0;
  TokenCounter counter([&woken] { ++woken; });
  CATCH_CHECK_FALSE(counter.waiting());
  CATCH_CHECK(counter.count(slow, "a") == nullptr);
  CATCH_CHECK(counter.waiting());
  CATCH_REQUIRE(comes([&] { return slow->texts().size() == 1; }));
  for (const char* text : {"a b", "a b c", "a b c d"}) CATCH_CHECK(counter.count(slow, text) == nullptr);
  slow->let_go();
  CATCH_REQUIRE(comes([&] { return slow->texts().size() == 2; }));
  CATCH_CHECK(slow->texts() == std::vector<std::string>{"a", "a b c d"});
  const auto before = counter.count(slow, "a b c d");
  CATCH_REQUIRE(before);
  CATCH_CHECK(before->text == "a");
  CATCH_CHECK(counter.waiting());
  // Back to a text that has been counted, while another is: it is there, and stays asked for.
  CATCH_CHECK(counter.count(slow, "a")->text == "a");
  slow->let_go(2);
  CATCH_REQUIRE(comes([&] {
    const auto now = counter.count(slow, "a");
    return slow->texts().size() == 3 && now->text == "a" && !counter.waiting();
  }));
  CATCH_CHECK(counter.count(slow, "a")->tokens == 2);
  CATCH_CHECK(woken == 3);
  // Of another tokenizer there is no count yet.
  CATCH_CHECK(counter.count(std::make_shared<WordTokenizer>(), "a") == nullptr);
  slow->let_go(100);
}

CATCH_TEST_CASE("token counter: a long text is counted from its beginning, at least so many at any time", "[tokens]") {
  const auto tokenizer = std::make_shared<SlowTokenizer>();
  std::string text;
  while (text.size() < (std::size_t{3} << 20)) text += " word";
  const auto words = static_cast<std::int64_t>(text.size() / 5);
  TokenCounter counter;
  CATCH_CHECK(counter.count(tokenizer, text) == nullptr);
  std::int64_t before = 0;
  for (const std::size_t size : {std::size_t{1} << 18, std::size_t{1} << 20}) {
    // Whole words, of five bytes each.
    CATCH_REQUIRE(
        comes([&] { return !tokenizer->texts().empty() && tokenizer->texts().back().size() == size / 5 * 5; }));
    tokenizer->let_go();
    CATCH_REQUIRE(comes([&] {
      const auto count = counter.count(tokenizer, text);
      return count && count->tokens > before;
    }));
    const auto count = counter.count(tokenizer, text);
    before = count->tokens;
    CATCH_CHECK(count->beginning);
    CATCH_CHECK((before < words && before > static_cast<std::int64_t>(size / 5) - 80));
    CATCH_CHECK(count->ends_in(text) + 1 >= count->ends.size());
    CATCH_CHECK(counter.waiting());
  }
  tokenizer->let_go();
  CATCH_REQUIRE(comes([&] { return !counter.waiting(); }));
  const auto whole = counter.count(tokenizer, text);
  CATCH_CHECK((!whole->beginning && whole->tokens == words + 1 && whole->text == text));
  // A change at its end begins where what is known ends.
  text += " more";
  (void)counter.count(tokenizer, text);
  CATCH_REQUIRE(comes([&] { return tokenizer->texts().size() == 4; }));
  CATCH_CHECK(tokenizer->texts().back() == text);
  tokenizer->let_go();
  CATCH_REQUIRE(comes([&] { return !counter.waiting(); }));
}

// Says that its third token stands for what it cannot spell.
class UnknowingTokenizer final : public WordTokenizer {
 public:
  [[nodiscard]] std::optional<std::int32_t> unknown_id() const override { return 2; }
};

CATCH_TEST_CASE("token count: what the vocabulary cannot spell is counted", "[tokens]") {
  CATCH_CHECK(count_tokens(std::make_shared<UnknowingTokenizer>(), "one two three")->unknown == 1);
  CATCH_CHECK(count_tokens(std::make_shared<UnknowingTokenizer>(), "one")->unknown == 0);
  CATCH_CHECK(count_tokens(std::make_shared<WordTokenizer>(), "one two three")->unknown == 0);
}

}  // namespace
}  // namespace headroom::test
