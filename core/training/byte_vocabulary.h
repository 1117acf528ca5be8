// Vocabularies whose tokens are single bytes, and the tokenizer.json that says so. Pure functions; safe from any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

// `bytes[i]` is the byte that token first_id + i stands for; `bos` is put before every text. Any tokenizer that reads
// byte-level BPE (no merges) encodes with it as the task does; `lower_case`: A to Z become a to z first. `words` are
// tokens bos + 1 and on, found in a text before its bytes are looked at, the longest at each place.
[[nodiscard]] std::string byte_tokenizer_json(const std::vector<unsigned char>& bytes, std::int64_t first_id,
                                              std::int64_t bos, bool lower_case,
                                              const std::vector<std::string>& words = {});

}  // namespace headroom
