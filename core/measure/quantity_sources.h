// What definitions rest on: papers and posts that anybody can read, and the notions of this project's own document.
// Constants.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace headroom {

struct Reference {
  std::string_view name;   // "Gu et al. 2024"; empty for a notion of this project
  std::string_view title;  // of the paper or post
  std::string_view place;  // "arXiv 2410.10781", "doi:10.2307/1934352", an address, or PATH#ANCHOR in this project
};

// "Gu et al. 2024, arXiv 2410.10781".
[[nodiscard]] inline std::string cited(const Reference& reference) {
  const std::string place(reference.place);
  return reference.name.empty() ? place : std::string(reference.name) + ", " + place;
}

namespace source {

inline constexpr Reference kAinslie = {
    "Ainslie et al. 2023", "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints",
    "arXiv 2305.13245"};
inline constexpr Reference kBondarenko = {
    "Bondarenko et al. 2023", "Quantizable Transformers: Removing Outliers by Helping Attention Heads Do Nothing",
    "arXiv 2306.12929"};
inline constexpr Reference kDosovitskiy = {"Dosovitskiy et al. 2020",
                                           "An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale",
                                           "arXiv 2010.11929"};
inline constexpr Reference kElhage = {"Elhage et al. 2021", "A Mathematical Framework for Transformer Circuits",
                                      "https://transformer-circuits.pub/2021/framework/index.html"};
inline constexpr Reference kGu = {"Gu et al. 2024", "When Attention Sink Emerges in Language Models: An Empirical View",
                                  "arXiv 2410.10781"};
inline constexpr Reference kGuo = {
    "Guo et al. 2024", "Active-Dormant Attention Heads: Mechanistically Demystifying Extreme-Token Phenomena in LLMs",
    "arXiv 2410.13835"};
inline constexpr Reference kHenry = {"Henry et al. 2020", "Query-Key Normalization for Transformers",
                                     "arXiv 2010.04245"};
inline constexpr Reference kHill = {"Hill 1973", "Diversity and Evenness: A Unifying Notation and Its Consequences",
                                    "doi:10.2307/1934352"};
inline constexpr Reference kHyndman = {"Hyndman and Fan 1996", "Sample Quantiles in Statistical Packages",
                                       "doi:10.2307/2684934"};
inline constexpr Reference kKimi = {"Kimi Team 2025", "Kimi K2: Open Agentic Intelligence", "arXiv 2507.20534"};
inline constexpr Reference kMiller = {"Miller 2023", "Attention Is Off By One",
                                      "https://www.evanmiller.org/attention-is-off-by-one.html"};
inline constexpr Reference kOlsson = {"Olsson et al. 2022", "In-context Learning and Induction Heads",
                                      "arXiv 2209.11895"};
inline constexpr Reference kOpenAi = {"OpenAI 2025", "gpt-oss-120b & gpt-oss-20b Model Card", "arXiv 2508.10925"};
inline constexpr Reference kAlibi = {
    "Press, Smith and Lewis 2022",
    "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation", "arXiv 2108.12409"};
inline constexpr Reference kGates = {
    "Qiu et al. 2025", "Gated Attention for Large Language Models: Non-linearity, Sparsity, and Attention-Sink-Free",
    "arXiv 2505.06708"};
inline constexpr Reference kRounding = {"Qiu and Yao 2025",
                                        "Why Low-Precision Transformer Training Fails: An Analysis on Flash Attention",
                                        "arXiv 2510.04212"};
inline constexpr Reference kBuckets = {
    "Raffel et al. 2020", "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    "arXiv 1910.10683"};
inline constexpr Reference kShazeer = {
    "Shazeer et al. 2017", "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer",
    "arXiv 1701.06538"};
inline constexpr Reference kSun = {"Sun et al. 2024", "Massive Activations in Large Language Models",
                                   "arXiv 2402.17762"};
inline constexpr Reference kDiffV1 = {"Ye et al. 2024", "Differential Transformer", "arXiv 2410.05258"};
inline constexpr Reference kDiffV2 = {"Ye et al. 2026", "Differential Transformer V2 (post of Microsoft)",
                                      "https://huggingface.co/blog/microsoft/diff-attn-v2"};
inline constexpr Reference kZhai = {"Zhai et al. 2023",
                                    "Stabilizing Transformer Training by Preventing Attention Entropy Collapse",
                                    "arXiv 2303.06296"};

inline constexpr std::array kPublished = {
    kAinslie, kBondarenko, kDosovitskiy, kElhage, kGu,       kGuo,     kHenry,   kHill, kHyndman, kKimi,   kMiller,
    kOlsson,  kOpenAi,     kAlibi,       kGates,  kRounding, kBuckets, kShazeer, kSun,  kDiffV1,  kDiffV2, kZhai};

inline constexpr Reference kSymbols = {"", "", "core/measure/QUANTITIES.md#symbols"};
inline constexpr Reference kVisibleKeys = {"", "", "core/measure/QUANTITIES.md#visible-keys"};
inline constexpr Reference kLogits = {"", "", "core/measure/QUANTITIES.md#logits-and-weights"};
inline constexpr Reference kContexts = {"", "", "core/measure/QUANTITIES.md#values-and-contexts"};
inline constexpr Reference kIntervals = {"", "", "core/measure/QUANTITIES.md#intervals"};
inline constexpr Reference kPremise = {"", "", "core/measure/QUANTITIES.md#the-premise"};
inline constexpr Reference kDecomposition = {"", "", "core/measure/QUANTITIES.md#decomposition"};
inline constexpr Reference kSinks = {"", "", "core/measure/QUANTITIES.md#attention-sinks"};
inline constexpr Reference kCancellation = {"", "", "core/measure/QUANTITIES.md#cancellation"};
inline constexpr Reference kHistograms = {"", "", "core/measure/QUANTITIES.md#histograms-and-pooled-maps"};
inline constexpr Reference kNextTokens = {"", "", "core/measure/QUANTITIES.md#next-tokens"};
inline constexpr Reference kHeadPrograms = {"", "", "core/model/ARCHITECTURES.md#head-programs"};
inline constexpr Reference kFamilies = {"", "", "core/model/ARCHITECTURES.md#families"};
inline constexpr Reference kExperts = {"", "", "core/model/ARCHITECTURES.md#experts"};
inline constexpr Reference kCaptures = {"", "", "core/checkpoint/FORMATS.md#captures"};
inline constexpr Reference kWhatIfs = {"", "", "core/io/RUN_FILE.md#what-ifs"};

}  // namespace source
}  // namespace headroom
