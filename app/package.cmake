# `cpack` in the build folder: a Debian package of what app/install.cmake installs. app/make_package.sh makes one for the
# machine that it runs on; a package fits the release of Debian that built it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME headroom)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Headroom authors <headroom@home.arpa>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "what every attention head of a transformer checkpoint does")
set(CPACK_PACKAGE_DESCRIPTION
"Headroom opens transformer checkpoints (safetensors, GGUF, PyTorch), runs their
attention on a text, and shows in a window and measures on the command line what
every head does: attention maps, context RMS, sinks, qk-logits, differential
attention.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
if(HEADROOM_BUNDLE_TORCH)
  cmake_path(GET HEADROOM_TORCH_CPU PARENT_PATH torch_libraries)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${torch_libraries})
endif()
# What is opened at run time, and so not found by its links: OpenGL, fonts.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libgl1, fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libgl1-mesa-dri, fonts-inter, fonts-jetbrains-mono")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "zenity | kdialog")
include(CPack)
