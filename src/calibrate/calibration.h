/// The costs that a plan is based on: measured by this job, or read from the file of an earlier run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/base/node_load.h"
#include "convoy/comm/communicator.h"
#include "convoy/model/network.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

#include "calibrate/measure_rates.h"
#include "plan/machine_costs.h"

namespace convoy {

/// Returns the key of cell costs, by which they are found again: a line with the network, shapes, micro-batch, type,
/// frozen layers, the device with its threads, and the ranks that measure at the same time.
std::string costs_key(const NetworkSpec& network, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

/// Returns the key of rates: a line with sizes, the device with its threads, and the ranks.
std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

/// What find_machine_costs() finds or measures.
struct CalibrationSpec {
  NetworkSpec network;
  std::string file;               ///< path of costs.txt; empty: costs are not kept
  std::string engines_file = {};  ///< path of the file of engines, which is read if cells are measured
  NodeLoad node = {};
};

/// Returns a spec with the files of a run and with the number of ranks that share a node's cores; with GPUs no cores
/// are shared. All ranks of world call it.
CalibrationSpec calibration_spec(const NetworkSpec& network, const RunParams& run, const mpi::Communicator& world,
                                 ops::Backend& backend);

/// Returns the path of the file in which a run keeps its costs.
std::string costs_path(const RunParams& run);

/// Returns the costs of this network, device and number of ranks from the file, which rank 0 reads, and measures those
/// that it does not hold. A part of the file that cannot be used causes a warning and is measured again. Throws Error
/// if the file exists but cannot be read. All ranks of world call it and get the same costs.
MachineCosts find_machine_costs(const CalibrationSpec& spec, const mpi::Communicator& world, ops::Backend& backend);

/// Returns the costs of this network, device and number of ranks from the file; nothing if it does not hold all of
/// them. Measures nothing. Throws Error if the file exists but cannot be read. One rank alone calls it.
std::optional<MachineCosts> find_kept_costs(const CalibrationSpec& spec, std::int64_t ranks, ops::Backend& backend);

/// Returns the file's text `text` with these costs added to those of other networks and machines. Older costs with the
/// same key are replaced; modelled costs are left out.
std::string with_costs(const std::string& text, const MachineCosts& costs);

/// Adds the costs to the file. Throws Error if it cannot be read or written.
void keep_costs(const std::string& file, const MachineCosts& costs);

}  // namespace convoy
