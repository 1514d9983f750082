/// Checks every MPI call: a code that is not MPI_SUCCESS becomes an Error that names the call. Sizes that MPI cannot
/// count are found when a message is created, not in the middle of a step.
#pragma once

#include <cstdint>

#include <mpi.h>

namespace convoy::mpi {

/// Throws Error with the call's text, the library's message for `code`, and the file and line of the call.
[[noreturn]] void throw_mpi_error(int code, const char* call, const char* file, int line);

inline void check(int code, const char* call, const char* file, int line) {
  if (code != MPI_SUCCESS) throw_mpi_error(code, call, file, line);
}

/// Throws Error for more than 2^31 - 1 bytes: MPI 3 counts with ints.
void check_message_size(std::int64_t size_bytes);

/// Returns part_count as MPI takes it. Throws Error if all parts together have more than 2^31 - 1 floats.
int reduction_count(std::int64_t part_count, std::int64_t num_parts);

}  // namespace convoy::mpi

#define CONVOY_CHECK_MPI(call) ::convoy::mpi::check((call), #call, __FILE__, __LINE__)
