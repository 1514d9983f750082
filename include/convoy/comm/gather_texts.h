/// One text of each rank.
#pragma once

#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

namespace convoy::mpi {

/// Each rank's text, in rank order, on rank 0; empty elsewhere. All ranks of the group.
std::vector<std::string> gather_texts(const Communicator& group, const std::string& mine);

/// The same on all ranks.
std::vector<std::string> share_texts(const Communicator& group, const std::string& mine);

}  // namespace convoy::mpi
