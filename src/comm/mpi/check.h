/// Every MPI call is checked: a code that is not MPI_SUCCESS becomes an Error that names the call.
#pragma once

#include <mpi.h>

namespace convoy::mpi {

/// Throws Error with the call's text, the library's message for `code`, and where the call stands.
[[noreturn]] void throw_mpi_error(int code, const char* call, const char* file, int line);

inline void check(int code, const char* call, const char* file, int line) {
  if (code != MPI_SUCCESS) throw_mpi_error(code, call, file, line);
}

}  // namespace convoy::mpi

#define CONVOY_CHECK_MPI(call) ::convoy::mpi::check((call), #call, __FILE__, __LINE__)
