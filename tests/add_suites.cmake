# Tells ctest of a program's suites: one test for each of them, or for each of them on each number of ranks. ctest reads this
# when it starts; convoy_suites in tests/CMakeLists.txt sets program, name, numbers_of_ranks, properties and mpirun.
if(NOT EXISTS "${program}")
  add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)
  return()
endif()

# A suite stands at the beginning of a line and ends with a point. Its cases are indented.
execute_process(COMMAND "${program}" --gtest_list_tests TIMEOUT 300
                OUTPUT_VARIABLE listed ERROR_VARIABLE complaint RESULT_VARIABLE status)
string(REGEX MATCHALL "(^|\n)[^ \n]+\\." suites "${listed}")
if(NOT status EQUAL 0 OR suites STREQUAL "")
  message(FATAL_ERROR "${program} --gtest_list_tests gave no suites (status ${status}):\n${listed}${complaint}")
endif()

foreach(suite ${suites})
  string(STRIP "${suite}" suite)
  string(REGEX REPLACE "\\.$" "" suite "${suite}")
  if(numbers_of_ranks STREQUAL "")
    add_test("${name}.${suite}" "${program}" "--gtest_filter=${suite}.*")
    set_tests_properties("${name}.${suite}" PROPERTIES ${properties})
  endif()
  foreach(ranks ${numbers_of_ranks})
    set(test "${name}_${ranks}_ranks.${suite}")
    add_test("${test}" ${mpirun} -n ${ranks} "${program}" "--gtest_filter=${suite}.*")
    set_tests_properties("${test}" PROPERTIES ${properties})
    if(ranks GREATER 1)
      set_tests_properties("${test}" PROPERTIES PROCESSORS 3)  # two cores, but for a test that waits
    endif()
  endforeach()
endforeach()
