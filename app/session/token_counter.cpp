#include "app/session/token_counter.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <utility>

#include "core/base/mutex.h"

namespace headroom {

namespace {

constexpr std::size_t kFirstBeginning = std::size_t{1} << 18;
constexpr std::size_t kUnsafeTokens = 64;  // at the cut, where the whole text may have others

// At most `size` bytes, which are fewer than the text's, to where a word ends: what a cut makes of half a word, or of
// half a character, is no token of the text.
std::size_t beginning_of(std::string_view text, std::size_t size) {
  constexpr std::size_t kLongestWord = 4096;
  const std::size_t blank = text.find_last_of(" \n", size);
  if (blank != std::string_view::npos && blank > 0 && size - blank <= kLongestWord) return blank;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return size;
}

// Of the beginning of a text, without what the cut may have changed.
std::shared_ptr<const TokenCount> count_beginning(const std::shared_ptr<const Tokenizer>& tokenizer,
                                                  const std::string& text, std::size_t size, BosMode bos) {
  auto made = std::make_shared<TokenCount>(*count_tokens(tokenizer, text.substr(0, beginning_of(text, size)), bos));
  made->beginning = true;
  if (made->error || made->ends.size() <= kUnsafeTokens) return made;
  made->ends.resize(made->ends.size() - kUnsafeTokens);
  made->tokens -= static_cast<std::int64_t>(kUnsafeTokens);
  made->text.resize(made->ends.back());
  return made;
}

}  // namespace

struct TokenCounter::Shared {
  Mutex mutex;
  std::function<void()> wake HEADROOM_GUARDED_BY(mutex);  // empty once the counter is gone
  // What is asked for and not begun, and whether something is.
  std::shared_ptr<const Tokenizer> tokenizer HEADROOM_GUARDED_BY(mutex);
  std::string text HEADROOM_GUARDED_BY(mutex);
  BosMode bos HEADROOM_GUARDED_BY(mutex) = BosMode::Auto;
  bool asked HEADROOM_GUARDED_BY(mutex) = false, posted HEADROOM_GUARDED_BY(mutex) = false;
  std::uint64_t wanted HEADROOM_GUARDED_BY(mutex) = 0, begun HEADROOM_GUARDED_BY(mutex) = 0;  // serials of texts
  std::shared_ptr<const TokenCount> last HEADROOM_GUARDED_BY(mutex);

  void work() {
    for (;;) {
      std::shared_ptr<const Tokenizer> of;
      std::string next;
      BosMode mode = BosMode::Auto;
      {
        const MutexLock lock(mutex);
        if (!asked || !wake) {
          posted = false;
          return;
        }
        asked = false;
        of = tokenizer;
        next = text;
        mode = bos;
        begun = wanted;
      }
      if (!count_beginnings(of, next, mode)) continue;
      publish(count_tokens(std::move(of), std::move(next), mode));
    }
  }

  void publish(std::shared_ptr<const TokenCount> made) {
    const MutexLock lock(mutex);
    last = std::move(made);
    if (wake) wake();
  }

