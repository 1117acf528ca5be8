// The claims of the DIFF V2 text, each examined by one function on the models of a Study. Owned by the study's thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/reproduce/claim.h"
#include "core/reproduce/study.h"

namespace headroom {

// A processor for claim 8: its peak for dense bfloat16 products and its memory bandwidth.
struct DecodeDevice {
  std::string name = "H100 SXM (data sheet)";
  double flops_per_second = 989e12;
  double bytes_per_second = 3.35e12;
};

struct ClaimOptions {
  DecodeDevice device;
  std::optional<std::filesystem::path> checkpoint;  // another trained softmax model for claim 6
  std::int64_t longest = 8192;                      // tokens of claim 2
};

using ClaimFunction = Result<ClaimReport> (*)(Study& study, const ClaimOptions& options);

struct Claim {
  int number;
  std::vector<std::string> recipes;  // whose models it needs
  bool initial;                      // as they are before the first step, too
  ClaimFunction examine;
};
[[nodiscard]] const std::vector<Claim>& claims();

[[nodiscard]] Result<ClaimReport> examine_context_rms(Study& study, const ClaimOptions& options);       // 1
[[nodiscard]] Result<ClaimReport> examine_norm_gain(Study& study, const ClaimOptions& options);         // 2
[[nodiscard]] Result<ClaimReport> examine_pairing(Study& study, const ClaimOptions& options);           // 3
[[nodiscard]] Result<ClaimReport> examine_sinks(Study& study, const ClaimOptions& options);             // 4
[[nodiscard]] Result<ClaimReport> examine_logits(Study& study, const ClaimOptions& options);            // 5
[[nodiscard]] Result<ClaimReport> examine_output_alignment(Study& study, const ClaimOptions& options);  // 6
[[nodiscard]] Result<ClaimReport> examine_parameters(Study& study, const ClaimOptions& options);        // 7
[[nodiscard]] Result<ClaimReport> examine_decoding(Study& study, const ClaimOptions& options);          // 8
[[nodiscard]] Result<ClaimReport> examine_headline(Study& study, const ClaimOptions& options);          // 9

}  // namespace headroom
