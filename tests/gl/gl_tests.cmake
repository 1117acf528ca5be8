# Tests of app/gl and app/window, and painter_probe. What draws needs a display: they run under xvfb-run, or on the display
# that is there; without either they are skipped and say so. Xvfb must not reset itself when a test closes its window.
file(GLOB display_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/gl/*.cpp ${PROJECT_SOURCE_DIR}/app/window/*.cpp)
# The program's own parts need its command line.
list(FILTER display_sources EXCLUDE REGEX "/app/window/(application|desktop_dialog)[^/]*\\.cpp$")
add_library(headroom_display_parts STATIC ${display_sources})
target_link_libraries(headroom_display_parts PUBLIC headroom_window headroom_core headroom::display)

add_executable(painter_probe gl/painter_probe.cpp)
target_link_libraries(painter_probe PRIVATE headroom_display_parts)

file(GLOB gl_test_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/gl/*_test.cpp)
add_executable(gl_tests ${gl_test_sources})
target_link_libraries(gl_tests PRIVATE headroom_test_support headroom_display_parts)
target_compile_definitions(gl_tests PRIVATE HEADROOM_SOURCE_SHADERS="${PROJECT_SOURCE_DIR}/shaders")

find_program(HEADROOM_XVFB_RUN xvfb-run)
set(gl_command $<TARGET_FILE:gl_tests>)
if(HEADROOM_XVFB_RUN)
  set(gl_command ${HEADROOM_XVFB_RUN} -a -s "-screen 0 1600x1000x24 -noreset" $<TARGET_FILE:gl_tests>)
endif()
add_test(NAME "gl_tests: without a display" COMMAND gl_tests "~[gl]")
add_test(NAME "gl_tests: with a display" COMMAND ${gl_command} "[gl]")
set_tests_properties("gl_tests: without a display" PROPERTIES LABELS unit TIMEOUT 120)
set_tests_properties("gl_tests: with a display" PROPERTIES LABELS "unit;gl" TIMEOUT 300
  ENVIRONMENT "LIBGL_ALWAYS_SOFTWARE=1" SKIP_REGULAR_EXPRESSION "SKIPPED: ")
