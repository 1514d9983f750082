/// The costs that a plan is based on: measured here, or read from the file of an earlier run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/step_costs.h"

namespace convoy {

struct CalibrationSpec {
  NetworkSpec network;
  std::string file;          ///< costs.txt
  std::string engines_file;  ///< RuntimeSpec has it
  NodeLoad node = {};
};

/// With the files of a run and how the nodes' cores are shared among these ranks; nothing is shared where a GPU
/// computes. All ranks of world.
CalibrationSpec calibration_spec(const NetworkSpec& network, const RunParams& run, const mpi::Communicator& world,
                                 ops::Backend& backend);

/// Where a run keeps its costs.
std::string costs_path(const RunParams& run);

/// Those of the file, read by rank 0, where it holds them for this network, device and number of ranks; else measured.
/// What cannot be used of the file is said, and measured again. Throws Error where it is not a regular file. The same
/// on all ranks of world, which all call it.
MachineCosts find_machine_costs(const CalibrationSpec& spec, const mpi::Communicator& world, ops::Backend& backend);

/// Those of the file, where it holds all of them for this network, device and number of ranks: nothing is measured.
/// Throws Error where the file cannot be read. One rank.
std::optional<MachineCosts> find_kept_costs(const CalibrationSpec& spec, std::int64_t ranks, ops::Backend& backend);

/// The file's text with these costs in it, beside those of other networks and machines. Modelled ones are not kept.
std::string with_costs(const std::string& text, const MachineCosts& costs);

/// Puts them into the file. Throws Error where it cannot be written.
void keep_costs(const std::string& file, const MachineCosts& costs);

}  // namespace convoy
