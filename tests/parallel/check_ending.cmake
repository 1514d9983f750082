# Starts a program under mpirun and checks how the job ends: its status, in time, and what it says how often.
#   cmake -DCOMMAND="mpirun;-n;4;program;way" -DSTATUS=2 -DSECONDS=30 -DSAYS=regex [-DTIMES=1] -P check_ending.cmake
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors
                TIMEOUT ${SECONDS})
set(said "${output}${errors}")
if(NOT "${status}" STREQUAL "${STATUS}")
  message(FATAL_ERROR "ended with '${status}' instead of status ${STATUS} within ${SECONDS} s, saying\n${said}")
endif()
if(NOT DEFINED TIMES)
  set(TIMES 1)
endif()
string(REGEX REPLACE "[][;]" " " plain "${said}")  # these would join or divide the items of a list
string(REGEX MATCHALL "${SAYS}" found "${plain}")
list(LENGTH found times)
if(NOT times EQUAL TIMES)
  message(FATAL_ERROR "said '${SAYS}' ${times} times instead of ${TIMES}:\n${said}")
endif()
