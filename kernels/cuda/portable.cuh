// The few words that nvcc needs and other compilers do not know, so that the kernels' templates also compile for the
// emulator of the tests.
#pragma once

#ifdef __CUDACC__
#define HEADROOM_DEVICE __device__ __forceinline__
#define HEADROOM_BOTH __host__ __device__ __forceinline__
#define HEADROOM_UNROLL _Pragma("unroll")
#define HEADROOM_ROLLED _Pragma("unroll 1")
#define HEADROOM_PRAGMA(text) _Pragma(#text)
#define HEADROOM_UNROLL_BY(n) HEADROOM_PRAGMA(unroll n)
#else
#define HEADROOM_DEVICE inline
#define HEADROOM_BOTH inline
#define HEADROOM_UNROLL
#define HEADROOM_ROLLED
#define HEADROOM_UNROLL_BY(n)
#endif
