# Run at every build: cmake -DSOURCE=… -DVERSION=… -DDATE=… -DOUTPUT=… -P version.cmake writes the source that says which commit
# is being built, with -dirty where tracked files differ from it. The file is touched only when that changes.
execute_process(COMMAND git -C ${SOURCE} describe --always --exclude=* --abbrev=12 --dirty OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  # Without git the clone's own files still name the commit.
  set(commit "unknown")
  if(EXISTS ${SOURCE}/.git/HEAD)
    file(READ ${SOURCE}/.git/HEAD head)
    string(STRIP "${head}" head)
    if(head MATCHES "^ref: (.*)$")
      set(ref ${CMAKE_MATCH_1})
      set(head "")
      if(EXISTS ${SOURCE}/.git/${ref})
        file(READ ${SOURCE}/.git/${ref} head)
      elseif(EXISTS ${SOURCE}/.git/packed-refs)
        file(STRINGS ${SOURCE}/.git/packed-refs head REGEX " ${ref}$")
      endif()
    endif()
    if(head MATCHES "^([0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f])")
      set(commit ${CMAKE_MATCH_1})
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "app/process/version.h"

namespace headroom {

const char* const kVersion = "@VERSION@";
const char* const kReleaseDate = "@DATE@";
const char* const kGitCommit = "@commit@";

}  // namespace headroom
]] @ONLY)
