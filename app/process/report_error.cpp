#include "app/process/report_error.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace headroom {
namespace {

nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace

nlohmann::ordered_json error_object(const Error& error) {
  return {{"code", code_name(error.code)},
          {"message", error.message},
          {"file", text_or_null(error.file)},
          {"tensor", text_or_null(error.tensor)},
          {"offset", error.offset ? nlohmann::ordered_json(*error.offset) : nlohmann::ordered_json()},
          {"expected", text_or_null(error.expected)},
          {"found", text_or_null(error.found)},
          {"hint", text_or_null(error.hint)}};
}

std::string error_json(const Error& error) {
  // Paths and names from files need not be UTF-8.
  return nlohmann::ordered_json{{"error", error_object(error)}}.dump(-1, ' ', false,
                                                                     nlohmann::ordered_json::error_handler_t::replace);
}

int report_error(const Error& error, bool json) {
  std::fflush(stdout);
  std::fprintf(stderr, "headroom: %s\n", describe(error).c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "hint: %s\n", escape_for_terminal(error.hint).c_str());
  if (json) {
    std::printf("%s\n", error_json(error).c_str());
    std::fflush(stdout);
  }
  return exit_code(error.code);
}

int report_bug(const std::string& what, bool json) {
  const Error error(ErrorCode::Unsupported, "a bug of this program: " + what);
  std::fflush(stdout);
  std::fprintf(stderr, "headroom: %s\n", describe(error).c_str());
  if (json) {
    nlohmann::ordered_json object = error_object(error);
    object["code"] = "bug";
    std::printf("%s\n", nlohmann::ordered_json{{"error", object}}
                            .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                            .c_str());
    std::fflush(stdout);
  }
  return kInternalBug;
}

}  // namespace headroom
