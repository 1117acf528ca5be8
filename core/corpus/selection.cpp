#include "core/corpus/selection.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/corpus/named_word.h"

namespace headroom {
namespace {

constexpr std::array<std::string_view, 3> kOrderNames = {"spread", "natural", "random"};

}  // namespace

Result<CorpusOrder> parse_corpus_order(std::string_view word) {
  return named_word<CorpusOrder>(word, kOrderNames, "--order");
}

std::string_view corpus_order_name(CorpusOrder order) { return kOrderNames[static_cast<std::size_t>(order)]; }

SequenceSelection::Rank SequenceSelection::rank_of(std::int64_t document, std::int64_t piece) const {
  const auto d = static_cast<std::uint64_t>(document), p = static_cast<std::uint64_t>(piece);
  if (order_ == CorpusOrder::Random) return {corpus_key(seed_.value_or(0), d, p), d, p, 0};
  const std::uint64_t key = seed_ ? corpus_key(*seed_, d) : 0;
  return order_ == CorpusOrder::Spread ? Rank{p, key, d, 0} : Rank{key, d, p, 0};
}

bool SequenceSelection::wants(std::int64_t document, std::int64_t piece) const {
  return most_ == 0 || kept_.size() < static_cast<std::size_t>(most_) || rank_of(document, piece) < kept_.front().rank;
}

void SequenceSelection::add(PlannedSequence sequence) {
  if (sequence.piece == 0) ++first_pieces_;
  if (!wants(sequence.document, sequence.piece)) return;
  const Rank rank = rank_of(sequence.document, sequence.piece);
  if (most_ > 0 && kept_.size() == static_cast<std::size_t>(most_)) {
    std::ranges::pop_heap(kept_, {}, &Ranked::rank);
    kept_.pop_back();
  }
  kept_.push_back({rank, std::move(sequence)});
  if (most_ > 0) std::ranges::push_heap(kept_, {}, &Ranked::rank);
}

bool SequenceSelection::complete() const {
  if (seed_ || most_ == 0 || order_ == CorpusOrder::Random) return false;
  return order_ == CorpusOrder::Spread ? first_pieces_ >= most_ : std::ssize(kept_) >= most_;
}

std::set<std::int64_t> SequenceSelection::documents() const {
  std::set<std::int64_t> used;
  for (const Ranked& ranked : kept_) used.insert(ranked.sequence.document);
  return used;
}

std::vector<PlannedSequence> SequenceSelection::take() {
  std::ranges::sort(kept_, {}, &Ranked::rank);
  std::vector<PlannedSequence> sequences;
  sequences.reserve(kept_.size());
  for (Ranked& ranked : kept_) sequences.push_back(std::move(ranked.sequence));
  kept_.clear();
  first_pieces_ = 0;
  return sequences;
}

}  // namespace headroom
