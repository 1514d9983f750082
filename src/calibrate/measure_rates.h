/// Measures the speed of memory and of messages among the ranks of this job, as a step uses them, and the speed of
/// arithmetic of a device that waits for nothing: the yardstick for the speed of layers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "convoy/base/data_type.h"
#include "convoy/base/node_load.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

#include "plan/machine_costs.h"

namespace convoy {

/// Returns the rank on the same node with which `rank` measures messages; the last of an odd number has none. `nodes`
/// has for each rank a number that the ranks of its node have in common.
std::optional<std::int64_t> partner_on_node(std::span<const std::int64_t> nodes, std::int64_t rank);
/// Returns the rank on the neighbouring node with which `rank` measures messages: the one with the same index there.
/// Ranks of the last of an odd number of nodes have none, nor has a rank whose index the other node lacks.
std::optional<std::int64_t> partner_on_another_node(std::span<const std::int64_t> nodes, std::int64_t rank);

/// The sizes to measure with.
struct RatesSpec {
  std::int64_t message_bytes = 0;  ///< size of the largest message between stages
  std::int64_t arena_bytes = 0;    ///< size of all parameters in float32
};

/// Measures messages and memory. All ranks of world call it and get the same rates, without a key.
///
/// Messages of 4 KiB and of message_bytes go to and fro between neighbours on a node, then between ranks of the same
/// index on two nodes, all pairs at the same time. Then both partners send each other pieces of arenas at once. Memory
/// is measured by adding arenas on all ranks at the same time: large arenas are not in caches, as in a step. If ranks
/// share cores, as many measure at the same time as have cores. Each result is the median of several repetitions on the
/// slowest pair or rank. A level of the network without pairs (one node, or one rank per node) gets the rates of the
/// other level; if neither has pairs, both keep the defaults of MachineRates.
MachineRates measure_rates(const RatesSpec& spec, const NodeLoad& node, const mpi::Communicator& world,
                           ops::Backend& backend);

/// Returns the floating-point operations per second of the fastest of several large matrix products of values of this
/// type. Takes about half a second, and on a GPU up to 1 GiB of memory. Throws Error if the memory is not available.
double measure_product_rate(ops::Backend& backend, DataType type);

}  // namespace convoy
