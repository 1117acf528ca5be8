# Dear ImGui: the system's package, or any source tree named by HEADROOM_IMGUI_DIR.
set(HEADROOM_IMGUI_DIR "" CACHE PATH "Source tree of Dear ImGui 1.86 or newer; empty: the system's package")
pkg_check_modules(IMGUI REQUIRED imgui)
add_library(headroom_imgui INTERFACE)
target_include_directories(headroom_imgui SYSTEM INTERFACE ${IMGUI_STATIC_INCLUDE_DIRS})
target_link_libraries(headroom_imgui INTERFACE ${IMGUI_STATIC_LDFLAGS})
add_library(headroom::imgui ALIAS headroom_imgui)
