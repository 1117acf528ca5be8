#include "core/checkpoint/byte_reader.h"

#include <algorithm>
#include <bit>

#include "core/base/format.h"

namespace headroom {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are stored");

constexpr std::size_t kWindowBytes = std::size_t{1} << 18;

}  // namespace

std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

ByteReader::ByteReader(const InputFile& file) : file_(&file), size_bytes_(file.size_bytes()) {}

ByteReader::ByteReader(std::span<const std::byte> bytes) : window_(bytes), size_bytes_(bytes.size()) {}

Error ByteReader::cut_off(std::uint64_t count, const char* what) const {
  Error error(ErrorCode::Corrupt, std::string("The file ends inside ") + what);
  error.at_offset(position()).wanted(std::to_string(count) + " bytes", std::to_string(remaining()));
  if (file_) error.in_file(file_->path().string());
  return error;
}

Result<void> ByteReader::refill(std::size_t count, const char* what) {
  if (remaining() < count || !file_) return cut_off(count, what);
  const std::uint64_t offset = position();
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, size_bytes_ - offset));
  buffer_.resize(size);
  HEADROOM_TRY_VOID(file_->read_at(offset, buffer_));
  window_ = buffer_;
  window_offset_ = offset;
  cursor_ = 0;
  return {};
}

Result<void> ByteReader::bytes(std::span<std::byte> out, const char* what) {
  if (out.size() > remaining()) return cut_off(out.size(), what);
  const std::size_t buffered = std::min(out.size(), window_.size() - cursor_);
  std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(cursor_), buffered, out.begin());
  cursor_ += buffered;
  out = out.subspan(buffered);
  if (out.empty()) return {};
  if (out.size() < kWindowBytes) {
    HEADROOM_TRY_VOID(refill(out.size(), what));
    std::copy_n(window_.begin(), out.size(), out.begin());
    cursor_ = out.size();
    return {};
  }
  HEADROOM_TRY_VOID(file_->read_at(position(), out));
  window_offset_ = position() + out.size();
  window_ = {};
  cursor_ = 0;
  return {};
}

Result<std::string> ByteReader::text(std::uint64_t size_bytes, std::uint64_t limit_bytes, const char* what) {
  if (size_bytes > remaining()) return cut_off(size_bytes, what);
  if (size_bytes > limit_bytes) {
    Error error(ErrorCode::Corrupt, std::string("The length of ") + what + " is above the limit");
    error.at_offset(position())
        .wanted(format("at most %llu bytes", static_cast<unsigned long long>(limit_bytes)), std::to_string(size_bytes));
    if (file_) error.in_file(file_->path().string());
    return error;
  }
  std::string out(static_cast<std::size_t>(size_bytes), '\0');
  HEADROOM_TRY_VOID(bytes(std::as_writable_bytes(std::span(out.data(), out.size())), what));
  return out;
}

}  // namespace headroom
