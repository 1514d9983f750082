/// What tests under mpirun share: the ranks that take part.
#pragma once

#include "convoy/comm/communicator.h"

namespace convoy::test {

/// All ranks of the test program (mpi_main.cpp).
const mpi::Communicator& world();

}  // namespace convoy::test
