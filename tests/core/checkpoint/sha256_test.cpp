#include "core/checkpoint/sha256.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

std::string hash_of(std::string_view text, std::size_t piece) {
  Sha256 hash;
  for (std::size_t i = 0; i < text.size(); i += piece) hash.update(std::as_bytes(std::span(text.substr(i, piece))));
  return hash.finish_hex();
}

struct Vector {
  std::string message;
  std::string_view digest;
};

}  // namespace

// NIST's examples for FIPS 180-4 (one block, two blocks, 896 bits, a million letters) and the empty message.
CATCH_TEST_CASE("SHA-256: published vectors, fed in pieces of any size") {
  const std::vector<Vector> vectors = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrst"
       "u",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const Vector& vector : vectors)
    for (const std::size_t piece : {1, 55, 56, 63, 64, 65, 1000, 1 << 20})
      CATCH_CHECK(hash_of(vector.message, piece) == vector.digest);
}

}  // namespace headroom::test
