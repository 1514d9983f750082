# Writes the source of version(), at each build: the revision may have changed since CMake was run. The file is only
# touched where it changes, so that nothing is compiled again without a reason.
#   cmake -DROOT=... -DVERSION=0.9.0 -DOUTPUT=.../version.cpp -P write_version.cmake
set(version "${VERSION}")

# Of this project's repository alone: unpacked from a tarball it may lie within another one.
execute_process(COMMAND git -C "${ROOT}" rev-parse --show-cdup
                RESULT_VARIABLE failed OUTPUT_VARIABLE way_up OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed EQUAL 0 AND way_up STREQUAL "")
  execute_process(COMMAND git -C "${ROOT}" --no-optional-locks describe --always --exclude=* --abbrev=10 "--dirty=, modified"
                  RESULT_VARIABLE failed OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed EQUAL 0)
    string(APPEND version " (git ${revision})")
  endif()
endif()

file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
/// Written by src/base/write_version.cmake.
#include "convoy/base/version.h"

namespace convoy {

std::string_view version() {
  return "@version@";
}

}  // namespace convoy
]])
