/// convoy train, convoy evaluate: on the grid of all ranks.
#include "convoy/comm/process_grid.h"
#include "convoy/comm/topology.h"
#include "convoy/train/trainer.h"

#include "commands/commands.h"

namespace convoy::commands {

namespace {

template <typename Work>
ExitStatus on_grid(const Request& request, mpi::Session& session, Work&& work) {
  // 1. Who takes part
  const ProcessGrid grid(session.world(), request.params.grid.stages);
  // 2. On which device
  const std::int64_t threads =
      request.params.run.threads > 0 ? request.params.run.threads : fair_threads(session.world());
  const auto library = ops::make_library({.device = request.params.run.device, .threads = threads});
  // 3. Do it
  return work(request.params, grid, *library);
}

}  // namespace

ExitStatus train(const Request& request, mpi::Session& session) {
  return on_grid(request, session, convoy::train);
}

ExitStatus evaluate(const Request& request, mpi::Session& session) {
  return on_grid(request, session, convoy::evaluate);
}

}  // namespace convoy::commands
