#include "core/io/netcdf_name.h"

#include <cstddef>

#include "core/base/format.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

bool is_letter_or_digit(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9');
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_netcdf_name(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const Utf8Scalar scalar = decode_utf8(name.substr(at));
    const std::string_view bytes = name.substr(at, scalar.size_bytes);
    at += scalar.size_bytes;
    const char32_t c = scalar.code_point;
    const bool first_refused = out.empty() && c < 0x80 && c != U'_' && !is_letter_or_digit(c);
    const bool last_refused = at == name.size() && c == U' ';
    if (!scalar.valid || c < 0x20 || c == 0x7F || c == U'/' || c == U'%' || first_refused || last_refused) {
      // '%' itself may not come first, so that such a name begins with '_'.
      if (out.empty()) out += '_';
      for (const char byte : bytes) out += format("%%%02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    } else {
      out += bytes;
    }
  }
  // A '_' of the name itself before an escape is escaped too, since one there means that the name begins with an
  // escape.
  if (name.substr(0, 1) == "_" && out.compare(0, 2, "_%") == 0) out.insert(1, "%5F");
  return out;
}

std::string from_netcdf_name(std::string_view name) {
  if (name.size() > 1 && name[0] == '_' && name[1] == '%') name.remove_prefix(1);
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 2 < name.size() && hex_value(name[i + 1]) >= 0 && hex_value(name[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(name[i + 1]) * 16 + hex_value(name[i + 2]));
      i += 2;
    } else {
      out += name[i];
    }
  }
  return out;
}

}  // namespace headroom
