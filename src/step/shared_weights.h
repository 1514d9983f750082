/// One copy of the weights of a network that is only evaluated, for all replicas of a stage to which it is equally
/// near.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/comm/process_grid.h"
#include "convoy/comm/shared_memory.h"
#include "convoy/device/device.h"

#include "step/stage.h"

namespace convoy {

/// Returns the replicas of this rank's stage that can read the same weights, in the order of replicas: those of a NUMA
/// domain if the CPU computes, else this rank alone. The first of them writes. All ranks of the grid call it.
mpi::Communicator find_weight_sharers(const ProcessGrid& grid, const Device& device);

/// The stage's parameters, and the copies that convolutions keep of them in layouts of their own. If the system does
/// not let replicas share memory, each has its own copy of the same weights, and a warning of rank 0 says why.
class SharedWeights {
 public:
  /// All ranks of the grid call it.
  SharedWeights(const ProcessGrid& grid, Device& device, const StagePlan& plan);

  /// Whether this rank must write the stage's parameters. The others cannot.
  bool is_writer() const { return sharers_.rank() == 0; }
  /// Returns the memory of the stage that publish() gets. This object must outlive that stage.
  WeightArenas arenas() const;
  /// Called once the writer's parameters are written: from now on all sharers compute with them. All ranks of the grid
  /// call it. A second call throws std::logic_error.
  void publish(Stage& stage);

  /// Bytes of the memory that this rank reads together with others.
  std::int64_t shared_bytes() const;
  /// Returns "weights: one copy in memory per 4 replicas\n"; empty if no replicas share weights. All ranks of the grid
  /// call it, after publish().
  std::string describe() const;

 private:
  std::optional<SharedMemory> try_to_share(std::int64_t size_bytes, const std::string& what) const;
  void share_packed(Stage& stage);

  mpi::Communicator world_, sharers_;
  Device& device_;
  StagePlan plan_;
  std::optional<SharedMemory> arenas_, packed_;  ///< nothing if each replica has its own
  bool is_published_ = false;
  bool keeps_own_packed_ = false;  ///< although it could read another's
};

}  // namespace convoy
