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

/// The replicas of this rank's stage that can read the same weights, in the order of replicas: those of a NUMA domain,
/// where the CPU computes; else this rank alone. The first of them writes. All ranks of the grid.
mpi::Communicator find_weight_sharers(const ProcessGrid& grid, const Device& device);

/// The stage's parameters, and what convolutions keep of them in layouts of their own. Where the system does not let
/// replicas share memory, they have their own copies of the same weights, and a warning of rank 0 says why.
class SharedWeights {
 public:
  /// All ranks of the grid.
  SharedWeights(const ProcessGrid& grid, Device& device, const StagePlan& plan);

  /// Whether this rank is to write the stage's parameters. The others cannot.
  bool is_writer() const { return sharers_.rank() == 0; }
  /// For the stage that publish() gets, which this outlives.
  WeightArenas arenas() const;
  /// The writer's parameters are written: from now on all sharers compute with them. Once. All ranks of the grid.
  void publish(Stage& stage);

  /// Of the memory that this rank reads together with others.
  std::int64_t shared_bytes() const;
  /// "weights: one copy in memory per 4 replicas\n"; empty where no replicas share them. All ranks of the grid, after
  /// publish().
  std::string describe() const;

 private:
  std::optional<SharedMemory> try_to_share(std::int64_t size_bytes, const std::string& what) const;
  void share_packed(Stage& stage);

  mpi::Communicator world_, sharers_;
  Device& device_;
  StagePlan plan_;
  std::optional<SharedMemory> arenas_, packed_;  ///< none where each has its own
  bool is_published_ = false;
  bool keeps_own_packed_ = false;  ///< though it could read another's
};

}  // namespace convoy
