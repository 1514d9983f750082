/// The ranks as a grid of replicas x stages, and their communicators. (Others are made elsewhere: the exchange of
/// gradients has one with the replicas in another order, data.copy_to one for the ranks of a node, and an evaluation
/// one for the replicas that share their weights.)
///   rank = replica * stages + stage        neighbours in rank are neighbours in the pipeline
#pragma once

#include <cstdint>

#include "convoy/base/grid_shape.h"
#include "convoy/comm/communicator.h"

namespace convoy {

class ProcessGrid {
 public:
  /// All ranks of world call it. Throws RequestError as grid_shape() does.
  ProcessGrid(const mpi::Communicator& world, std::int64_t stages) : world_(world) {
    const auto num_stages = static_cast<int>(grid_shape(stages, world.size()).stages);
    const int my_replica = world.rank() / num_stages, my_stage = world.rank() % num_stages;
    model_ = world.split(my_replica, my_stage);    // all ranks of world
    data_ = world.split(my_stage, my_replica);     // all ranks of world
    beside_steps_ = world.split(0, world.rank());  // all ranks of world
  }

  const mpi::Communicator& world() const { return world_; }
  const mpi::Communicator& model() const { return model_; }  ///< the ranks of this rank's replica, by stage
  const mpi::Communicator& data() const { return data_; }    ///< the ranks of this rank's stage, by replica
  /// A second group of all ranks, for messages that travel while steps run and do not wait for messages of steps.
  const mpi::Communicator& beside_steps() const { return beside_steps_; }

  std::int64_t num_stages() const { return model_.size(); }
  std::int64_t num_replicas() const { return data_.size(); }
  std::int64_t stage() const { return model_.rank(); }
  std::int64_t replica() const { return data_.rank(); }
  bool is_first_stage() const { return stage() == 0; }
  bool is_last_stage() const { return stage() == num_stages() - 1; }
  bool is_root() const { return world_.rank() == 0; }
  int world_rank(std::int64_t replica, std::int64_t stage) const {
    return static_cast<int>(replica * num_stages() + stage);
  }

 private:
  mpi::Communicator world_, model_, data_, beside_steps_;
};

}  // namespace convoy
