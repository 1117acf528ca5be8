#include "app/figures/placed_json.h"

#include <algorithm>
#include <ios>
#include <set>
#include <sstream>

namespace headroom {
namespace {

// "line 3, column 5"
std::string place_at(std::string_view text, std::size_t at) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < at; ++i) {
    if (text[i] == '\n')
      ++line, column = 1;
    else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
      ++column;
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// Of the string that ends at `end`, behind its closing quotation mark.
std::string place_of_string(std::string_view text, std::size_t end) {
  std::size_t at = end < 2 ? 0 : end - 2;
  const auto opens = [&](std::size_t i) {
    std::size_t before = i;
    while (before > 0 && text[before - 1] == '\\') --before;
    return text[i] == '"' && (i - before) % 2 == 0;
  };
  while (at > 0 && !opens(at)) --at;
  return place_at(text, at);
}

}  // namespace

Result<PlacedJson> PlacedJson::parse(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::set<std::string>> open;  // members of the objects that are being read
  std::vector<std::string> places;
  std::string twice;
  const auto event = [&](int, PlacedJson::Json::parse_event_t what, PlacedJson::Json& parsed) {
    if (what == PlacedJson::Json::parse_event_t::object_start) open.emplace_back();
    if (what == PlacedJson::Json::parse_event_t::object_end) open.pop_back();
    if (what != PlacedJson::Json::parse_event_t::key) return true;
    const auto name = parsed.get<std::string>();
    places.push_back(place_of_string(text, static_cast<std::size_t>(stream.tellg())));
    if (!open.back().insert(name).second && twice.empty()) twice = "\"" + name + "\" twice: " + places.back();
    return true;
  };
  PlacedJson made;
  try {
    made.root_ = std::make_unique<PlacedJson::Json>(PlacedJson::Json::parse(stream, event, true, true));
  } catch (const PlacedJson::Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: …"
    const std::string what = error.what();
    if (const std::size_t from = what.find("line "); from != std::string::npos)
      return Error(ErrorCode::Corrupt, what.substr(from));
    const std::size_t name = what.find("] ");
    const auto read = std::min(text.size(), static_cast<std::size_t>(std::max<std::streamoff>(0, stream.tellg())));
    return Error(ErrorCode::Corrupt,
                 place_at(text, read) + ": " + (name == std::string::npos ? what : what.substr(name + 2)));
  }
  if (!twice.empty()) return Error(ErrorCode::InvalidArgument, "an object has the member " + twice);
  std::size_t next = 0;
  made.place_members(made.root(), places, next);
  return made;
}

std::string PlacedJson::place(const PlacedJson::Json& object, const std::string& member) const {
  const auto found = places_.find({&object, member});
  return found == places_.end() ? std::string() : found->second;
}

// Members in the order in which they were read.
void PlacedJson::place_members(const PlacedJson::Json& value, const std::vector<std::string>& places,
                               std::size_t& next) {
  if (value.is_array())
    for (const PlacedJson::Json& one : value) place_members(one, places, next);
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    places_.emplace(std::pair(&value, name), places[next++]);
    place_members(member, places, next);
  }
}

}  // namespace headroom
