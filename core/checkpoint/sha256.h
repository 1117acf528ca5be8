// SHA-256 (FIPS 180-4), fed in pieces; OpenSSL's, which uses the processor's own instructions. One thread at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"

namespace headroom {

class Sha256 {
 public:
  Sha256();

  void update(std::span<const std::byte> bytes);

  // Ends the message: 64 lower-case hex digits. The object is used up.
  [[nodiscard]] std::string finish_hex();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

// Of a whole file: 64 digits.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace headroom
