/// The message of a failed MPI call, and of one that would fail.
#include "comm/mpi/check.h"

#include <array>
#include <limits>
#include <string_view>

#include "convoy/base/error.h"

namespace convoy::mpi {

namespace {

constexpr std::int64_t kMaxCounted = std::numeric_limits<int>::max();

// "/somewhere/src/comm/mpi/session.cpp" -> "src/comm/mpi/session.cpp": the folder of the build is of no interest.
std::string_view inside_project(std::string_view file) {
  const auto start = file.rfind("/src/");
  return start == std::string_view::npos ? file : file.substr(start + 1);
}

}  // namespace

void throw_mpi_error(int code, const char* call, const char* file, int line) {
  std::array<char, MPI_MAX_ERROR_STRING> text = {};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  const std::string_view reason = length > 0 ? std::string_view(text.data(), static_cast<std::size_t>(length))
                                             : std::string_view("no message for this code");
  fail("MPI could not complete {}: {} (code {}, {}:{}).", call, reason, code, inside_project(file), line);
}

void check_message_size(std::int64_t size_bytes) {
  if (size_bytes <= kMaxCounted) return;
  fail("A message of {} bytes is longer than MPI can count (2^31 - 1). A smaller batch.micro makes it shorter.",
       size_bytes);
}

int reduction_count(std::int64_t part_count, std::int64_t num_parts) {
  if (part_count * num_parts > kMaxCounted)
    fail("A reduction of {} floats is longer than MPI can count (2^31 - 1). A smaller run.bucket_mib makes it shorter.",
         part_count * num_parts);
  return static_cast<int>(part_count);
}

}  // namespace convoy::mpi
