# `cmake --install BUILD`: the program, its libraries, its data and what a desktop and a shell want to know of it, below
# CMAKE_INSTALL_PREFIX, with DESTDIR in front. Nothing installed looks into the build or the clone.
include(GNUInstallDirs)
set(private_libraries ${CMAKE_INSTALL_LIBDIR}/headroom)
set(shared_data ${CMAKE_INSTALL_DATADIR}/headroom)

# With a LibTorch of the system's there is nothing to carry. Otherwise its libraries for the CPU go with the program, or, if
# not, the installed program opens those that it was built against, where they lie, CUDA's included.
set(bundle_torch ON)
if(HEADROOM_TORCH_DIR STREQUAL "system")
  set(bundle_torch OFF)
endif()
option(HEADROOM_BUNDLE_TORCH "Install LibTorch's libraries for the CPU with the program" ${bundle_torch})

file(RELATIVE_PATH libraries_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/headroom)
set_target_properties(headroom PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_program}")
set_target_properties(headroom_core headroom_compute PROPERTIES INSTALL_RPATH "$ORIGIN")
if(NOT HEADROOM_BUNDLE_TORCH AND NOT HEADROOM_TORCH_DIR STREQUAL "system")
  set_target_properties(headroom_compute PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()
install(TARGETS headroom RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS headroom_core headroom_compute LIBRARY DESTINATION ${private_libraries})

if(HEADROOM_BUNDLE_TORCH)
  # What libtorch_cpu needs beside the system's own libraries lies with it or in packages beside it; here all of it is in
  # one folder, and looks for the rest of itself there only.
  install(CODE "set(torch_cpu [[${HEADROOM_TORCH_CPU}]])\nset(folder [[${private_libraries}]])\nset(strip [[${CMAKE_STRIP}]])")
  install(CODE [[
    file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${torch_cpu} RESOLVED_DEPENDENCIES_VAR libraries
         UNRESOLVED_DEPENDENCIES_VAR missing POST_EXCLUDE_REGEXES "^/lib" "^/usr/lib")
    if(missing)
      message(FATAL_ERROR "LibTorch needs libraries that are not there: ${missing}")
    endif()
    foreach(library ${torch_cpu} ${libraries})
      file(INSTALL ${library} DESTINATION ${CMAKE_INSTALL_PREFIX}/${folder} TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN)
      cmake_path(GET library FILENAME name)
      file(REAL_PATH "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${folder}/${name}" installed)
      unset(rpath)
      unset(runpath)
      file(READ_ELF ${installed} RPATH rpath RUNPATH runpath CAPTURE_ERROR unreadable)
      if(rpath OR runpath)
        file(RPATH_SET FILE ${installed} NEW_RPATH "$ORIGIN")
      endif()
      if(CMAKE_INSTALL_DO_STRIP)
        execute_process(COMMAND ${strip} --strip-unneeded ${installed} COMMAND_ERROR_IS_FATAL ANY)
      endif()
    endforeach()]])
  # Their licences, as the wheels carry them.
  cmake_path(GET HEADROOM_TORCH_CPU PARENT_PATH torch_packages)
  cmake_path(APPEND torch_packages ../..)
  file(GLOB torch_licences ${torch_packages}/torch-*.dist-info/licenses/*)
  install(FILES ${torch_licences} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences/torch)
  foreach(name cuda_runtime cuda_cupti)
    file(GLOB torch_licences ${torch_packages}/nvidia_${name}-*.dist-info/licenses/*)
    install(FILES ${torch_licences} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences/nvidia_${name})
  endforeach()
endif()

# Data: what find_data_folder() of core/base/data_folder.h looks for.
install(DIRECTORY shaders DESTINATION ${shared_data} FILES_MATCHING PATTERN "*.frag" PATTERN "*.vert" PATTERN "*.glsl")
install(DIRECTORY assets/demo assets/prompts assets/recipes assets/corpora DESTINATION ${shared_data}/assets)
install(FILES assets/README.md assets/LICENSES.md DESTINATION ${shared_data}/assets)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What a shell and `man` want to know comes from the program itself.
set(documents ${PROJECT_BINARY_DIR}/documents)
file(MAKE_DIRECTORY ${documents})
add_custom_command(OUTPUT ${documents}/headroom.1 ${documents}/headroom.bash ${documents}/_headroom ${documents}/headroom.fish
  COMMAND headroom man > ${documents}/headroom.1
  COMMAND headroom completion bash > ${documents}/headroom.bash
  COMMAND headroom completion zsh > ${documents}/_headroom
  COMMAND headroom completion fish > ${documents}/headroom.fish
  DEPENDS headroom VERBATIM)
add_custom_target(headroom_documents ALL DEPENDS ${documents}/headroom.1)
install(FILES ${documents}/headroom.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${documents}/headroom.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME headroom)
install(FILES ${documents}/headroom.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Debian's zsh looks into another folder for packages than for what an administrator installs.
set(zsh_functions site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(zsh_functions vendor-completions)
endif()
install(FILES ${documents}/_headroom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_functions})

# What a desktop wants to know.
configure_file(app/desktop/headroom.metainfo.xml.in ${documents}/arpa.home.headroom.metainfo.xml @ONLY)
install(FILES ${documents}/arpa.home.headroom.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES app/desktop/headroom.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES app/desktop/headroom-mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages RENAME headroom.xml)
install(FILES app/desktop/headroom.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
