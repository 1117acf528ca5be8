# The tree itself: layers, includes, names, form, and what Clang says of each source.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# headroom_style_test(NAME SCRIPT argument…)
function(headroom_style_test name script)
  add_test(NAME "style: ${name}" COMMAND ${Python3_EXECUTABLE} -B ${script} ${ARGN}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/style)
  set_tests_properties("style: ${name}" PROPERTIES LABELS style TIMEOUT 120)
endfunction()

headroom_style_test("layering" layering.py ${PROJECT_SOURCE_DIR})
headroom_style_test("layering finds planted violations" layering_planted_test.py)
headroom_style_test("standard headers are included where they are used" std_includes.py ${PROJECT_SOURCE_DIR})
headroom_style_test("no name is in two unnamed namespaces of a folder, and each is used" unity_names.py ${PROJECT_SOURCE_DIR})
headroom_style_test("each line of the list of mutations is in the sources" ../oracle/mutations.py --check)
headroom_style_test("references lead to what anybody can open" references.py ${PROJECT_SOURCE_DIR})
headroom_style_test("every asset has its licence" licences.py ${PROJECT_SOURCE_DIR})
headroom_style_test("every workflow has its section with its picture" workflows.py ${PROJECT_SOURCE_DIR})
headroom_style_test("the checks of the tree find planted faults" planted_test.py)
headroom_style_test("the checks of references and licences find planted faults" references_planted_test.py)

# The pinned tools are beside the Python that tests/run.sh prepares.
get_filename_component(style_tools "${HEADROOM_PYTHON}" DIRECTORY)
add_test(NAME "style: sources are as clang-format leaves them"
  COMMAND ${CMAKE_COMMAND} -E env CLANG_FORMAT=${style_tools}/clang-format bash format.sh --check
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/style)
set_tests_properties("style: sources are as clang-format leaves them" PROPERTIES LABELS style TIMEOUT 300
  SKIP_RETURN_CODE ${HEADROOM_SKIP_CODE})
add_test(NAME "style: clang-tidy has nothing to say"
  COMMAND ${Python3_EXECUTABLE} -B tidy.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${style_tools}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/style)
set_tests_properties("style: clang-tidy has nothing to say" PROPERTIES LABELS style TIMEOUT 3000 PROCESSORS 2
  SKIP_RETURN_CODE ${HEADROOM_SKIP_CODE})
