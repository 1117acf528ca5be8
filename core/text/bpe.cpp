#include "core/text/bpe.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <tuple>

#include "core/base/format.h"
#include "core/base/utf8.h"
#include "core/text/byte_level.h"

namespace headroom {
namespace {

constexpr std::size_t kMaxScoredTokenBytes = 1024;

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
}

Error bad_merge(const BpeMerge& merge, const std::string& missing) {
  return Error(ErrorCode::Corrupt, "A merge uses a token that the vocabulary does not have")
      .at_tensor(format("merge %u: \"", merge.rank) + merge.left + "\" \"" + merge.right + "\"")
      .wanted("", "no \"" + missing + "\"");
}

}  // namespace

Result<Bpe> Bpe::create(Vocabulary vocabulary, const std::vector<BpeMerge>& merges, BpeOptions options) {
  Bpe bpe;
  bpe.vocabulary_ = std::move(vocabulary);
  bpe.options_ = std::move(options);
  const Vocabulary& known = bpe.vocabulary_;
  bpe.merges_.reserve(merges.size());
  for (const BpeMerge& merge : merges) {
    const auto left = known.find(merge.left);
    const auto right = known.find(merge.right);
    const auto whole = known.find(merge.left + merge.right);
    if (!left) return bad_merge(merge, merge.left);
    if (!right) return bad_merge(merge, merge.right);
    if (!whole) return bad_merge(merge, merge.left + merge.right);
    bpe.merges_[pair_key(*left, *right)] = {merge.rank, *whole};
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(static_cast<unsigned char>(byte));
    const std::string spelled =
        bpe.options_.byte_level ? byte_level_from_bytes(std::string_view(&character, 1)) : format("<0x%02X>", byte);
    bpe.byte_ids_[byte] = known.find(spelled).value_or(-1);
  }
  if (bpe.options_.byte_level && bpe.options_.ignore_merges) {
    bpe.words_.reserve(known.tokens().size());
    for (const auto& [id, token] : known.tokens())
      if (auto bytes = bytes_from_byte_level(token)) bpe.words_.try_emplace(*std::move(bytes), id);
  }
  if (!bpe.options_.unk_token.empty()) {
    const auto unk = known.find(bpe.options_.unk_token);
    if (!unk)
      return Error(ErrorCode::Corrupt, "The unknown token is not in the vocabulary").at_tensor(bpe.options_.unk_token);
    bpe.unk_id_ = *unk;
  }
  return bpe;
}

Result<std::vector<BpeMerge>> Bpe::merges_from_scores(const Vocabulary& vocabulary,
                                                      const std::unordered_map<std::int32_t, double>& scores) {
  std::map<double, std::uint32_t, std::greater<>> ranks;
  for (const auto& [id, score] : scores) ranks.try_emplace(score, 0);
  std::uint32_t next = 0;
  for (auto& [score, rank] : ranks) rank = next++;

  std::vector<BpeMerge> merges;
  for (const auto& [id, score] : scores) {
    const std::string* token = vocabulary.token(id);
    if (token == nullptr) continue;
    if (token->size() > kMaxScoredTokenBytes)
      return Error(ErrorCode::Unsupported, format("A token is longer than %zu bytes", kMaxScoredTokenBytes))
          .at_tensor(format("id %d", id));
    const std::string_view text = *token;
    for (std::size_t cut = decode_utf8(text.empty() ? " " : text).size_bytes; cut < text.size();
         cut += decode_utf8(text.substr(cut)).size_bytes) {
      if (!vocabulary.find(text.substr(0, cut)) || !vocabulary.find(text.substr(cut))) continue;
      merges.push_back({std::string(text.substr(0, cut)), std::string(text.substr(cut)), ranks.at(score)});
    }
  }
  return merges;
}