  // Of a long text its beginnings first, each four times the one before, so that a number is there at once. False once
  // another text is asked for.
  [[nodiscard]] bool count_beginnings(const std::shared_ptr<const Tokenizer>& of, const std::string& whole,
                                      BosMode mode) {
    std::size_t size = kFirstBeginning, known = 0;
    {
      // What was counted before, of this text or of one that begins as it does, says more.
      const MutexLock lock(mutex);
      if (const std::size_t tokens = last && last->tokenizer == of ? last->ends_in(whole) : 0; tokens > 0)
        known = last->ends[tokens - 1];
    }
    for (; size <= whole.size() / 2; size *= 4) {
      if (size <= known) continue;
      std::shared_ptr<const TokenCount> made = count_beginning(of, whole, size, mode);
      const MutexLock lock(mutex);
      if (asked || !wake) return false;
      if (made->error) return true;  // the whole text says what is wrong with it
      last = std::move(made);
      wake();
    }
    return true;
  }
};

std::size_t TokenCount::end_of(std::int64_t count) const {
  if (count >= tokens || ends.empty()) return text.size();
  return count <= 0 ? 0 : ends[static_cast<std::size_t>(count) - 1];
}

std::size_t TokenCount::ends_in(std::string_view now) const {
  const auto [mine, other] = std::mismatch(text.begin(), text.end(), now.begin(), now.end());
  if (mine == text.end() && other == now.end()) return ends.size();
  const auto same = static_cast<std::size_t>(mine - text.begin());
  const auto kept = static_cast<std::size_t>(std::ranges::upper_bound(ends, same) - ends.begin());
  return kept > 0 ? kept - 1 : 0;
}

std::shared_ptr<const TokenCount> count_tokens(std::shared_ptr<const Tokenizer> tokenizer, std::string text,
                                               BosMode bos) {
  auto count = std::make_shared<TokenCount>();
  count->tokenizer = std::move(tokenizer);
  count->text = std::move(text);
  count->bos = bos;
  try {
    const Result<Encoding> encoding = count->tokenizer->encode(count->text, bos);
    if (!encoding) {
      count->error = encoding.error();
      return count;
    }
    count->tokens = static_cast<std::int64_t>(encoding->ids.size());
    count->ends.reserve(encoding->ids.size());
    std::size_t end = 0;
    for (const ByteRange& range : encoding->ranges) {
      end = std::max(end, range.end);
      if (end == 0) ++count->added;
      count->ends.push_back(end);
    }
    count->different = static_cast<std::int64_t>(std::set(encoding->ids.begin(), encoding->ids.end()).size());
    count->special = std::ranges::count(encoding->is_special, 1);
    if (const auto unknown = count->tokenizer->unknown_id())
      count->unknown = std::ranges::count(encoding->ids, *unknown);
    const auto longest =
        std::ranges::max_element(encoding->ranges, {}, [](const ByteRange& range) { return range.end - range.begin; });
    if (longest != encoding->ranges.end())
      count->longest = count->text.substr(longest->begin, longest->end - longest->begin);
    if (encoding->bos_added) count->bos_text = encoding->texts.front();
  } catch (const std::exception& exception) {
    count->error = Error(ErrorCode::Corrupt, std::string("the text has no tokens: ") + exception.what());
  }
  return count;
}

TokenCounter::TokenCounter(std::function<void()> wake)
    : shared_(std::make_shared<Shared>()), worker_({.at_start = [] { become_background_thread("tokens", 5); }}) {
  const MutexLock lock(shared_->mutex);
  shared_->wake = wake ? std::move(wake) : [] {};
}

TokenCounter::~TokenCounter() {
  const MutexLock lock(shared_->mutex);
  shared_->wake = nullptr;
}

std::shared_ptr<const TokenCount> TokenCounter::count(const std::shared_ptr<const Tokenizer>& tokenizer,
                                                      const std::string& text, BosMode bos) {
  const MutexLock lock(shared_->mutex);
  const auto& last = shared_->last;
  const bool known = last && last->tokenizer == tokenizer && last->text == text && last->bos == bos;
  if (shared_->tokenizer != tokenizer || shared_->text != text || shared_->bos != bos) {
    shared_->tokenizer = tokenizer;
    shared_->text = text;
    shared_->bos = bos;
    ++shared_->wanted;
  }
  shared_->asked = !known && shared_->begun != shared_->wanted;
  if (shared_->asked && !shared_->posted) {
    shared_->posted = true;
    worker_.post([shared = shared_] { shared->work(); });
  }
  return last && last->tokenizer == tokenizer ? last : nullptr;
}

bool TokenCounter::waiting() const {
  const MutexLock lock(shared_->mutex);
  return shared_->posted && shared_->tokenizer &&
         !(shared_->last && shared_->last->tokenizer == shared_->tokenizer && shared_->last->text == shared_->text &&
           shared_->last->bos == shared_->bos);
}

}  // namespace headroom
