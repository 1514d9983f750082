/// Collects one text from each rank.
#pragma once

#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

namespace convoy::mpi {

/// Returns each rank's text, in rank order, on rank 0; empty elsewhere. All ranks of the group call it.
std::vector<std::string> gather_texts(const Communicator& group, const std::string& mine);

/// Returns each rank's text, in rank order, on all ranks. All ranks of the group call it.
std::vector<std::string> share_texts(const Communicator& group, const std::string& mine);

}  // namespace convoy::mpi
