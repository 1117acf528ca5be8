// The few words that nvcc needs and other compilers do not know, so that the kernels' templates also compile for the
// emulator of the tests.
#pragma once

#ifdef __CUDACC__
#define HEADROOM_DEVICE __device__ __forceinline__
#define HEADROOM_BOTH __host__ __device__ __forceinline__
#define HEADROOM_UNROLL _Pragma("unroll")
#define HEADROOM_ROLLED _Pragma("unroll 1")
#else
#define HEADROOM_DEVICE inline
#define HEADROOM_BOTH inline
#define HEADROOM_UNROLL
#define HEADROOM_ROLLED
#endif
