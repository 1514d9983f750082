/// One copy of a stage's weights for all replicas in a NUMA domain, if the network is only evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/comm/process_grid.h"
#include "convoy/comm/shared_memory.h"
#include "convoy/device/device.h"

#include "step/stage.h"

namespace convoy {

/// Returns the group of the replicas of this rank's stage that read the same weights, in the order of replicas: those
/// in this rank's NUMA domain if the device is a CPU, otherwise this rank alone. The first of them writes the weights.
/// All ranks of the grid call it.
mpi::Communicator find_weight_sharers(const ProcessGrid& grid, const Device& device);

/// The stage's parameters, and the copies of them that convolutions keep in layouts of their own (packed weights). If
/// the system does not let ranks share memory, each rank has its own copy, and rank 0 prints a warning with the reason.
class SharedWeights {
 public:
  /// All ranks of the grid call it. `device` must outlive this object.
  SharedWeights(const ProcessGrid& grid, Device& device, const StagePlan& plan);

  /// Whether this rank must write the stage's parameters. The other ranks cannot write them.
  bool is_writer() const { return sharers_.rank() == 0; }
  /// Returns the memory for the parameters of the stage that is given to publish(). This object must outlive the stage.
  WeightArenas arenas() const;
  /// Called when the writer has written the parameters: from now on all ranks that share them compute with them. All
  /// ranks of the grid call it once; a second call throws std::logic_error.
  void publish(Stage& stage);

  /// Size in bytes of the memory that this rank shares with others.
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
  std::optional<SharedMemory> arenas_, packed_;  ///< empty if each replica has its own copy
  bool is_published_ = false;
  /// Whether some packed weights are this rank's own, because its bytes differ from the shared ones.
  bool keeps_own_packed_ = false;
};

}  // namespace convoy
