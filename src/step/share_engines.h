/// Makes all ranks compute with the same engines of a device's backend. If each rank measured for itself, two ranks
/// could choose different engines, whose results differ in their last bits.
#pragma once

#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/model/network.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// Gives all ranks the same engines. Rank 0 takes those of the backend, or if it has none those of `file` if it exists.
/// If `file` is a missing engines.txt, rank 0 reads plans.txt in its directory: earlier versions gave it that name.
/// Then it creates the operations of the whole network, which measures missing engines, and sends all engines to the
/// other ranks. It warns of a file that cannot be used, and measures again; it writes no file. Does nothing if the
/// backend does not measure engines. All ranks of world call it.
void share_engines(const Network& network, const mpi::Communicator& world, const std::string& file,
                   ops::Backend& backend);

}  // namespace convoy