const Bpe::Merge* Bpe::find_merge(std::int32_t left, std::int32_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void Bpe::append_characters(std::string_view word, std::vector<BpeToken>& symbols) const {
  bool unknown_before = false;
  std::size_t begin = 0;
  while (begin < word.size()) {
    const std::size_t size = options_.byte_level ? 1 : decode_utf8(word.substr(begin)).size_bytes;
    const std::size_t end = begin + size;
    const auto byte_id = [&](std::size_t i) { return byte_ids_[static_cast<unsigned char>(word[i])]; };
    const auto id = options_.byte_level ? byte_id(begin) : vocabulary_.find(word.substr(begin, size)).value_or(-1);
    bool falls_back = !options_.byte_level && options_.byte_fallback;
    for (std::size_t i = begin; i < end; ++i) falls_back = falls_back && byte_id(i) >= 0;
    bool unknown = false;
    if (id >= 0) {
      symbols.push_back({id, begin, end});
    } else if (falls_back) {
      for (std::size_t i = begin; i < end; ++i) symbols.push_back({byte_id(i), i, i + 1});
    } else if (unk_id_ >= 0) {
      unknown = true;
      if (unknown_before && options_.fuse_unk)
        symbols.back().end = end;
      else
        symbols.push_back({unk_id_, begin, end});
    }
    unknown_before = unknown;
    begin = end;
  }
}

void Bpe::merge(std::vector<BpeToken>& symbols) const {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Link {
    std::uint32_t previous;
    std::uint32_t next;
  };
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t position;
    std::int32_t id;
    bool operator>(const Candidate& other) const {
      return std::tie(rank, position) > std::tie(other.rank, other.position);
    }
  };
  const auto size = static_cast<std::uint32_t>(symbols.size());
  if (size < 2) return;
  std::vector<Candidate> candidates;
  for (std::uint32_t i = 0; i + 1 < size; ++i)
    if (const Merge* found = find_merge(symbols[i].id, symbols[i + 1].id))
      candidates.push_back({found->rank, i, found->id});
  if (candidates.empty()) return;
  std::vector<Link> links(size);
  for (std::uint32_t i = 0; i < size; ++i) links[i] = {i == 0 ? kNone : i - 1, i + 1 == size ? kNone : i + 1};
  std::vector<bool> dead(size);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue(std::greater<>{}, std::move(candidates));

  const auto offer = [&](std::uint32_t left, std::uint32_t right) {
    if (left == kNone || right == kNone) return;
    if (const Merge* found = find_merge(symbols[left].id, symbols[right].id))
      queue.push({found->rank, left, found->id});
  };
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    const std::uint32_t left = top.position;
    const std::uint32_t right = dead[left] ? kNone : links[left].next;
    if (right == kNone) continue;
    // A candidate is stale when its pair no longer makes the same token; the reference compares tokens, not ranks.
    const Merge* current = find_merge(symbols[left].id, symbols[right].id);
    if (current == nullptr || current->id != top.id) continue;
    symbols[left].id = top.id;
    symbols[left].end = symbols[right].end;
    dead[right] = true;
    links[left].next = links[right].next;
    if (links[left].next != kNone) links[links[left].next].previous = left;
    offer(links[left].previous, left);
    offer(left, links[left].next);
  }
  std::size_t kept = 0;
  for (std::uint32_t i = 0; i != kNone; i = links[i].next) symbols[kept++] = symbols[i];
  symbols.resize(kept);
}

void Bpe::encode(std::string_view word, std::vector<BpeToken>& out) const {
  if (word.empty()) return;
  if (options_.ignore_merges) {
    if (options_.byte_level) {
      const auto found = words_.find(std::string(word));
      if (found != words_.end()) return out.push_back({found->second, 0, word.size()});
    } else if (const auto id = vocabulary_.find(word)) {
      return out.push_back({*id, 0, word.size()});
    }
  }
  std::vector<BpeToken> symbols;
  append_characters(word, symbols);
  merge(symbols);
  out.insert(out.end(), symbols.begin(), symbols.end());
}

}  // namespace headroom
