#include "core/text/piece_lookup.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/utf8.h"
#include "core/text/metaspace.h"

namespace headroom {
namespace {

// The end of the part that begins at `begin`.
std::size_t end_of_part(std::string_view text, std::size_t begin, bool characters) {
  const std::size_t first = decode_utf8(text.substr(begin)).size_bytes;
  if (characters) return begin + first;
  return std::min(text.find(kMetaspaceSign, begin + first), text.size());
}

}  // namespace

std::unique_ptr<TokenModel> PieceLookup::create(Vocabulary vocabulary, PieceLookupOptions options) {
  auto model = std::make_unique<PieceLookup>();
  model->vocabulary_ = std::move(vocabulary);
  model->options_ = std::move(options);
  model->byte_ids_ = fallback_ids(model->vocabulary_);
  if (std::ranges::find(model->byte_ids_, -1) != model->byte_ids_.end()) model->options_.byte_fallback = false;
  return model;
}

std::optional<std::int32_t> PieceLookup::find(std::string_view part) const {
  const auto id = vocabulary_.find(part);
  if (id && !options_.excluded.empty() && options_.excluded[static_cast<std::size_t>(*id)]) return std::nullopt;
  return id;
}

Result<void> PieceLookup::encode(std::string_view word, std::vector<ModelToken>& out) const {
  bool after_unknown = false;
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t end = end_of_part(word, begin, options_.characters);
    const std::string_view part = word.substr(begin, end - begin);
    const auto id = find(part);
    if (id) {
      out.push_back({*id, begin, end});
    } else if (options_.byte_fallback) {
      for (std::size_t at = begin; at < end; ++at)
        out.push_back({byte_ids_[static_cast<unsigned char>(word[at])], at, at + 1});
    } else if (!options_.unk_id) {
      return no_unknown_token(part);
    } else if (after_unknown) {
      out.back().end = end;
    } else {
      out.push_back({*options_.unk_id, begin, end});
    }
    after_unknown = !id && !options_.byte_fallback;
    begin = end;
  }
  return {};
}

std::string PieceLookup::spelled(std::string_view token) const {
  if (const int byte = options_.byte_fallback ? byte_of_fallback_token(token) : -1; byte >= 0)
    return std::string(1, static_cast<char>(static_cast<unsigned char>(byte)));
  return std::string(token);
}

}  // namespace headroom
