# An imported target headroom::torch over LibTorch's headers, libtorch_cpu and libc10. The wheel's own CMake files
# demand nvcc; libtorch_cuda is opened at run time and is never linked.
#   HEADROOM_TORCH_DIR  a folder with include/ and lib/ (a wheel's torch/ folder or an unpacked LibTorch)
#   HEADROOM_TORCH_DIR=system  the distribution's own libtorch-dev
#   HEADROOM_TORCH_DIR=  the one that app/run.sh or tests/run.sh installed into .deps/
set(HEADROOM_TORCH_MINIMUM 2.6)

set(torch_dir "${HEADROOM_TORCH_DIR}")
if(torch_dir STREQUAL "")
  file(GLOB torch_dir ${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3.*/site-packages/torch)
  if(NOT torch_dir)
    message(FATAL_ERROR "no LibTorch: call app/run.sh once, which installs it, or set HEADROOM_TORCH_DIR to the folder "
                        "that holds its include/ and lib/")
  endif()
  list(GET torch_dir 0 torch_dir)
endif()

if(torch_dir STREQUAL "system")
  find_path(HEADROOM_TORCH_INCLUDE ATen/ATen.h NO_CACHE)
  find_library(HEADROOM_TORCH_CPU torch_cpu NO_CACHE)
  find_library(HEADROOM_TORCH_C10 c10 NO_CACHE)
  set(torch_hint "install libtorch-dev")
else()
  find_path(HEADROOM_TORCH_INCLUDE ATen/ATen.h PATHS ${torch_dir}/include NO_DEFAULT_PATH NO_CACHE)
  find_library(HEADROOM_TORCH_CPU torch_cpu PATHS ${torch_dir}/lib NO_DEFAULT_PATH NO_CACHE)
  find_library(HEADROOM_TORCH_C10 c10 PATHS ${torch_dir}/lib NO_DEFAULT_PATH NO_CACHE)
  set(torch_hint "it needs include/ATen/ATen.h, lib/libtorch_cpu.so and lib/libc10.so; app/run.sh installs one")
endif()
if(NOT HEADROOM_TORCH_INCLUDE OR NOT HEADROOM_TORCH_CPU OR NOT HEADROOM_TORCH_C10)
  message(FATAL_ERROR "no LibTorch in HEADROOM_TORCH_DIR='${torch_dir}': ${torch_hint}")
endif()

# Releases differ in where they keep their version.
set(HEADROOM_TORCH_VERSION 0)
foreach(candidate torch/headeronly/version.h torch/csrc/api/include/torch/version.h torch/version.h)
  if(EXISTS ${HEADROOM_TORCH_INCLUDE}/${candidate})
    file(STRINGS ${HEADROOM_TORCH_INCLUDE}/${candidate} version_lines REGEX "define TORCH_VERSION_(MAJOR|MINOR) ")
    if(version_lines MATCHES "MAJOR ([0-9]+).*MINOR ([0-9]+)")
      set(HEADROOM_TORCH_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
      break()
    endif()
  endif()
endforeach()
if(HEADROOM_TORCH_VERSION VERSION_LESS HEADROOM_TORCH_MINIMUM)
  message(FATAL_ERROR "LibTorch ${HEADROOM_TORCH_VERSION} in ${HEADROOM_TORCH_INCLUDE} is older than ${HEADROOM_TORCH_MINIMUM}; "
                      "app/run.sh without HEADROOM_TORCH installs one that fits, Debian 13's libtorch-dev fits too")
endif()

# Wheels up to 2.6 carry the old std::string; a program that uses the new one would not link, with a page of symbols.
file(STRINGS ${HEADROOM_TORCH_C10} cxx11_symbols LIMIT_COUNT 1 REGEX "__cxx11")
if(NOT cxx11_symbols)
  message(FATAL_ERROR "LibTorch ${HEADROOM_TORCH_VERSION} in ${HEADROOM_TORCH_INCLUDE} is built with the old C++ string ABI: "
                      "use a version from 2.7 on")
endif()
message(STATUS "LibTorch ${HEADROOM_TORCH_VERSION}: ${HEADROOM_TORCH_CPU}")

add_library(headroom::torch INTERFACE IMPORTED)
target_include_directories(headroom::torch SYSTEM INTERFACE ${HEADROOM_TORCH_INCLUDE} ${HEADROOM_TORCH_INCLUDE}/torch/csrc/api/include)
# at::parallel_for is a template in LibTorch's headers: compiled without OpenMP it runs everything on the caller's thread.
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_link_libraries(headroom::torch INTERFACE ${HEADROOM_TORCH_CPU} ${HEADROOM_TORCH_C10} OpenMP::OpenMP_CXX)
target_compile_definitions(headroom::torch INTERFACE HEADROOM_TORCH_VERSION="${HEADROOM_TORCH_VERSION}")
