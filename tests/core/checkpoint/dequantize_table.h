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

// SHA-256 of the float32 values of four blocks.
struct GroupedCase {
  DType dtype;
  std::string_view bytes_hex, sha256;
};

inline constexpr std::array kGroupedCases = {
    GroupedCase{DType::Q2_K,
                "9a6a617544e180aed438b51fd52e753a0ee1e7158d7e1c06bbcd832e8cda34b20c88b58a9cfb3b56384cc7afaed38c575879"
                "92fdd2819d468d90dbad26105840df123792996ff291b046dbeaee997755eebadfaa16faf36c26a8ac7ef3efdb950d9f578f"
                "95ca986befbb578d374b48676aa768fe863ca6f18fd9ef8b7da5570c4153be576a927953f8370baa05afd88474e64a20ad4a"
                "3499de99470322dad30a2e64f303ae36793071bfbd0c23007552a38dde2947113168d6c05a0db3d9f2db2a6ad67360317303"
                "18d0250074375bb735e6e05c96e7fa74786056adba9ecd966ac9c8adca1a7a2576a1c7c3682f4dcd9c09a58ddafe1961533a"
                "113229aee9680896df30fd2fb56fabfe474a1d7d8322bab056a5c9acf0b3136b2d56235ebe19c0bdb267a5798e474c909461"
                "7ff7f037bee759089548b2212aa230d9ae3c918c58a5a18ac1c86b32e602bbaee9364fbd",
                "63094b9e0d7e7cb589fef094394f66c56d4e3ff282d49193110a8e9c134ce61b"},
    GroupedCase{DType::Q3_K,
                "626930e4273aab900ee86dfe80998516dcb2548f767fc79e141600374b498235efbf618add10b4605a1fa784c85b21357186"
                "0b701170bc48f2130a883fedfd9c45558c7dba246681c843a34365c0050583d58bab2610afeadf3e939a68ef2f3ff3b77971"
                "95685c7c23212a6c6a2ca68884021da946c89fab2204dccb383d0fbf3661ab7334d88f23f9b5144d349da80f747806a53da2"
                "1fe8bce0b0f7b2e7cad65dc12a667a82a5bb4a38798585237bbcca5e5670f6a3dd94e12f10c269a23578a2d34a44d1ccc228"
                "0a5a3b126520e03b25e44758d037a1351ca787357235626761733634c233d9bf7c177f6c24f6a650680a33643ca3ac2379e6"
                "5d2150209a60e9879d975376a55ca3854b0d296bf34f6c364d0f8c5cef1562984242f8c99b95cda6b65e8639291290423090"
                "0dff37ebe4e811e8f4e7bbe3b2c90f3b92516dd4327c3726fef45e4f243c95de71888a7bab27e52226ed1ad05938ec4e0377"
                "ae20baf291abfe86243aa5dfa3c111f744fd0d2411412aa85466bac79f602adb383bac01aa932bed2674f8a951782045a5fb"
                "0850243e40471ca7995bb18391f7abd0be39b2c4293687fce58f757566b2102f2eee930c23ca8438",
                "995f78917e920523674b9f0bf372db5e0cd8260797f8287f187eac50794a9f3d"},
    GroupedCase{DType::Q4_K,
                "ea3e8a24452ddf82e76298bd988d55f95544b4c7f6b7ddd6d73679dc5f8874a0d102194013ef9ee3fe887ec61deb6716b36c"
                "c406df6dba37ff06d07adf0f51e80888c6c4e5fb202e228e91a0dd9153155468d50b7cced563c45fb87bdc86a8b74998e917"
                "d54665988afae8a30b9c468871f5c6019fd320be2f2f131b036c5dd57715dfafe4766105aad01e772f97abe516bcc33c95a6"
                "637d317ee09ac3bb3e55e50f334c75222c22b643e4eccf53ccbcdf67b4504bf7aa1e87d5307cec9183d52708ced52abd922d"
                "64efb2af7b3602127c2a5673b52eb9acd18b0419649b168405c0e036f6c3642ed8860ec8f33ed809cbbac7c551d7ad484591"
                "e5beec71baddb69a57f9f246dc5f69e693f6694963c5d1b9e6e570f2c1fc043523ef2c2409d02ab0703cead78cf3a92f58aa"
                "3e8e1432cd79ae30bb2fe830e57f486e90cdcfb11c236839100e6cf761368a04f62058a493615ca9a6679d92ab3bb2bf174c"
                "5ddd6e0feb7745265c4630bd6d6675f181e176f680bfa5e42f0f482b56e5a5d5da36053f834f97fadbcfae36b49fa193448f"
                "737b761b68e544d6e69d9974c22e6c6169d5dea8d397ad08d357766faadcf294332888398b8fd49c7a1f801d9b1231bf5ff8"
                "c4a441af65f6ff78020bfa43a8a9bbe01c2d39a27e93d3e590da41cf67a6c414abd08542bf64ae9d4c7837509a8a34e0de54"
                "4adf9c71f3a6614139aca58d9d51eedc7e7eb6a4284e4b78459e91a7430cee2a32935bd8c52816662d86f22a203b26548dd8"
                "fd39dc9e8e694d6ca5523584f06ab9cf15ef20aaf1c97589b0a5",
                "d2dc646d4f0c3c116c5d474a64928753120ab47ab27b23519723ddd3aa7e0b85"},
    GroupedCase{DType::Q5_K,
                "a1b708b4830e8cb3c84186e5eac1613335bc4f2cb9b3efbf4a7a62fa5df80ff0be1937ddf06decedb281a70acb66157d0ee6"
                "7d3e96036a5729d6b6af85ba712dcda1aac90fa23825d59dd23e2831a50fcea46764f7df4fd3d4084317eacbe1568b0e38da"
                "b438563f9990504fac95e9e05d5838ec86596e23826a87105474d522644bf8f31fec3a43abd5380609fe4ad50f8f9e3cb07f"
                "781fb419fea7433a8433bb186ad3ccce2cede8814a4ea2c709e0f42cd7c1e48073b6843c0853899273fec82c2764a22bc4b0"
                "0b72f87189dd488a7b0dbf5090f1c9b9387440b95befffe5298b349b4a20586b2e38536c6da7cab43c38687bda41b99e1c5d"
                "da32b1bae79b9e10fd803f0627788db82ee988c1236173dc6e911d14fd013efba9c3102586d0477d6ff0355b3085d1c6ac96"
                "bc125ca13c312a5f00d3fe4564a3e3343a8285876fcdefbf44dce008db66aa12148b0d7c4251bd26178deb85d0dea290a58f"
                "0c4b573cf3b91de98a1904dae466c7301f2043ef7b5e47dac82fa0c0aad45299e457ba8c2d329d011af8150962f0bb920bda"
                "93219e4bf939f96f998bb5afaa2197b05baca527ac17b3681c74f84b58ecacc6601093491c95ffb258792b04759ee00212c3"
                "3f8f5a20d198848c18ae640d71427747842aca2e66ec13387c2bd4e24f9fb5c6568d3e31ebe63f5cf578340359d071e62cfd"
                "82ff166aec918902d08c23e5bceb428e4b5bb8fb7cca520c3aa2e23a69b9d2b5903ec87f55d372977b98cc7337ecd1a5db71"
                "037ca84a8a03b63db922259d594001eaaf82e067cb4ec1881660bdc93848a1154e6d2f6f2ebc595e5ac4af4af1accb40e380"
                "497a9a0ce0ac9705f6cbabbe6aacec66e8ccdae56fa4d7e489d3fca2e7c9ac4bc791cc75e2f9b62744d8ba886cf5400221c5"
                "431bab6dc3916e81b99d5d346537207175df4bb69354f645e44a3740c6c7411e53a952bea9e31bbae4bf5b82dc3b3e6caf76"
                "26022d31",
                "a41cb818818ea1c92e09225dc9657d89492232344e89a7e5e461222d8890ca4a"},
    GroupedCase{DType::Q6_K,
                "fb20c4ce02e4a7029f93397433a1aebd7c521cc84f92fff186b2a2cc84d39d5874c284b0fc18022ff2930445fcfd65d93146"
                "6dae07ec6728dc0340ca79f77fb95ce23900b172a0f6e1dba036eb20085db855a2c70f367017b59e6334a98cbe85848f5708"
                "c4e78bbdf759f4882eea417e4f039bc5a08e505d41c8746536da586cade13a99abf5a7b44beb11257382603e5940d38bf40d"
                "f0832419a923a6abbe206d7e79664084e3bb829a660be00057b12cd1850de219272c1f476e8f8ca4b43cd13e811962886b4f"
                "5017218f9f4479522c37cb6ed14fd645451164c1d708ee676d4beb1af332e75002f0b330a4a7d9a444e13a4e5d2c7aedce1a"
                "dcf01eda49a37d50a20092ca5305f80ccdd4c4ccac517f9026700fa35ed5e00b1990400bcd47ea13296299f66a0e214238cb"
                "8c2055fdf1a22f1ad408238465000199b884bbb6c6077a44a0ea4db48697cca8cc55b4b40d8a9e0808c7fcb7e746ca54387a"
                "7e174e0192d0f01519981e3bc59397a346d40bf79d3d05f7b685bf13fdaa24b1d6b5604383ac31abdaee2b4ecc7aef97fcad"
                "b8605a24701952f30c886bc8e4683281c68eb1b6e45b30c5e185c88485f8aec5cd5c0c0d807a296a4750de73fcdee565ea77"
                "a9bed7b6044b32e15459e90fcb930defb7a00354c2f994218a58a750a9d985cab712f1d0c3e9bbc3781f55f99cfb7a158b04"
                "628cf88f46f5e409032b17b9383f6db0c3c8b5cc4487c83279414c6f99fa23dd3af48efcd09acac4794d24a8f79b66bc2180"
                "8791fb0607abb868f5c3f9af60ed3c8d76278cffb08b4ed53920911ee945ac40860d788bebb39c7f951bb6fdbd2174ea27a2"
                "e38abc4ca901eb4d9f64fe036437fb008c02ebf54a551e959d98184b53b48bde68dbc8ae4a3f959018815220d332ca76e8bf"
                "333226965c6bb34f722e0329fd77af68d6e03177a0e0ede7fef4546f0f7d8ef5664a4c45dd1644168267f83f7b3c4cd0b25c"
                "78c9bf0ce2cb6da5f0757f2f116d8adb5dcd75428b0690d866dba07b4e75052a5e9829e7e0a69337d201e64f442539c72688"
                "55c6d390108a1ed5e30a43e87da7f327d9886025ca82ec7dcc46f2aea3d815a38c45f663283b8b818c3ae7c4fecab05cecaa"
                "d49c5800c41c01a189681843f4acc4e6c07ed8fd61471ed6321144d32d6afb86d1bf7f5b4d3471bd",
                "7be39e8f017e650dd3649f2a8855f4a494f7e3a5512b3580e11520fe812da023"},
    GroupedCase{DType::Q8_K,
                "bb46b5be3e8349e15c6b5976ed6575201eea5388b22b21f83dd955bbc2daff5d15ffdab227df40b59551763c7db9f0eae33a"
                "b18e17f3ac3550aa31b880e9d943d728c9031aa343e6cb88291a7bf5cc909bdca708445a5764c32d49ed117add80316d8f6d"
                "e8b601ae4ff155021996b2473cc13052394206017d9f812445f6eb44a7b50f77134005e4d65ef2125b4e135b6b33a160da10"
                "823ec5e78ece4968c05f88086ae59bccb4879cfaa331e0408bf9f68bbc3bcd55eba254dc3e2c36a7be15988689514b553edf"
                "7cd722920ba1bea496605aa076ce2d8489f1b193bc274c102355acb86b998b37d9050e97eb337ca5033cc1c3428a013f550b"
                "d38371ff6ed04b78a30181173934843e032e31ccb1be307ab8f530ba14b7a1c347edb9de6e4fd86989c89615873fb72400d5"
                "ecca6c406f7a0cfe49f492cdc47da2b3df1fea965ce1969a22da7b39bfea41314c33b57c308adaeb71a84130786c214e0100"
                "9989b04b4bbeb30e3697d8206ec99900d2ce2e3ad33279ee5fb3c4c7497a09b5241665d7437850734bbcb1ee7bd1cdaf564b"
                "5b13d6dc75a0c83ff8b89e92ceb6e0e64d5b101e6e2a62ed84da3f8111e8774e9dbcd27911239331cd4610a6b9f42d7cb7df"
                "0ef91b2a655ca7e1693b0b7f2ff9ad43ac3834572841a8d0b9b6cba562de17bc7ffba9d93e7865614d5a77f0479f982edfd8"
                "3487cef1b7d9472694e3af80752613cb319a05bdc46d3f348bab7dd168ca4f71fb086bd69f4675b01325f7793e5d92233a5e"
                "59bc21928ea0a542d8264d48ad8e2124030d8c7a0b45803ac7e46a2337e91299201375cfaa3fcdcdb1c805d2ab8e45a4252a"
                "2a78c6ca6c2bad1216eec04f639838529276b2ea46a25aaca879f1d0c0d0461fe5a3598e5be0f9dc03fc9847c9c1eef8c360"
                "3376c071cfa59d5cff31577667ba09db5a67d4207c2c848145a2e0c4c3a2ac81453ad43c62f9374e7e30e63531edb95a8578"
                "2977d55712afca8b3e611cb273f292209140dc2a6270286720b3319d6082a80401cc629d88f4ce6733a96e339d9e5a03dbe6"
                "6e53ffb7612474da54dddb1d03e237a45d397e940385fdf66448dfa71280221b4a769cacbde38ce1893210cd0898f23fbb7b"
                "b2a17d32af3bf459c1b049c458383c6e137b4d9b1850719d3b973f4e077ae1dc28a8cbf1b552765bb62d440dff963c83731f"
                "b9bb1b9d201abe19a133a37c01d1929bc789740b475fbf1066e376c927bf297ccebebdc804c29d798d1b1ba469ac0b929fde"
                "a655d11c02abedf61c414ad5385c689ae7c0a6785a6cc3399b12ffafbdc25a4d47ac15c12a537413d8104d0993a6eb54ef08"
                "c8eb1a04d570cf288000eefd2af7e566dad36b8e4cd798e3bc86a89cc21b61a2cd5f3a334a02d51005cb967a2ff7e10c38a5"
                "0ff72e411efdc2d0690ef595045ec3a6a633f1bbaa091ca5ef165031d3c16b7c341084ecd78155af2a8a6fd3d15ba5a1c112"
                "0ec1e834476536cc31b0d530c4c3a8462e862bd0387a3a854def800fc1d4c3a9fc9626ce54ac76042c980feb88ec6f6d499c"
                "187a3fe42b49a68d5ad222f5c2818cc2e416f35ca76a2d8775ca08c017bdf83bfaee00f97972453131f9a5d7936f0fb9c5cc"
                "9034e8f0ed7a1bc07b85173b59e4d1e14941",
                "56a58c1f736969eeba1b4b8842fcf40a831d366f64bc9834bc0db57774abcfb7"},
    GroupedCase{DType::IQ4_NL,
                "9fb1a7f0b08643d8b00ee74f69ee43d92b75ceae5b29cbe7be2bc9f3ea7e82140e9ef7fa2338bb1edfbb34b467b9c40c4f60"
                "d92839e0b8b8bbd21ec800f248cac2b63a7143685d43",
                "05311128569450d407e4bd6cb44e360acb6fee1dbb88ac4dc0e29bdfaf1cd1db"},
    GroupedCase{DType::IQ4_XS,
                "823911dde1369210493071d75cf21be76819fcbdadec2d920211bc15a98161dfa13e44c99a7862294bf83bac6542704fbfcf"
                "a2a12ce46bbd8f528801158a841b47ce372196b937d01552b0ac111acd65729f307a029c3f5054c58afeefded833b6d76e20"
                "c9c9dc06857a288a93895cce2622e3311ebc51e99aeac490eba091886f9cb23cac8cd3b55b3c2ddf91c272321df043037698"
                "0f80c473295053673a6f914038ba9c501d3cd950f2ef9757fd32fa35401886b936b14a4acd7c35c1d99f4eef5f3ee66ecccf"
                "aa17adf7117705e3f1560ab93fd1d51b884264744898effa9c706c9a581e7cd4e88d5f42ac29599c42455e89c60b0609db77"
                "71a0308cccc98b59bc6b95f80541357b1661020b38e1b1b47cf7c1118f6c2dc39e8fcf718d0542733edbc9667b99b021bdcf"
                "afd975b8c93e8fb333d823e6db58a196745f8b0f019d4ccdfeea0da04ac06fbe8c00041f9722757ea1e240db43092407a29e"
                "492bfd9a791f5ffe5e85ff070f7cd4b494b1957eb10084e54c27f9ae6094626ac2d25deb335834cdf430ef7e34866c221f66"
                "fa9a0551a4e94f04fc41eae54461b8a83a21c471f47b8fc564f9f9750093d9b03e815585ba5e61809e8baebd245f50850d5a"
                "4839c8358325d591955f535adbbf2481440f307ab1416af388e5e71d3c89f38ae5cc505e7a4c519696be7235d5b180321798"
                "c28882194b4db6895c587861caf20debe667c70fd6509cb6136f5f374fc78d408b50124c3b0b0cf8f352a8a2",
                "eedae7f4e764538505783942a2c843e58e598d7e583203ecd4e23c0f0a27e669"},
    GroupedCase{DType::MXFP4,
                "9343fc3e567e98e8e2a7eac4c9bab378cf2e9a57d78390e59d0d7ec6e388c52886a4b8a54cb5eff076142712e7f61b51344e"
                "ba15a07c16902920a6e8ba48ef8435b4d249",
                "84d940c9b6e466c8c2be8470fea394c65bc13a03c251e319cf7853ab52a9b8d6"},
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
