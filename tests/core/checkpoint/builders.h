// Small checkpoint files made byte by byte for tests. Plain functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace headroom::test {

template <typename T>
void append(std::string& out, T value) {
  static_assert(std::is_arithmetic_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

template <typename T>
[[nodiscard]] std::string little_endian(T value) {
  std::string out;
  append(out, value);
  return out;
}

// Length, header, data.
[[nodiscard]] inline std::string safetensors(std::string_view header, std::string_view data) {
  return little_endian<std::uint64_t>(header.size()) + std::string(header) + std::string(data);
}

[[nodiscard]] inline std::string gguf_string(std::string_view text) {
  return little_endian<std::uint64_t>(text.size()) + std::string(text);
}

[[nodiscard]] inline std::string gguf_header(std::uint64_t tensors, std::uint64_t entries, std::uint32_t version = 3) {
  return "GGUF" + little_endian(version) + little_endian(tensors) + little_endian(entries);
}

// A key, its type and the bytes of its value.
[[nodiscard]] inline std::string gguf_entry(std::string_view key, std::uint32_t type, std::string_view value) {
  return gguf_string(key) + little_endian(type) + std::string(value);
}

// Extents in the file's order, the fastest first.
[[nodiscard]] inline std::string gguf_tensor(std::string_view name, std::initializer_list<std::uint64_t> extents,
                                             std::uint32_t type, std::uint64_t offset) {
  std::string out = gguf_string(name) + little_endian(static_cast<std::uint32_t>(extents.size()));
  for (const std::uint64_t extent : extents) append(out, extent);
  return out + little_endian(type) + little_endian(offset);
}

// `header` with zeros up to the next multiple of `alignment`, then `data`.
[[nodiscard]] inline std::string gguf_file(std::string header, std::string_view data, std::size_t alignment = 32) {
  header.resize((header.size() + alignment - 1) / alignment * alignment);
  return header + std::string(data);
}

}  // namespace headroom::test
