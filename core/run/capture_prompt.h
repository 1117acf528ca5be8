// What stands in the place of a prompt where a capture is run: its tokens, as far as it names them. Pure; safe from any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/measure/layer_record.h"
#include "core/model/capture.h"
#include "core/run/analysis.h"

namespace headroom {

// As many ids as the longest call has rows or keys, −1 where none is known.
[[nodiscard]] Prompt capture_prompt(const Capture& capture);

// InvalidArgument for what a capture cannot give: hidden states.
[[nodiscard]] Result<void> check_capture_request(const AnalysisRequest& request);

// "warning: NAME, head 3: the context differs …".
[[nodiscard]] std::string describe_context(const LayerRecord& record, const HeadRecord& head);

// Which of the two sequences of a capture a call's rows and keys are, by their numbers: texts of one of them belong to
// an axis of its length.
enum class TokenAxis { None, Tokens, KeyTokens };
inline constexpr std::string_view kTokenAxes[] = {"none", "tokens", "key_tokens"};  // as run files name them
struct CallAxes {
  TokenAxis rows = TokenAxis::None, keys = TokenAxis::None;
};
[[nodiscard]] CallAxes axes_of_call(const Capture& capture, const CaptureCall& call, bool causal);

}  // namespace headroom
