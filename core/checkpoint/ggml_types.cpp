#include "core/checkpoint/ggml_types.h"

#include <algorithm>
#include <array>

namespace headroom {
namespace {

constexpr std::array kTypes = {
    GgmlType{0, "F32", 1, 4, DType::F32},
    GgmlType{1, "F16", 1, 2, DType::F16},
    GgmlType{2, "Q4_0", 32, 18, DType::Q4_0},
    GgmlType{3, "Q4_1", 32, 20, DType::Q4_1},
    GgmlType{4, "Q4_2", 0, 0, DType::Unsupported},
    GgmlType{5, "Q4_3", 0, 0, DType::Unsupported},
    GgmlType{6, "Q5_0", 32, 22, DType::Q5_0},
    GgmlType{7, "Q5_1", 32, 24, DType::Q5_1},
    GgmlType{8, "Q8_0", 32, 34, DType::Q8_0},
    GgmlType{9, "Q8_1", 32, 36, DType::Unsupported},
    GgmlType{10, "Q2_K", 256, 84, DType::Q2_K},
    GgmlType{11, "Q3_K", 256, 110, DType::Q3_K},
    GgmlType{12, "Q4_K", 256, 144, DType::Q4_K},
    GgmlType{13, "Q5_K", 256, 176, DType::Q5_K},
    GgmlType{14, "Q6_K", 256, 210, DType::Q6_K},
    GgmlType{15, "Q8_K", 256, 292, DType::Q8_K},
    GgmlType{16, "IQ2_XXS", 256, 66, DType::Unsupported},
    GgmlType{17, "IQ2_XS", 256, 74, DType::Unsupported},
    GgmlType{18, "IQ3_XXS", 256, 98, DType::Unsupported},
    GgmlType{19, "IQ1_S", 256, 50, DType::Unsupported},
    GgmlType{20, "IQ4_NL", 32, 18, DType::IQ4_NL},
    GgmlType{21, "IQ3_S", 256, 110, DType::Unsupported},
    GgmlType{22, "IQ2_S", 256, 82, DType::Unsupported},
    GgmlType{23, "IQ4_XS", 256, 136, DType::IQ4_XS},
    GgmlType{24, "I8", 1, 1, DType::I8},
    GgmlType{25, "I16", 1, 2, DType::I16},
    GgmlType{26, "I32", 1, 4, DType::I32},
    GgmlType{27, "I64", 1, 8, DType::I64},
    GgmlType{28, "F64", 1, 8, DType::F64},
    GgmlType{29, "IQ1_M", 256, 56, DType::Unsupported},
    GgmlType{30, "BF16", 1, 2, DType::BF16},
    GgmlType{31, "Q4_0_4_4", 0, 0, DType::Unsupported},
    GgmlType{32, "Q4_0_4_8", 0, 0, DType::Unsupported},
    GgmlType{33, "Q4_0_8_8", 0, 0, DType::Unsupported},
    GgmlType{34, "TQ1_0", 256, 54, DType::Unsupported},
    GgmlType{35, "TQ2_0", 256, 66, DType::Unsupported},
    GgmlType{36, "IQ4_NL_4_4", 0, 0, DType::Unsupported},
    GgmlType{37, "IQ4_NL_4_8", 0, 0, DType::Unsupported},
    GgmlType{38, "IQ4_NL_8_8", 0, 0, DType::Unsupported},
    GgmlType{39, "MXFP4", 32, 17, DType::MXFP4},
    GgmlType{40, "NVFP4", 64, 36, DType::Unsupported},
    GgmlType{41, "Q1_0", 128, 18, DType::Unsupported},
    GgmlType{42, "Q2_0", 64, 18, DType::Unsupported},
};

}  // namespace

const GgmlType* find_ggml_type(std::uint32_t id) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const GgmlType& type) { return type.id == id; });
  return found == kTypes.end() ? nullptr : &*found;
}

}  // namespace headroom
