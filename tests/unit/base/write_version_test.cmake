# What write_version.cmake writes of a tarball, of a repository, of one that was modified, and of a folder inside another
# project's repository; and that it leaves alone a file that is right.
#   cmake -DSCRIPT=write_version.cmake -DFOLDER=... -P write_version_test.cmake
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}/project/unpacked")
set(ENV{GIT_CEILING_DIRECTORIES} "${FOLDER}")  # the project that is being tested is a repository, too
set(ENV{GIT_CONFIG_GLOBAL} /dev/null)  # nobody's signatures and hooks

function(git)
  execute_process(COMMAND git -C "${FOLDER}/project" -c user.name=test -c user.email=test@localhost ${ARGN}
                  COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(git_output "${output}" PARENT_SCOPE)
endfunction()

function(expect_version root want)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${root} -DVERSION=1.2.3 -DOUTPUT=${FOLDER}/version.cpp -P ${SCRIPT}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${FOLDER}/version.cpp" text)
  string(FIND "${text}" "return \"${want}\";" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "'${want}' is not what was written of ${root}:\n${text}")
  endif()
endfunction()

expect_version("${FOLDER}/project" "1.2.3")

find_program(GIT git)
if(NOT GIT)
  message("skipped: no git")
  return()
endif()
file(WRITE "${FOLDER}/project/a.txt" "one")
git(init --quiet)
git(add a.txt)
git(commit --quiet --message=one)
git(rev-parse --short=10 HEAD)
expect_version("${FOLDER}/project" "1.2.3 (git ${git_output})")
expect_version("${FOLDER}/project/unpacked" "1.2.3")

file(WRITE "${FOLDER}/project/a.txt" "two")
expect_version("${FOLDER}/project" "1.2.3 (git ${git_output}, modified)")

execute_process(COMMAND ${CMAKE_COMMAND} -E touch_nocreate "${FOLDER}/version.cpp")
file(TIMESTAMP "${FOLDER}/version.cpp" before "%s")
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)
expect_version("${FOLDER}/project" "1.2.3 (git ${git_output}, modified)")
file(TIMESTAMP "${FOLDER}/version.cpp" after "%s")
if(NOT before EQUAL after)
  message(FATAL_ERROR "version.cpp was written again, though nothing had changed")
endif()
file(REMOVE_RECURSE "${FOLDER}")
