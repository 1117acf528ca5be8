#include "app/cli/prompt_input.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <unistd.h>

#include "core/base/format.h"
#include "core/base/parse_number.h"
#include "core/corpus/plan_file.h"
#include "core/model/capture.h"
#include "core/run/capture_prompt.h"
#include "core/run/make_prompt.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

constexpr std::uint64_t kLongestPrompt = std::uint64_t{64} << 20;

Result<std::string> read_stdin() {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (count < 0) return Error(ErrorCode::Io, "standard input cannot be read");
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > kLongestPrompt)
      return Error(ErrorCode::OutOfMemory, "the prompt on standard input is longer than 64 MiB");
  }
}

// A capture has the tokens that its model ran on.
Result<Prompt> prompt_of_capture(const PromptArguments& arguments, const OpenedModel& model, std::string& note) {
  const std::pair<const char*, bool> options[] = {{"--text", arguments.text.has_value()},
                                                  {"--text-file", arguments.text_file.has_value()},
                                                  {"--ids", arguments.ids.has_value()},
                                                  {"--ids-file", arguments.ids_file.has_value()},
                                                  {"--sequence", arguments.sequence.has_value()},
                                                  {"--target-text", arguments.target_text.has_value()},
                                                  {"--target-ids", arguments.target_ids.has_value()},
                                                  {"--max-tokens", arguments.max_tokens > 0}};
  for (const auto& [name, given] : options)
    if (given) {
      Error error(ErrorCode::InvalidArgument, "a capture is of one prompt, and cannot be run on another");
      return error.at_tensor(name).wanted("no prompt", name).advise("record another capture, or open the checkpoint");
    }
  if (model.spec.capture->tokens.length() == 0) note = "tokens are not known: the capture names none";
  return capture_prompt(*model.spec.capture);
}

// "all.h5::S17".
Result<std::string> ids_of_sequence(const std::string& address) {
  const std::size_t place = address.rfind("::S");
  const auto number =
      place == std::string::npos ? std::nullopt : parse_index(std::string_view(address).substr(place + 3));
  if (!number) {
    Error error(ErrorCode::InvalidArgument, "a sequence is named by its file and its number");
    return error.at_tensor("--sequence").wanted("FILE::SN, e.g. all.h5::S17", address);
  }
  HEADROOM_TRY(const std::vector<std::int32_t> ids, read_planned_sequence(address.substr(0, place), *number));
  return ids_text(ids);
}

}  // namespace

Result<std::string> read_prompt_source(const std::string& path) {
  if (path == "-") return read_stdin();
  return read_text_file(path, kLongestPrompt);
}

BosMode bos_mode_named(std::string_view name) {
  if (name == "always") return BosMode::Always;
  return name == "never" ? BosMode::Never : BosMode::Auto;
}

Result<Prompt> read_prompt(const PromptArguments& arguments, const OpenedModel& model, TokenizerUse& use) {
  if (model.spec.capture) return prompt_of_capture(arguments, model, use.note);
  const int given = (arguments.text ? 1 : 0) + (arguments.text_file ? 1 : 0) + (arguments.ids ? 1 : 0) +
                    (arguments.ids_file ? 1 : 0) + (arguments.sequence ? 1 : 0);
  std::string example;
  if (given == 0) {
    if (auto text = model.checkpoint->read_sibling(kExamplePromptFile)) example = std::move(*text);
  }
  if (given != 1 && example.empty()) {
    Error error(ErrorCode::InvalidArgument, "a run needs one prompt");
    error.wanted("one of --text, --text-file, --ids, --ids-file, --sequence", std::to_string(given));
    return error;
  }
  const PromptOptions options{bos_mode_named(arguments.bos), arguments.max_tokens, arguments.target_text,
                              arguments.target_ids};
  auto tokenizer = open_tokenizer(*model.checkpoint);
  if (tokenizer) use.tokenizer = std::move(*tokenizer);
  if (arguments.text || arguments.text_file) {
    if (!tokenizer) {
      Error error = tokenizer.error();
      if (error.code == ErrorCode::NotFound) error.message = "the checkpoint has no tokenizer, so it cannot read text";
      return error.advise("give token ids with --ids or --ids-file");
    }
    std::string text;
    if (arguments.text) {
      text = *arguments.text;
    } else {
      HEADROOM_TRY(text, read_prompt_source(*arguments.text_file));
    }
    use.note = use.tokenizer->description();
    return prompt_of_text(std::move(text), *use.tokenizer, model.spec, options);
  }
  std::string ids = example;
  if (arguments.ids) {
    ids = *arguments.ids;
  } else if (arguments.ids_file) {
    HEADROOM_TRY(ids, read_prompt_source(*arguments.ids_file));
  } else if (arguments.sequence) {
    HEADROOM_TRY(ids, ids_of_sequence(*arguments.sequence));
  }
  if (tokenizer)
    use.note = use.tokenizer->description();
  else
    use.note =
        "token texts are not known: " +
        (tokenizer.error().code == ErrorCode::NotFound ? "the checkpoint has no tokenizer" : tokenizer.error().message);
  if (!example.empty()) use.note += format("; no prompt was given: the checkpoint's own, %s", kExamplePromptFile);
  return prompt_of_ids(std::move(ids), use.tokenizer.get(), model.spec, options);
}

}  // namespace headroom
