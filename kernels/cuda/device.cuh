// The device primitives that the kernels are written in: everything that is not plain C++ goes through here, and
// through the emulator of the same interface in the tests. Ampere (compute capability 8.0) and later.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention.h"

namespace headroom::kernels::cuda {

class CudaDevice {
 public:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int block_x() { return static_cast<int>(blockIdx.x); }
  __device__ static int block_y() { return static_cast<int>(blockIdx.y); }
  __device__ static int block_z() { return static_cast<int>(blockIdx.z); }

  template <class T>
  __device__ static T* shared() {
    extern __shared__ __align__(128) unsigned char headroom_shared[];
    return reinterpret_cast<T*>(headroom_shared);
  }

  __device__ static void sync() { __syncthreads(); }
  template <class Number>
  __device__ static Number shuffle_xor(Number value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
  }
  __device__ static bool any(bool value) { return __any_sync(0xffffffffu, value) != 0; }

  // Four 8 × 8 matrices; threads 8m … 8m + 7 give the rows of matrix m, 16 bytes each.
  __device__ static void load_matrices(std::uint32_t (&to)[4], const std::uint16_t* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address(row))
                 : "memory");
  }
  __device__ static void load_matrices_transposed(std::uint32_t (&to)[4], const std::uint16_t* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address(row))
                 : "memory");
  }

  // c (16 × 8) += a (16 × 16) · b (16 × 8)
  __device__ static void multiply(BFloat16, float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                  std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  __device__ static void multiply(Float16, float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                  std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }

  // Two floats rounded to nearest even, the first in the low half.
  __device__ static std::uint32_t pack(BFloat16, float low, float high) {
    std::uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
  }
  __device__ static std::uint32_t pack(Float16, float low, float high) {
    std::uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
  }
  __device__ static float low_of(BFloat16, std::uint32_t pair) { return __uint_as_float(pair << 16); }
  __device__ static float high_of(BFloat16, std::uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

  __device__ static float low_of(Float16, std::uint32_t pair) {
    return to_float(Float16{static_cast<std::uint16_t>(pair)});
  }
  __device__ static float high_of(Float16, std::uint32_t pair) {
    return to_float(Float16{static_cast<std::uint16_t>(pair >> 16)});
  }

  __device__ static float to_float(float value) { return value; }
  __device__ static float to_float(BFloat16 value) { return low_of(BFloat16{}, value.bits); }
  __device__ static float to_float(Float16 value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
  }

  // The first `bytes` of 16 from global to shared memory, zeros behind them, both aligned; there after wait_copies(),
  // for the others of the block after the barrier that follows it.
  __device__ static void copy_async(std::uint16_t* to, const void* from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address(to)), "l"(from), "r"(bytes) : "memory");
  }
  __device__ static void wait_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

  // 8 aligned bytes to shared memory; four neighbouring numbers from global memory at once.
  __device__ static void store_shared(std::uint16_t* to, std::uint32_t left, std::uint32_t right) {
    *reinterpret_cast<uint2*>(to) = make_uint2(left, right);
  }
  __device__ static void load_quad(float (&to)[4], const float* from) {
    const float4 quad = *reinterpret_cast<const float4*>(from);
    to[0] = quad.x, to[1] = quad.y, to[2] = quad.z, to[3] = quad.w;
  }
  template <class Narrow>
  __device__ static void load_quad(Narrow (&to)[4], const Narrow* from) {
    const uint2 quad = *reinterpret_cast<const uint2*>(from);
    to[0].bits = static_cast<std::uint16_t>(quad.x), to[1].bits = static_cast<std::uint16_t>(quad.x >> 16);
    to[2].bits = static_cast<std::uint16_t>(quad.y), to[3].bits = static_cast<std::uint16_t>(quad.y >> 16);
  }

  // One instruction, at most 2 ulp off; results below 2⁻¹²⁶ are 0.
  __device__ static float exp2(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }
  __device__ static float log2(float x) { return log2f(x); }
  __device__ static float tanh(float x) { return tanhf(x); }
  __device__ static float abs(float x) { return fabsf(x); }
  __device__ static float max(float a, float b) { return fmaxf(a, b); }
  __device__ static float min(float a, float b) { return fminf(a, b); }
  // NaN where either is.
  __device__ static float max_or_nan(float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
  }
  __device__ static float infinity() { return __int_as_float(0x7f800000); }

  // Integers, so that the order does not matter.
  __device__ static void count_shared(int* counter) { atomicAdd(counter, 1); }
  __device__ static void add(int* to, int value) { atomicAdd(to, value); }
  __device__ static int take(int* counter) { return atomicAdd(counter, 1); }  // its value before
  __device__ static void add(unsigned long long* to, unsigned long long value) { atomicAdd(to, value); }

 private:
  __device__ static std::uint32_t address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  }
};

}  // namespace headroom::kernels::cuda
