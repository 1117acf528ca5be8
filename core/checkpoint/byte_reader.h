// The only way a parser touches the bytes of a file: sequential, buffered, little-endian, and every length is compared
// with the bytes that remain before anything is allocated. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/input_file.h"
#include "core/base/result.h"

namespace headroom {

// Empty on overflow.
[[nodiscard]] std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b);

class ByteReader {
 public:
  // Both borrow: the file or the bytes must outlive the reader.
  explicit ByteReader(const InputFile& file);
  explicit ByteReader(std::span<const std::byte> bytes);

  [[nodiscard]] std::uint64_t position() const { return window_offset_ + cursor_; }
  [[nodiscard]] std::uint64_t remaining() const { return size_bytes_ - position(); }

  // `what` names the item in the error of a file that is too short.
  template <typename T>
  [[nodiscard]] Result<T> number(const char* what) {
    static_assert(std::is_arithmetic_v<T>);
    HEADROOM_TRY_VOID(require(sizeof(T), what));
    T value;
    std::memcpy(&value, window_.data() + cursor_, sizeof(T));
    cursor_ += sizeof(T);
    return value;
  }

  [[nodiscard]] Result<void> bytes(std::span<std::byte> out, const char* what);
  // Corrupt above `limit_bytes`.
  [[nodiscard]] Result<std::string> text(std::uint64_t size_bytes, std::uint64_t limit_bytes, const char* what);

 private:
  // Makes `count` bytes (at most kWindowBytes) available at the cursor.
  Result<void> require(std::size_t count, const char* what) {
    if (window_.size() - cursor_ >= count) return {};
    return refill(count, what);
  }
  Result<void> refill(std::size_t count, const char* what);
  [[nodiscard]] Error cut_off(std::uint64_t count, const char* what) const;

  const InputFile* file_ = nullptr;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> window_;
  std::uint64_t window_offset_ = 0;
  std::size_t cursor_ = 0;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace headroom
