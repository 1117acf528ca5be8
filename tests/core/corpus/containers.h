// Documents of token ids in every container that is read, written byte by byte as the formats say. Nothing here is the
// program's.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

template <typename T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

template <typename T>
std::string packed_ids(const std::vector<std::vector<std::int32_t>>& documents) {
  std::string out;
  for (const auto& document : documents)
    for (const std::int32_t id : document) put(out, static_cast<T>(id));
  return out;
}

inline std::string llm_c(const std::vector<std::vector<std::int32_t>>& documents, bool newer) {
  std::int32_t count = 0;
  for (const auto& document : documents) count += static_cast<std::int32_t>(document.size());
  std::string out;
  for (const std::int32_t word : {newer ? 20240801 : 20240520, newer ? 7 : 1, count}) put(out, word);
  out.resize(1024, '\0');
  return out + (newer ? packed_ids<std::uint32_t>(documents) : packed_ids<std::uint16_t>(documents));
}

// Each document in two sequences where it has two ids or more.
inline std::string megatron_index(const std::vector<std::vector<std::int32_t>>& documents, std::uint8_t type,
                                  std::size_t bytes) {
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> offsets, first = {0};
  std::int64_t offset = 0;
  for (const auto& document : documents) {
    const auto size = static_cast<std::int32_t>(document.size());
    for (const std::int32_t part : {size / 2, size - size / 2}) {
      if (part == 0) continue;
      lengths.push_back(part);
      offsets.push_back(offset);
      offset += part * static_cast<std::int64_t>(bytes);
    }
    first.push_back(static_cast<std::int64_t>(lengths.size()));
  }
  std::string out("MMIDIDX\0\0", 9);
  put(out, std::uint64_t{1});
  put(out, type);
  put(out, std::uint64_t{lengths.size()});
  put(out, std::uint64_t{first.size()});
  for (const std::int32_t length : lengths) put(out, length);
  for (const std::int64_t at : offsets) put(out, at);
  for (const std::int64_t at : first) put(out, at);
  return out;
}

inline std::string numpy_array(std::string_view descr, std::string_view shape, const std::string& data,
                               bool fortran = false) {
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + std::string(shape) + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  put(out, static_cast<std::uint16_t>(header.size()));
  return out + header + data;
}

inline std::string json_lines(const std::vector<std::vector<std::int32_t>>& documents) {
  std::string out;
  for (const auto& document : documents) {
    out += "{\"meta\": {\"ids\": [";
    for (std::size_t i = 0; i < document.size(); ++i) out += (i ? ", " : "") + std::to_string(document[i]);
    out += "]}}\n";
  }
  return out;
}

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

}  // namespace headroom::test
