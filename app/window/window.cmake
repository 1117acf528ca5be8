# What the window itself needs: GLFW, OpenGL entry points, Dear ImGui with its two backends, PNG.
pkg_check_modules(DISPLAY_LIBRARIES REQUIRED IMPORTED_TARGET glfw3 epoxy libpng freetype2 harfbuzz fontconfig fribidi)
include(${CMAKE_CURRENT_LIST_DIR}/imgui.cmake)
add_library(headroom_display INTERFACE)
target_link_libraries(headroom_display INTERFACE PkgConfig::DISPLAY_LIBRARIES headroom::imgui)
add_library(headroom::display ALIAS headroom_display)
