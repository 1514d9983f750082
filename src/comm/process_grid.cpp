/// The grid's splits of the world.
#include "convoy/comm/process_grid.h"

namespace convoy {

ProcessGrid::ProcessGrid(const mpi::Communicator& world, std::int64_t stages) : world_(world) {
  const auto num_stages = static_cast<int>(grid_shape(stages, world.size()).stages);
  const int my_replica = world.rank() / num_stages;
  const int my_stage = world.rank() % num_stages;
  model_ = world.split(my_replica, my_stage);    // all ranks of world
  data_ = world.split(my_stage, my_replica);     // all ranks of world
  beside_steps_ = world.split(0, world.rank());  // all ranks of world
}

}  // namespace convoy
