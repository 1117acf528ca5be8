#include "core/measure/circuit_quantities.h"

#include <utility>
#include <vector>

#include "core/measure/quantity_document.h"
#include "core/measure/quantity_sources.h"

namespace headroom {
namespace {

constexpr std::string_view kSpectrum = "spectrum", kOther = "head_other", kFromLayer = "from_layer",
                           kFromHead = "from_head";
constexpr std::string_view kComposed = "[0, 1]";
constexpr Reference kCircuitNotions = {"", "", "core/measure/CIRCUITS.md#circuits"};

Quantity of_head(std::string_view name, std::vector<std::string_view> axes, std::string_view long_name,
                 std::string_view formula, std::string_view remark, std::string_view range,
                 std::vector<Reference> sources) {
  return {.name = name,
          .per = Per::Head,
          .axes = std::move(axes),
          .type = ElementType::Float64,
          .long_name = long_name,
          .formula = formula,
          .remark = remark,
          .range = range,
          .sources = std::move(sources)};
}

Quantity of_layer(std::string_view name, ElementType type, std::string_view long_name, std::string_view formula,
                  std::string_view range) {
  return {.name = name,
          .per = Per::Layer,
          .type = type,
          .long_name = long_name,
          .formula = formula,
          .range = range,
          .sources = {kCircuitNotions}};
}

std::vector<Quantity> scores() {
  return {
      of_head(
          "copying_score", {}, "copying score of OV", "Σ Re μ / Σ abs(μ), μ the eigenvalues of W_V G Eᵀ U G_final W_O",
          "μ are those of U G_final OV Eᵀ that are not 0, over all tokens with embedding and unembedding; 1: what a "
          "head reads it writes, −1: it writes against it",
          "[−1, 1]", {source::kElhage}),
      of_head("ov_effective_rank", {}, "effective rank of OV", "(Σ σ²)² / Σ σ⁴, σ = ov_singular_value",
              "the Hill number of order 2 of the shares σ²/Σσ²", "[1, d]", {source::kHill}),
      of_head("ov_largest_singular_value", {}, "largest singular value of OV", "σ₁ of ov_singular_value", "", "[0, ∞)",
              {source::kElhage}),
      of_head("qk_effective_rank", {axis::kComponent}, "effective rank of QK",
              "(Σ σ²)² / Σ σ⁴, σ = qk_singular_value of the map", "the Hill number of order 2 of the shares σ²/Σσ²",
              "[1, d]", {source::kHill}),
      of_head("qk_largest_singular_value", {axis::kComponent}, "largest singular value of QK",
              "σ₁ of qk_singular_value of the map", "", "[0, ∞)", {source::kElhage}),
      of_head("output_alignment_mean", {}, "mean alignment with its group",
              "mean of output_alignment over the other heads that share its values",
              "random matrices: 0, each with the standard deviation output_alignment_null", "[−1, 1]",
              {source::kDiffV2}),
      of_head("query_alignment", {}, "alignment of the two query blocks",
              "cos_F = Σ W_Q¹ ⊙ W_Q² / (‖W_Q¹‖_F ‖W_Q²‖_F), gains folded in",
              "of heads with two maps on one key block, else NaN: a rotation inside the head turns queries with their "
              "keys; random matrices: 0 ± 1/√(D·d)",
              "[−1, 1]", {source::kDiffV2}),
      of_head("qk_alignment", {}, "alignment of the two QK circuits",
              "cos_F of W_Q¹ᵀ W_K¹ and W_Q²ᵀ W_K² = tr((W_Q¹W_Q²ᵀ)(W_K²W_K¹ᵀ)) / norms",
              "of heads with two maps; random matrices: 0 ± 1/D", "[−1, 1]", {source::kDiffV1, source::kDiffV2}),
      of_head("block_copying_score", {axis::kValueSlot}, "copying score of a value block",
              "copying_score with one value block and the columns of W_O that its channels meet",
              "of heads with several (DIFF V1), else NaN", "[−1, 1]", {source::kElhage, source::kDiffV1}),
      of_head("block_effective_rank", {axis::kValueSlot}, "effective rank of a value block's OV",
              "(Σ σ²)² / Σ σ⁴, σ = block_singular_value", "of heads with several value blocks, else NaN", "[1, d]",
              {source::kHill, source::kDiffV1}),
  };
}

std::vector<Quantity> spectra() {
  return {
      of_head("ov_singular_value", {kSpectrum}, "singular values of OV", "of G_after W_O W_V G, descending",
              "the columns of W_O that the head's context is multiplied with, and its value blocks above each other; "
              "with gain and factor of a norm of the head. Both maps of a differential head share it: the second one "
              "writes −λ times the same, and λ is not in it",
              "[0, ∞)", {source::kElhage}),
      of_head("qk_singular_value", {axis::kComponent, kSpectrum}, "singular values of QK",
              "of G W_Qᵀ W_K G by map, descending",
              "without the logit scale; unrotated: with RoPE that is the circuit at distance 0", "[0, ∞)",
              {source::kElhage}),
      of_head("block_singular_value", {axis::kValueSlot, kSpectrum}, "singular values of a value block's OV",
              "ov_singular_value of one value block alone", "of heads with several, else NaN", "[0, ∞)",
              {source::kElhage, source::kDiffV1}),
      of_head("eigenvalue_real", {kSpectrum}, "real parts of the eigenvalues through the vocabulary",
              "Re μ of W_V G Eᵀ U G_final W_O, by descending abs(μ)", "", "(−∞, ∞)", {source::kElhage}),
      of_head("eigenvalue_imaginary", {kSpectrum}, "imaginary parts of the eigenvalues through the vocabulary",
              "Im μ of W_V G Eᵀ U G_final W_O, by descending abs(μ)", "", "(−∞, ∞)", {source::kElhage}),
      of_head(
          "output_alignment", {kOther}, "alignment of output blocks", "cos_F = Σ W_O^p ⊙ W_O^q / (‖W_O^p‖_F ‖W_O^q‖_F)",
          "as weights/output_alignment of a run file, with gains; −1: a difference that W_O makes of two heads; NaN "
          "for heads that do not share their values, whose channels cannot be compared",
          "[−1, 1]", {source::kDiffV2}),
      of_head("ov_alignment", {kOther}, "alignment of OV circuits",
              "cos_F of OV^p and OV^q = tr((W_O^pᵀ W_O^q)(W_V^q W_V^pᵀ)) / norms", "of any two heads of a layer",
              "[−1, 1]", {source::kElhage, source::kDiffV2}),
      of_layer("output_alignment_null", ElementType::Float64,
               "standard deviation of output_alignment of random matrices",
               "1/√(D·d), d the channels of a head's context", "[0, 1]"),
      of_layer("ov_alignment_null", ElementType::Float64, "standard deviation of ov_alignment of random matrices",
               "1/D", "[0, 1]"),
      of_layer("kind", ElementType::String, "kind of attention", "core/model/ARCHITECTURES.md#head-programs", ""),
      of_layer("qk_refused", ElementType::String, "why the layer has no QK", "a sentence; empty where it has one", ""),
      of_layer("ov_refused", ElementType::String, "why the layer has no OV", "a sentence; empty where it has one", ""),
      of_layer("path_refused", ElementType::String, "why there is no path through the vocabulary",
               "a sentence; empty where there is one", ""),
  };
}

std::vector<Quantity> compositions() {
  return {
      of_head("q_composition", {axis::kComponent, kFromLayer, kFromHead}, "Q-composition",
              "‖QKᵀ OV_from‖_F / (‖QK‖_F ‖OV_from‖_F)", "NaN unless from_layer is earlier; random: composition_null",
              kComposed, {source::kElhage}),
      of_head("k_composition", {axis::kComponent, kFromLayer, kFromHead}, "K-composition",
              "‖QK OV_from‖_F / (‖QK‖_F ‖OV_from‖_F)", "likewise", kComposed, {source::kElhage}),
      of_head("v_composition", {kFromLayer, kFromHead}, "V-composition", "‖OV OV_from‖_F / (‖OV‖_F ‖OV_from‖_F)",
              "likewise", kComposed, {source::kElhage}),
      {.name = "composition_null",
       .per = Per::Run,
       .type = ElementType::Float64,
       .long_name = "composition of unrelated matrices",
       .formula = "1/√D = √(mean of composition² over all rotations between the two matrices)",
       .remark = "whatever their singular values: E‖A R B‖² = ‖A‖²‖B‖²/D for a rotation R of equal chance",
       .range = kComposed,
       .sources = {source::kElhage, kCircuitNotions}},
  };
}

constexpr std::string_view kCircuitIntroduction = R"(# Circuits

What `headroom circuits MODEL -o c.h5` writes, from the weights alone ([layout](../io/RUN_FILE.md#files-of-circuits)). This document is made
from the table that the file is written from: `headroom quantities --circuits --markdown`.

A head reads the residual stream x through W_Q, W_K, W_V and writes to it through W_O (Elhage et al. 2021). Two products say all that it can do:

    OV = G_after W_O W_V G          what it writes for what it reads
    QK = G W_Qᵀ W_K G               which keys a query looks for

W_O is the head's own columns of the output projection. G is the gain of the norm before the attention, and the centring of a LayerNorm; gains of
norms of queries, keys and values, of a norm of the head with its factor (DIFF V1), and of a norm behind the attention (G_after) are folded in
where they stand. Left out is what depends on a token: the scale that a norm divides by, biases, gates and λ; RoPE, so that QK is
the circuit of a query and a key at one position; the logit scale; and every other layer: the path is the direct one from the embedding E through
this head to the unembedding U, behind the gain of the final norm.

Nothing of D × D is decomposed: OV and QK are L Rᵀ of two matrices [D, d], whose singular values are those of R_L R_Rᵀ by the triangles of two QR
factorisations, [d, d]. What goes through the vocabulary needs EᵀU, which is summed exactly over all tokens, once for a model. Norms of
compositions are those of (L₁ R_R₁ᵀ)ᵀ(L₂ R_R₂ᵀ), [d, d], in float32; all else is float64. No number changes when W_Q and W_K, or W_V and W_O, are
turned by a rotation inside the head.

Refused, by name and with the reason: latent attention (a norm stands between the factors), keys and values of another layer, cross-attention,
two maps whose values differ; through the vocabulary also encoders, several residual streams, a file without embedding or unembedding, and several norms: one
behind the embedding, or one over every sum.

)";

}  // namespace

std::span<const Quantity> circuit_quantities() {
  static const std::vector<Quantity> table = [] {
    std::vector<Quantity> all = scores();
    for (const auto& part : {spectra(), compositions()}) all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

const Quantity* find_circuit_quantity(std::string_view name) {
  for (const Quantity& quantity : circuit_quantities())
    if (quantity.name == name) return &quantity;
  return nullptr;
}

std::string circuits_document() {
  std::vector<const Quantity*> all;
  for (const Quantity& quantity : circuit_quantities()) all.push_back(&quantity);
  return std::string(kCircuitIntroduction) + quantities_markdown(all, false);
}

}  // namespace headroom
