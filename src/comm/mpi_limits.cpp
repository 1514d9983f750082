/// MPI 3 counts with ints.
#include "comm/mpi_limits.h"

#include <limits>
#include <numeric>

#include "convoy/base/error.h"

namespace convoy {

namespace {

constexpr std::int64_t kMostCounted = std::numeric_limits<int>::max();

}  // namespace

void check_message_size(std::int64_t size_bytes) {
  if (size_bytes <= kMostCounted) return;
  fail("A message of {} bytes is longer than MPI can count (2^31 - 1). A smaller batch.micro makes it shorter.",
       size_bytes);
}

std::vector<int> reduction_counts(std::span<const std::int64_t> counts) {
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (total > kMostCounted)
    fail("A reduction of {} floats is longer than MPI can count (2^31 - 1). More buckets make it shorter.", total);
  return {counts.begin(), counts.end()};
}

}  // namespace convoy
