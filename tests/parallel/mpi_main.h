/// What tests under mpirun share: the ranks that take part.
#pragma once

#include <optional>
#include <type_traits>

#include "convoy/comm/communicator.h"

namespace convoy::test {

/// All ranks of the test program (mpi_main.cpp).
const mpi::Communicator& world();

/// What `work` gives to rank 0 alone, at rank 0: every rank by itself could do it; one is enough. All ranks call.
template <typename Work>
std::optional<std::invoke_result_t<Work, const mpi::Communicator&>> on_rank_0_alone(const Work& work) {
  const mpi::Communicator alone = world().split(world().rank(), 0);  // all ranks of the world
  if (world().rank() != 0) return std::nullopt;
  return work(alone);
}

}  // namespace convoy::test
