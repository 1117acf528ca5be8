# Tests of app/gl and app/window, and painter_probe. What draws makes itself a screen (gl/display.h); without one it is
# skipped and says so.
add_executable(painter_probe gl/painter_probe.cpp)
target_link_libraries(painter_probe PRIVATE headroom_display_parts)

file(GLOB gl_test_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/gl/*_test.cpp)
add_executable(gl_tests ${gl_test_sources} gl/display.cpp)
target_link_libraries(gl_tests PRIVATE headroom_test_support headroom_display_parts)
headroom_light(gl_tests)
headroom_light(painter_probe)
target_compile_definitions(gl_tests PRIVATE HEADROOM_SOURCE_SHADERS="${PROJECT_SOURCE_DIR}/shaders")

catch_discover_tests(gl_tests TEST_PREFIX "gl_tests: "
  PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE ${HEADROOM_CASES_SKIP_CODE} ENVIRONMENT "LIBGL_ALWAYS_SOFTWARE=1")
