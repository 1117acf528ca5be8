#include "app/cli/families_command.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/format.h"
#include "core/model/family.h"

namespace headroom {
namespace {

std::string as_text() {
  std::size_t width = 0;
  for (const Family* family : families()) width = std::max(width, family->model_type.size());
  std::string text;
  for (const Family* family : families())
    text += format("%-*s  ", static_cast<int>(width), std::string(family->model_type).c_str()) +
            std::string(family->summary) + "\n";
  return text + format("%zu values of model_type in config.json\n", families().size());
}

std::string as_markdown() {
  std::string text = "| `model_type` | |\n|---|---|\n";
  for (const Family* family : families())
    text += "| `" + std::string(family->model_type) + "` | " + std::string(family->summary) + " |\n";
  return text;
}

std::string as_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Family* family : families())
    list.push_back({{"model_type", std::string(family->model_type)}, {"summary", std::string(family->summary)}});
  return nlohmann::ordered_json{{"families", list}}.dump(1) + "\n";
}

}  // namespace

int run_families(const FamiliesArguments& arguments) {
  const std::string text = arguments.json ? as_json() : arguments.markdown ? as_markdown() : as_text();
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace headroom
