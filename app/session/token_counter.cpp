#include "app/session/token_counter.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <utility>

#include "core/base/mutex.h"

namespace headroom {

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
      std::shared_ptr<const TokenCount> made = count_tokens(std::move(of), std::move(next), mode);
      const MutexLock lock(mutex);
      last = std::move(made);
      if (wake) wake();
    }
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
    : shared_(std::make_shared<Shared>()), worker_([] { become_background_thread("tokens", 5); }) {
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
