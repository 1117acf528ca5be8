// `headroom tokenize PATH`: the tokens of a text, as the checkpoint's own tokenizer makes them. Main thread only.
#pragma once

#include <optional>
#include <string>

namespace headroom {

struct TokenizeArguments {
  std::string path;                                        // a checkpoint, or a folder that holds tokenizer files
  std::optional<std::string> text, text_file, json_lines;  // exactly one; "-" reads stdin
  std::string base;                                        // the checkpoint that an adapter changes
  std::string bos = "auto";                                // auto, always, never
  bool json = false;
};

[[nodiscard]] int run_tokenize(const TokenizeArguments& arguments);

}  // namespace headroom
