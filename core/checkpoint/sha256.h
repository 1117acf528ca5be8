// SHA-256 (FIPS 180-4), fed in pieces; OpenSSL's, which uses the processor's own instructions. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

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

}  // namespace headroom
