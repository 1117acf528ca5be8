// Made by make_rope_table.py from the Python package transformers. Constants.
#pragma once

#include <array>
#include <cstdint>

namespace headroom::test {

inline constexpr std::int64_t kRopeTableDim = 16;

// `powers` are θ^(2i/r) for the θ that the length leads to, from torch.pow; `inv_freq` is transformers' result.
struct RopeCase {
  const char* name;
  double theta;
  std::int64_t max_positions;
  const char* scaling;  // JSON, null for none
  std::int64_t length;
  double scaled_theta;
  std::array<float, 8> powers, inv_freq;
  double attention_factor;
};

inline constexpr std::array kRopeCases = {
    RopeCase{
      "default", 10000.0, 512,
      R"(null)",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.43d1360000000p-2F, 0x1.99999a0000000p-4F, 0x1.030dc60000000p-5F,
      0x1.47ae140000000p-7F, 0x1.9e7c700000000p-9F, 0x1.0624de0000000p-10F, 0x1.4b96c00000000p-12F},
      1.0},
    RopeCase{
      "linear", 10000.0, 512,
      R"({"rope_type": "linear", "factor": 4.0})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p-2F, 0x1.43d1360000000p-4F, 0x1.99999a0000000p-6F, 0x1.030dc60000000p-7F,
      0x1.47ae140000000p-9F, 0x1.9e7c700000000p-11F, 0x1.0624de0000000p-12F, 0x1.4b96c00000000p-14F},
      1.0},
    RopeCase{
      "dynamic, short", 10000.0, 128,
      R"({"rope_type": "dynamic", "factor": 2.0})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.43d1360000000p-2F, 0x1.99999a0000000p-4F, 0x1.030dc60000000p-5F,
      0x1.47ae140000000p-7F, 0x1.9e7c700000000p-9F, 0x1.0624de0000000p-10F, 0x1.4b96c00000000p-12F},
      1.0},
    RopeCase{
      "dynamic, at the limit", 10000.0, 128,
      R"({"rope_type": "dynamic", "factor": 2.0})",
      128, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.43d1360000000p-2F, 0x1.99999a0000000p-4F, 0x1.030dc60000000p-5F,
      0x1.47ae140000000p-7F, 0x1.9e7c700000000p-9F, 0x1.0624de0000000p-10F, 0x1.4b96c00000000p-12F},
      1.0},
    RopeCase{
      "dynamic, beyond", 10000.0, 128,
      R"({"rope_type": "dynamic", "factor": 2.0})",
      300, 44431.78361881149,
      {0x1.0000000000000p+0F, 0x1.e7b8a40000000p+1F, 0x1.d098040000000p+3F, 0x1.ba90240000000p+5F,
      0x1.a593b40000000p+7F, 0x1.9196060000000p+9F, 0x1.7e8b060000000p+11F, 0x1.6c67320000000p+13F},
      {0x1.0000000000000p+0F, 0x1.0cbe620000000p-2F, 0x1.1a1f280000000p-4F, 0x1.282a6c0000000p-6F,
      0x1.36e8a80000000p-8F, 0x1.4662c80000000p-10F, 0x1.56a2220000000p-12F, 0x1.67b0880000000p-14F},
      1.0},
    RopeCase{
      "llama3", 500000.0, 2048,
      R"({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 256})",
      64, 500000.0,
      {0x1.0000000000000p+0F, 0x1.4a07400000000p+2F, 0x1.a976b40000000p+4F, 0x1.123f880000000p+7F,
      0x1.618dac0000000p+9F, 0x1.c7caa20000000p+11F, 0x1.25cc100000000p+14F, 0x1.7ac1600000000p+16F},
      {0x1.0000000000000p+0F, 0x1.8d27600000000p-3F, 0x1.5951160000000p-7F, 0x1.ddee9e0000000p-11F,
      0x1.72ba420000000p-13F, 0x1.1f91f00000000p-15F, 0x1.be21880000000p-18F, 0x1.5a0f4e0000000p-20F},
      1.0},
    RopeCase{
      "llama3, wide band", 10000.0, 2048,
      R"({"rope_type": "llama3", "factor": 3.0, "low_freq_factor": 1.125, "high_freq_factor": 999.0, "original_max_position_embeddings": 7000})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.6fd3340000000p-3F, 0x1.4d6ca60000000p-5F, 0x1.7104000000000p-7F,
      0x1.bdad620000000p-9F, 0x1.15a6f40000000p-10F, 0x1.5d867e0000000p-12F, 0x1.ba1e560000000p-14F},
      1.0},
    RopeCase{
      "llama3, narrow band", 10000.0, 2048,
      R"({"rope_type": "llama3", "factor": 3.0, "low_freq_factor": 2.0, "high_freq_factor": 2.5, "original_max_position_embeddings": 256})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.43d1360000000p-2F, 0x1.99999a0000000p-4F, 0x1.5967b20000000p-7F,
      0x1.b4e81a0000000p-9F, 0x1.1452f60000000p-10F, 0x1.5d867e0000000p-12F, 0x1.ba1e560000000p-14F},
      1.0},
    RopeCase{
      "yarn", 10000.0, 512,
      R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.e5b9d00000000p-3F, 0x1.9999980000000p-5F, 0x1.030dc60000000p-7F,
      0x1.47ae140000000p-9F, 0x1.9e7c700000000p-11F, 0x1.0624de0000000p-12F, 0x1.4b96c00000000p-14F},
      1.138629436111989},
    RopeCase{
      "yarn, not truncated", 10000.0, 512,
      R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "truncate": false})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.ce1b060000000p-3F, 0x1.5dd8480000000p-5F, 0x1.030dc60000000p-7F,
      0x1.47ae140000000p-9F, 0x1.9e7c700000000p-11F, 0x1.0624de0000000p-12F, 0x1.4b96c00000000p-14F},
      1.138629436111989},
    RopeCase{
      "yarn, other band", 1000000.0, 512,
      R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "beta_fast": 16.0, "beta_slow": 2.0})",
      64, 1000000.0,
      {0x1.0000000000000p+0F, 0x1.67e6000000000p+2F, 0x1.f9f6e40000000p+4F, 0x1.63a7e80000000p+7F,
      0x1.f400000000000p+9F, 0x1.5f769c0000000p+12F, 0x1.ee1b1c0000000p+14F, 0x1.5b51f80000000p+17F},
      {0x1.0000000000000p+0F, 0x1.c73d520000000p-4F, 0x1.030dc60000000p-7F, 0x1.7089380000000p-10F,
      0x1.0624de0000000p-12F, 0x1.74eea60000000p-15F, 0x1.0945640000000p-17F, 0x1.7961820000000p-20F},
      1.138629436111989},
    RopeCase{
      "yarn, mscale", 10000.0, 512,
      R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "mscale": 0.707, "mscale_all_dim": 1.2})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.e5b9d00000000p-3F, 0x1.9999980000000p-5F, 0x1.030dc60000000p-7F,
      0x1.47ae140000000p-9F, 0x1.9e7c700000000p-11F, 0x1.0624de0000000p-12F, 0x1.4b96c00000000p-14F},
      0.941403523749669},
    RopeCase{
      "yarn, given attention factor", 10000.0, 512,
      R"({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "attention_factor": 1.25})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.e5b9d00000000p-3F, 0x1.9999980000000p-5F, 0x1.030dc60000000p-7F,
      0x1.47ae140000000p-9F, 0x1.9e7c700000000p-11F, 0x1.0624de0000000p-12F, 0x1.4b96c00000000p-14F},
      1.25},
    RopeCase{
      "yarn, no stretch", 10000.0, 512,
      R"({"rope_type": "yarn", "factor": 1.0, "original_max_position_embeddings": 511})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.43d1360000000p-2F, 0x1.99999a0000000p-4F, 0x1.030dc60000000p-5F,
      0x1.47ae140000000p-7F, 0x1.9e7c700000000p-9F, 0x1.0624de0000000p-10F, 0x1.4b96c00000000p-12F},
      1.0},
    RopeCase{
      "longrope, short", 10000.0, 256,
      R"({"rope_type": "longrope", "original_max_position_embeddings": 64, "short_factor": [1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875], "long_factor": [1.5, 3.5, 5.5, 7.5, 9.5, 11.5, 13.5, 15.5]})",
      64, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.0000000000000p+0F, 0x1.1fd66a0000000p-2F, 0x1.47ae140000000p-4F, 0x1.78ce360000000p-6F,
      0x1.b4e81c0000000p-8F, 0x1.fe22fe0000000p-10F, 0x1.2b97d80000000p-11F, 0x1.61b1dc0000000p-13F},
      1.1547005383792517},
    RopeCase{
      "longrope, long", 10000.0, 256,
      R"({"rope_type": "longrope", "original_max_position_embeddings": 64, "short_factor": [1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875], "long_factor": [1.5, 3.5, 5.5, 7.5, 9.5, 11.5, 13.5, 15.5]})",
      65, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.5555560000000p-1F, 0x1.7213aa0000000p-4F, 0x1.29e4120000000p-6F, 0x1.1452f40000000p-8F,
      0x1.13f0e80000000p-10F, 0x1.2056900000000p-12F, 0x1.36b06e0000000p-14F, 0x1.5649080000000p-16F},
      1.1547005383792517},
    RopeCase{
      "longrope, given factor", 10000.0, 256,
      R"({"rope_type": "longrope", "original_max_position_embeddings": 64, "short_factor": [1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875], "long_factor": [1.5, 3.5, 5.5, 7.5, 9.5, 11.5, 13.5, 15.5], "factor": 2.0})",
      200, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.5555560000000p-1F, 0x1.7213aa0000000p-4F, 0x1.29e4120000000p-6F, 0x1.1452f40000000p-8F,
      0x1.13f0e80000000p-10F, 0x1.2056900000000p-12F, 0x1.36b06e0000000p-14F, 0x1.5649080000000p-16F},
      1.0801234497346435},
    RopeCase{
      "longrope, given attention factor", 10000.0, 256,
      R"({"rope_type": "longrope", "original_max_position_embeddings": 64, "short_factor": [1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875], "long_factor": [1.5, 3.5, 5.5, 7.5, 9.5, 11.5, 13.5, 15.5], "attention_factor": 1.5})",
      200, 10000.0,
      {0x1.0000000000000p+0F, 0x1.94c5840000000p+1F, 0x1.4000000000000p+3F, 0x1.f9f6e40000000p+4F,
      0x1.9000000000000p+6F, 0x1.3c3a4e0000000p+8F, 0x1.f400000000000p+9F, 0x1.8b48e20000000p+11F},
      {0x1.5555560000000p-1F, 0x1.7213aa0000000p-4F, 0x1.29e4120000000p-6F, 0x1.1452f40000000p-8F,
      0x1.13f0e80000000p-10F, 0x1.2056900000000p-12F, 0x1.36b06e0000000p-14F, 0x1.5649080000000p-16F},
      1.5},
};

}  // namespace headroom::test
