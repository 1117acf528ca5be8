#include "core/checkpoint/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/input_file.h"

namespace headroom {
namespace {

EVP_MD_CTX* get(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

void Sha256::Free::operator()(void* context) const { EVP_MD_CTX_free(get(context)); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  HEADROOM_CHECK(context_ && EVP_DigestInit_ex(get(context_.get()), EVP_sha256(), nullptr) == 1,
                 "OpenSSL has no SHA-256");
}

void Sha256::update(std::span<const std::byte> bytes) {
  HEADROOM_CHECK(EVP_DigestUpdate(get(context_.get()), bytes.data(), bytes.size()) == 1, "SHA-256 refused bytes");
}

std::string Sha256::finish_hex() {
  std::array<unsigned char, 32> digest{};
  HEADROOM_CHECK(EVP_DigestFinal_ex(get(context_.get()), digest.data(), nullptr) == 1, "OpenSSL has no SHA-256");
  std::string text;
  for (const unsigned char byte : digest) text += format("%02x", static_cast<unsigned>(byte));
  return text;
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
  HEADROOM_TRY(const InputFile file, InputFile::open(path));
  Sha256 hash;
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < file.size_bytes(); at += piece.size()) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file.size_bytes() - at));
    const std::span<std::byte> part(piece.data(), size);
    HEADROOM_TRY_VOID(file.read_at(at, part));
    hash.update(part);
  }
  return hash.finish_hex();
}

}  // namespace headroom
