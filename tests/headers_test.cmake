# Each header compiles alone: one generated source per header, with the includes that its layer may use and no
# precompiled header. They are compiled when the test runs, so that a build does not wait for them. A source that includes
# its own header first shows it for that header, and is compiled alone by clang-tidy (style/tidy.py): left out here.
set(header_targets)

# headroom_header_check(NAME LIBRARY header…)
function(headroom_header_check name library)
  set(sources)
  foreach(header ${ARGN})
    string(REGEX REPLACE "\\.h$" ".cpp" own_source ${PROJECT_SOURCE_DIR}/${header})
    if(EXISTS ${own_source})
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${header} identifier)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${identifier}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(${name} PRIVATE ${library})
    target_compile_options(${name} PRIVATE -O0)  # nothing of them runs
    set(header_targets ${header_targets} ${name} PARENT_SCOPE)
  endif()
endfunction()

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/kernels/*.h ${PROJECT_SOURCE_DIR}/core/*.h ${PROJECT_SOURCE_DIR}/app/*.h)
set(kernels_headers ${headers})
list(FILTER kernels_headers INCLUDE REGEX "^kernels/")
set(compute_headers ${headers})
list(FILTER compute_headers INCLUDE REGEX "^core/compute/")
set(core_headers ${headers})
list(FILTER core_headers INCLUDE REGEX "^core/")
list(FILTER core_headers EXCLUDE REGEX "^core/compute/")
set(app_headers ${headers})
list(FILTER app_headers INCLUDE REGEX "^app/")

headroom_header_check(headers_kernels headroom_kernels ${kernels_headers})
headroom_header_check(headers_core headroom_core ${core_headers})
target_include_directories(headers_core SYSTEM PRIVATE ${HDF5_C_INCLUDE_DIRS})
if(TARGET headroom_compute)
  headroom_header_check(headers_compute headroom_compute ${compute_headers})
endif()
if(TARGET headroom)
  headroom_header_check(headers_app "headroom_core;headroom::display;PkgConfig::PAGES" ${app_headers})
endif()

add_custom_target(headers_alone)
add_dependencies(headers_alone ${header_targets})
add_test(NAME "style: each header compiles alone"
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target headers_alone -j 2)
set_tests_properties("style: each header compiles alone" PROPERTIES LABELS style TIMEOUT 900 PROCESSORS 2)
