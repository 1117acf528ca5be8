// All rows of the table of families.
#pragma once

#include <vector>

#include "tests/core/model/biased_rows.h"
#include "tests/core/model/diff_rows.h"
#include "tests/core/model/encoder_decoder_rows.h"
#include "tests/core/model/encoder_rows.h"
#include "tests/core/model/expert_rows.h"
#include "tests/core/model/family_rows.h"
#include "tests/core/model/gemma_rows.h"
#include "tests/core/model/hybrid_rows.h"
#include "tests/core/model/latent_rows.h"
#include "tests/core/model/layer_norm_rows.h"
#include "tests/core/model/rms_norm_rows.h"

namespace headroom::test {

[[nodiscard]] inline const std::vector<FamilyRow>& every_row() {
  static const std::vector<FamilyRow> rows = [] {
    std::vector<FamilyRow> all = kFamilyRows;
    for (const auto* some : {&kRmsNormRows, &kLayerNormRows, &kExpertRows, &kEncoderRows, &kEncoderDecoderRows,
                             &kBiasedRows, &kLatentRows, &kDiffRows, &kGemmaRows, &kHybridRows})
      all.insert(all.end(), some->begin(), some->end());
    return all;
  }();
  return rows;
}

}  // namespace headroom::test
