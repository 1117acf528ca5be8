// Catch2 2.13 or 3 with prefixed macros (CATCH_TEST_CASE, CATCH_CHECK …), because LibTorch defines a global CHECK.
// In a test that uses LibTorch, include its headers before this one.
#pragma once

#define CATCH_CONFIG_PREFIX_ALL
#if HEADROOM_CATCH_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as Catch2 2 says it
#else
#include <catch2/catch.hpp>
#endif
