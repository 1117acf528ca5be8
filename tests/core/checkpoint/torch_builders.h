// PyTorch files and pickles made byte by byte for tests. Plain functions.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/core/checkpoint/builders.h"

namespace headroom::test {

struct ZipPart {
  std::string name, data;
};

[[nodiscard]] inline std::uint32_t crc32_of(std::string_view data) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const unsigned char*>(data.data()), data.size()));
}

// Both headers of an entry from the version on; `place` is that of the local one.
[[nodiscard]] inline std::string zip_header(const ZipPart& part, bool central, std::uint32_t place = 0) {
  std::string out = central ? "PK\1\2" : "PK\3\4";
  if (central) append(out, std::uint16_t{20});
  append(out, std::uint16_t{20});
  for (int i = 0; i < 4; ++i) append(out, std::uint16_t{0});  // flags, method, time, date
  append(out, crc32_of(part.data));
  append(out, static_cast<std::uint32_t>(part.data.size()));
  append(out, static_cast<std::uint32_t>(part.data.size()));
  append(out, static_cast<std::uint16_t>(part.name.size()));
  append(out, std::uint16_t{0});
  if (central) {
    for (int i = 0; i < 3; ++i) append(out, std::uint16_t{0});  // comment, disk, attributes
    append(out, std::uint32_t{0});
    append(out, place);
  }
  return out + part.name;
}

[[nodiscard]] inline std::string zip_file(const std::vector<ZipPart>& parts) {
  std::string out, directory;
  for (const ZipPart& part : parts) {
    directory += zip_header(part, true, static_cast<std::uint32_t>(out.size()));
    out += zip_header(part, false) + part.data;
  }
  const auto place = static_cast<std::uint32_t>(out.size());
  out += directory + "PK\5\6" + std::string(4, '\0');
  append(out, static_cast<std::uint16_t>(parts.size()));
  append(out, static_cast<std::uint16_t>(parts.size()));
  append(out, static_cast<std::uint32_t>(directory.size()));
  append(out, place);
  append(out, std::uint16_t{0});
  return out;
}

[[nodiscard]] inline std::string pickle_text(std::string_view text) {
  return "X" + little_endian(static_cast<std::uint32_t>(text.size())) + std::string(text);
}
[[nodiscard]] inline std::string pickle_int(std::int32_t value) { return "J" + little_endian(value); }
[[nodiscard]] inline std::string pickle_global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
[[nodiscard]] inline std::string pickle_tuple(const std::vector<std::int32_t>& values) {
  std::string out = "(";
  for (const std::int32_t value : values) out += pickle_int(value);
  return out + "t";
}

// A float tensor as torch.save pickles it.
[[nodiscard]] inline std::string pickle_tensor(std::string_view key, std::int32_t stored, std::int32_t begin,
                                               const std::vector<std::int32_t>& shape,
                                               const std::vector<std::int32_t>& strides) {
  return pickle_global("torch._utils", "_rebuild_tensor_v2") + "((" + pickle_text("storage") +
         pickle_global("torch", "FloatStorage") + pickle_text(key) + pickle_text("cpu") + pickle_int(stored) + "tQ" +
         pickle_int(begin) + pickle_tuple(shape) + pickle_tuple(strides) + "\x89" +
         pickle_global("collections", "OrderedDict") + ")RtR";
}
// {name: value, …} with what is pickled already.
[[nodiscard]] inline std::string pickle_dict(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = "\x80\x02}(";
  for (const auto& [name, value] : entries) out += pickle_text(name) + value;
  return out + "u.";
}

[[nodiscard]] inline std::string torch_zip(const std::string& pickle, const std::vector<std::string>& storages) {
  std::vector<ZipPart> parts = {{"archive/data.pkl", pickle}, {"archive/byteorder", "little"}};
  for (std::size_t i = 0; i < storages.size(); ++i) parts.push_back({"archive/data/" + std::to_string(i), storages[i]});
  parts.push_back({"archive/version", "3\n"});
  return zip_file(parts);
}

// The form before 1.6: `storages` are floats, under the keys "0", "1" …
[[nodiscard]] inline std::string torch_old(const std::string& pickle, const std::vector<std::string>& storages) {
  using namespace std::string_literals;
  std::string out = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s + "\x80\x02M\xe9\x03."s +
                    pickle_dict({{"little_endian", "\x88"}}) + pickle + "\x80\x02](";
  for (std::size_t i = 0; i < storages.size(); ++i) out += pickle_text(std::to_string(i));
  out += "e.";
  for (const std::string& storage : storages)
    out += little_endian<std::int64_t>(static_cast<std::int64_t>(storage.size() / 4)) + storage;
  return out;
}

}  // namespace headroom::test
