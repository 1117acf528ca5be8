// Made by make_dequantize_table.py from the Python packages gguf, numpy and torch. Constants.
#pragma once

#include <array>
#include <string_view>

#include "core/checkpoint/tensor_info.h"

namespace headroom::test {

struct BlockCase {
  DType dtype;
  std::string_view bytes_hex;
  std::array<float, 64> values;
};

inline constexpr std::array kBlockCases = {
    BlockCase{DType::Q4_0,
              "c9bbd43d564803add9d0a317a4e2dd36e160"
              "e43a384f72a553eae7e2ecfe08ec1a14e34d",
              {
                  0x1.f24p+1F,   -0x1.3768p+2F, 0x1.f24p+0F,   -0x0.0p+0F,   0x1.3768p+2F, -0x1.3768p+2F, -0x1.f24p-1F,
                  0x1.f24p+2F,   0x1.3768p+2F,  0x1.f24p-1F,   0x1.f24p+1F,  0x1.75bp+2F,  -0x1.3768p+2F, 0x1.f24p+0F,
                  0x1.b3f8p+2F,  0x1.f24p+2F,   -0x1.3768p+2F, 0x1.3768p+2F, 0x1.75bp+1F,  0x1.f24p+1F,   0x1.f24p+2F,
                  -0x1.f24p+0F,  -0x1.3768p+2F, -0x1.3768p+2F, -0x1.f24p+0F, 0x1.b3f8p+2F, -0x1.f24p+0F,  -0x1.75bp+2F,
                  -0x1.3768p+2F, 0x1.3768p+2F,  -0x1.75bp+2F,  0x1.f24p+0F,  0x0.0p+0F,    0x1.81ep+2F,   -0x1.4acp+2F,
                  -0x1.4acp+1F,  -0x1.13ap+2F,  0x1.b9p+0F,    -0x1.b9p-1F,  -0x1.4acp+2F, 0x1.b9p+1F,    0x1.4acp+2F,
                  0x0.0p+0F,     0x1.b9p+1F,    0x1.b9p+0F,    -0x1.b9p+1F,  -0x1.13ap+2F, 0x1.13ap+2F,   -0x1.13ap+2F,
                  -0x1.b9p+1F,   -0x1.b9p-1F,   0x1.b9p+0F,    -0x1.4acp+1F, 0x1.4acp+2F,  0x1.4acp+2F,   0x1.4acp+2F,
                  0x1.4acp+2F,   0x1.81ep+2F,   -0x1.b9p+2F,   0x1.4acp+2F,  -0x1.81ep+2F, -0x1.81ep+2F,  0x1.4acp+2F,
                  -0x1.b9p+1F,
              }},
    BlockCase{DType::Q4_1,
              "1e39dab92e784a2ec4e2efe995d1115cc8608a43"
              "432a7e3a5fb76afc4f8efa1af49ad67c0ac0d390",
              {
                  0x1.0728p+3F, 0x1.18bp+2F,  0x1.6a9p+2F,  0x1.0728p+3F, 0x1.d3cp+0F,  0x1.188p-1F,  0x1.1bap+3F,
                  0x1.41ap+2F,  0x1.3bcp+1F,  -0x1.78p-4F,  -0x1.78p-4F,  0x1.bc7p+2F,  0x1.18bp+2F,  -0x1.768p-1F,
                  0x1.6a9p+2F,  0x1.3p+0F,    0x1.188p-1F,  0x1.df8p+1F,  0x1.d3cp+0F,  0x1.188p-1F,  0x1.bc7p+2F,
                  0x1.0728p+3F, 0x1.0728p+3F, 0x1.0728p+3F, 0x1.41ap+2F,  0x1.e56p+2F,  -0x1.78p-4F,  0x1.3bcp+1F,
                  0x1.bc7p+2F,  0x1.8dap+1F,  0x1.18bp+2F,  0x1.d3cp+0F,  0x1.8b9ap+0F, 0x1.276ap+0F, 0x1.4cfcp+0F,
                  0x1.6608p+0F, 0x1.8b9ap+0F, 0x1.7f14p+0F, 0x1.4cfcp+0F, 0x1.4cfcp+0F, 0x1.01d8p+0F, 0x1.4cfcp+0F,
                  0x1.1ae4p+0F, 0x1.6608p+0F, 0x1.4cfcp+0F, 0x1.9f8p-1F,  0x1.eaa4p-1F, 0x1.9f8p-1F,  0x1.0e5ep+0F,
                  0x1.5982p+0F, 0x1.1ae4p+0F, 0x1.8b9ap+0F, 0x1.01d8p+0F, 0x1.33fp+0F,  0x1.8b9ap+0F, 0x1.b88cp-1F,
                  0x1.8b9ap+0F, 0x1.4076p+0F, 0x1.728ep+0F, 0x1.276ap+0F, 0x1.9f8p-1F,  0x1.6608p+0F, 0x1.728ep+0F,
                  0x1.4076p+0F,
              }},
    BlockCase{DType::Q5_0,
              "35baf3105860c2f941373ba49657a7cc9361f883c259"
              "3e312b215ff4d234f1cf4bc477765671dff775d39eb8",
              {
                  -0x1.8d4p+0F,  -0x1.bee8p+2F, 0x1.746cp+3F, 0x1.bee8p+2F, -0x1.111cp+3F, -0x1.8d4p+1F, -0x1.29fp+2F,
                  -0x1.5b98p+2F, 0x1.bee8p+2F,  0x1.8d4p+1F,  0x1.42c4p+3F, 0x1.746cp+3F,  -0x1.8d4p+2F, 0x1.42c4p+3F,
                  0x1.5b98p+3F,  0x1.5b98p+2F,  0x1.8d4p+1F,  0x1.8d4p-1F,  0x1.29fp+3F,   -0x1.29fp+1F, -0x1.29fp+1F,
                  0x1.29fp+2F,   -0x1.bee8p+2F, 0x1.111cp+3F, 0x1.29fp+2F,  0x1.8d4p+1F,   0x1.5b98p+2F, 0x1.f09p+2F,
                  0x1.8d4p-1F,   -0x1.8d4p+2F,  -0x1.29fp+3F, 0x1.111cp+3F, 0x1.4f8p-2F,   0x1.4f8p-1F,  -0x1.3a88p+1F,
                  0x1.3a88p+1F,  -0x1.a36p-1F,  0x1.4f8p-1F,  -0x1.797p+0F, -0x1.a36p+0F,  0x1.f74p-1F,  -0x1.3a88p+1F,
                  -0x1.4f8p-3F,  -0x1.797p+0F,  -0x1.cd5p+0F, 0x1.f74p-2F,  -0x1.4f8p-2F,  -0x1.4f8p+0F, 0x1.1098p+1F,
                  0x1.f74p-2F,   0x1.3a88p+1F,  0x1.f74p+0F,  0x1.4f8p-1F,  -0x1.4f8p-1F,  0x1.259p+0F,  -0x1.797p+0F,
                  -0x1.cd5p+0F,  -0x1.797p+0F,  0x1.1098p+1F, -0x1.4f8p-3F, 0x1.259p+0F,   0x1.1098p+1F, 0x1.797p+0F,
                  0x1.cd5p+0F,
              }},
    BlockCase{DType::Q5_1,
              "b136e6b6897aa3ce9aab62710a97b34480139c10aac49f44"
              "3333a13ebbf7a2430960856295b491e375d2ce9d2c284c49",
              {
                  0x1.4e28p+3F, 0x1.0ad4p+2F, 0x1.9fp-2F,   0x1.ab6cp+2F, 0x1.e02p+1F,  0x1.3f88p+1F, 0x1.a5ap-1F,
                  0x1.fbb8p+2F, -0x1.b98p-2F, 0x1.e0f4p+2F, 0x1.2598p+2F, 0x1.90a8p+2F, 0x1.4e28p+3F, 0x1.fbb8p+2F,
                  0x1.9112p+3F, 0x1.3dep+0F,  0x1.40c6p+3F, 0x1.4e28p+3F, 0x1.0ap+1F,   0x1.3f88p+1F, -0x1.b98p-2F,
                  0x1.40c6p+3F, 0x1.0ad4p+2F, 0x1.fbb8p+2F, 0x1.751p+1F,  0x1.ab6cp+2F, 0x1.40c6p+3F, 0x1.ab6cp+2F,
                  0x1.e02p+1F,  0x1.2598p+2F, 0x1.40c6p+3F, 0x1.fbb8p+2F, 0x1.d206p+2F, 0x1.507p+2F,  0x1.641cp+1F,
                  0x1.6d3cp+2F, 0x1.986ep+2F, 0x1.8a08p+2F, 0x1.e1d8p+0F, 0x1.7ba2p+2F, 0x1.986ep+2F, 0x1.6d3cp+2F,
                  0x1.0d02p+3F, 0x1.253ep+2F, 0x1.fd38p+2F, 0x1.c3ap+2F,  0x1.fd38p+2F, 0x1.d206p+2F, 0x1.a84p+0F,
                  0x1.a6d4p+2F, 0x1.ba8p+1F,  0x1.80e8p+1F, 0x1.d74cp+1F, 0x1.eed2p+2F, 0x1.d74cp+1F, 0x1.0d02p+3F,
                  0x1.b53ap+2F, 0x1.05cfp+3F, 0x1.16d8p+2F, 0x1.d74cp+1F, 0x1.0db8p+1F, 0x1.0db8p+1F, 0x1.8a08p+2F,
                  0x1.475p+1F,
              }},
    BlockCase{
        DType::Q8_0,
        "08b73e7da418d0779300b47c87aa05f7cea1c83d013af2e57d011832cf973b1457c0"
        "a9bcc53e88375e340c34cde7fcbd02d0ccefc78dcd5724eaff0a255f2d8844129c46",
        {
            -0x1.b3fp+4F,  -0x1.b774p+5F, 0x1.437p+5F,   -0x1.518p+3F,  0x1.518p+4F,   -0x1.a25cp+5F, 0x1.7f34p+5F,
            -0x0.0p+0F,    0x1.0b3p+5F,   -0x1.b3fp+5F,  0x1.a964p+5F,  0x1.2e58p+5F,  -0x1.194p+1F,  0x1.fa4p+1F,
            0x1.5f9p+4F,   0x1.4dfcp+5F,  0x1.89cp+4F,   -0x1.ace8p+4F, -0x1.c2p-2F,   -0x1.97dp+4F,  0x1.89cp+2F,
            0x1.7bbp+3F,   -0x1.b774p+5F, -0x1.c2p-2F,   -0x1.518p+3F,  -0x1.5f9p+4F,  0x1.5888p+4F,  0x1.7124p+5F,
            -0x1.9ed8p+4F, -0x1.194p+3F,  -0x1.31dcp+5F, 0x1.c2p+4F,    0x1.12f3p+6F,  -0x1.20eep+6F, 0x1.179cp+7F,
            -0x1.004fp+6F, -0x1.b60ep+6F, -0x1.e4a8p+5F, -0x1.bf6p+3F,  -0x1.e4a8p+5F, 0x1.db56p+5F,  0x1.d204p+4F,
            0x1.2a4p+2F,   0x1.383bp+6F,  -0x1.2a4p+1F,  0x1.bf6p+5F,   0x1.e4a8p+5F,  0x1.3ce4p+4F,  0x1.09a1p+6F,
            0x1.0bf58p+7F, 0x1.db56p+5F,  -0x1.956fp+6F, -0x1.4f88p+5F, 0x1.9a18p+4F,  0x1.2a4p+0F,   -0x1.74dp+3F,
            -0x1.58dap+5F, -0x1.bab7p+6F, -0x1.a36ap+5F, 0x1.179cp+7F,  -0x1.3ce4p+6F, -0x1.4f88p+4F, 0x1.d204p+6F,
            -0x1.4636p+6F,
        }},
};

// SHA-256 of the float32 values of every code in order, NaN as 0x7fc00000.
struct CodeTable {
  DType dtype;
  std::string_view sha256;
};

inline constexpr std::array kCodeTables = {
    CodeTable{DType::F16, "385ff5fe69182797cda5f1827e20cf423f4416bc9246f27d0eec27cac9039259"},
    CodeTable{DType::BF16, "f12e27efe34841dfd6391497b86f389096b03a376586e1d9691bba0a8de3980a"},
    CodeTable{DType::F8_E4M3, "422eccfaa21e72a6b26855bb10cdcfead6c1ce3262ecd813c99d8cbf9677f2e2"},
    CodeTable{DType::F8_E5M2, "229a94c5f728edf2259da970a0e1dfb45cc1d69cce2b30e37659f3212ec4b8b9"},
    CodeTable{DType::F8_E4M3FNUZ, "ac4866f772a7c08077713fde1fa54131d49c26339c885e971a24fc0fac6e33f4"},
    CodeTable{DType::F8_E5M2FNUZ, "aac12d2730bf26ca53bfa107a7a6a8df192aba8cf58b971eec9126f83991e6d4"},
    CodeTable{DType::F8_E8M0, "2fb2732a956043772ccd2c1664ae5d2558c62f9c06780c04d95f1ff0050f2f2f"},
};

}  // namespace headroom::test
