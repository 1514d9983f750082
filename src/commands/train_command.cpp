/// convoy train, plan, sweep, replay, evaluate and predict: they run on the grid of all ranks; sweep uses the ranks of
/// each row.
#include <algorithm>
#include <memory>

#include "convoy/base/log.h"
#include "convoy/base/print.h"
#include "convoy/base/wording.h"
#include "convoy/comm/memory_limits.h"
#include "convoy/comm/process_grid.h"
#include "convoy/comm/stop_signals.h"
#include "convoy/comm/topology.h"
#include "convoy/device/device.h"
#include "convoy/params/parameters.h"

#include "commands/commands.h"
#include "inference/inference.h"
#include "preflight/preflight.h"
#include "run/replay.h"
#include "run/run_backend.h"
#include "run/trainer.h"
#include "sweep/sweep.h"
#include "watchdog/watchdog_session.h"

namespace convoy::commands {

namespace {

// Refuses ranks on different kinds of devices: run.device = auto chooses the CPU on a host whose driver is missing.
void check_same_device(const mpi::Communicator& world, const Device& device) {
  const std::int64_t num_on_cpu = world.sum(device.is_host() ? 1 : 0);
  if (num_on_cpu > 0 && num_on_cpu < world.size())
    refuse("run.device = auto: {} of {} ranks found no GPU. Use hosts that are alike, or run.device = cpu.", num_on_cpu,
           world.size());
}

std::unique_ptr<ops::Backend> make_backend(const Parameters& params, const mpi::Communicator& ranks) {
  auto backend = ops::make_backend(
      backend_spec(params, threads_per_rank(params.run.threads, ranks), find_topology(ranks).local_rank));
  check_same_device(ranks, backend->device());
  check_precision(params.train.precision, backend->device());
  return backend;
}

// Warns, and places the ranks on processors. All ranks of world; of the ranks with a small limit, only the first warns.
void warn_and_place(const RunParams& run, const mpi::Communicator& world) {
  for (const std::string& warning : thread_warnings(run, world)) log_warning(warning);
  const std::string small_limit = describe_small_limits(threads_per_rank(run.threads, world) * thread_reserve());
  const std::int64_t first = -world.max(small_limit.empty() ? -world.size() : -world.rank());
  if (first == world.rank()) log_warning(small_limit);
  place_on_processors(run, world);
}

// Makes a command's only backend, after placing the ranks.
std::unique_ptr<ops::Backend> make_placed_backend(const Parameters& params, const mpi::Communicator& world) {
  warn_and_place(params.run, world);
  return make_backend(params, world);
}

// Returns grid.stages for a command that does not train. A number in the parameter file was meant for the ranks of the
// training: it is reduced until it divides the number of ranks here. auto means 1 stage here: without a backward pass,
// replicas have no bubble.
std::int64_t stages_without_training(const Request& request, const mpi::Communicator& world) {
  const std::int64_t asked = std::max<std::int64_t>(1, request.params.grid.stages);
  if (request.given_on_command_line("grid.stages")) return asked;
  std::int64_t fitting = std::min<std::int64_t>(asked, world.size());
  while (world.size() % fitting != 0) --fitting;
  if (fitting != asked && world.rank() == 0)
    print("grid: {}, because grid.stages = {} of the parameter file does not divide {}\n", counted(fitting, "stage"),
          asked, counted(world.size(), "rank"));
  return fitting;
}

template <typename Work>
ExitStatus on_grid(const Request& asked, WatchdogSession& watchdog, Work&& work) {
  // 1. Who takes part
  Request request = asked;
  request.params.grid = {.stages = stages_without_training(asked, watchdog.world())};  // grid.cuts are for training
  const ProcessGrid grid(watchdog.world(), request.params.grid.stages);
  // A step of the training may have fewer micro-batches than there are replicas here. The number of samples that an
  // evaluation takes at a time changes no result.
  BatchParams& batch = request.params.batch;
  batch.global = std::max(batch.global, grid.num_replicas() * batch.micro);
  // 2. On which device
  const auto backend = make_placed_backend(request.params, watchdog.world());
  // 3. Do it
  return work(request, grid, *backend, watchdog.board());
}

}  // namespace

ExitStatus train(const Request& request, WatchdogSession& watchdog) {
  if (request.is_preflight) return check_parameters(request, watchdog);
  // Before anything is opened, since that may take long: the first step then ends the run.
  catch_stop_signals(/*says_so=*/watchdog.world().rank() == 0);
  const auto backend = make_placed_backend(request.params, watchdog.world());
  return convoy::train(request.params, watchdog.world(), *backend, watchdog.board());
}

ExitStatus check_parameters(const Request& request, WatchdogSession& watchdog) {
  return preflight::run(request, watchdog.world(), watchdog.board());
}

ExitStatus plan(const Request& request, WatchdogSession& watchdog) {
  watchdog.board().enter(Activity::kPlanning);
  const PlanParams& plan = request.params.plan;
  const bool measures = plan.micro == std::vector{kLargestThatFits} || (!plan.ranks.empty() && plan.measure);
  const auto backend = measures ? make_placed_backend(request.params, watchdog.world()) : nullptr;
  const std::string text = describe_plan(request.params, watchdog.world(), backend.get());
  if (watchdog.world().rank() == 0) print("{}", text);
  return ExitStatus::kDone;
}

ExitStatus sweep(const Request& request, WatchdogSession& watchdog) {
  catch_stop_signals(/*says_so=*/watchdog.world().rank() == 0);
  warn_and_place(request.params.run, watchdog.world());  // once, not per row: a few ranks do not fill a node
  return convoy::sweep(request.params, watchdog.world(), make_backend, watchdog.board());
}

ExitStatus replay(const Request& request, WatchdogSession& watchdog) {
  const auto backend = make_placed_backend(request.params, watchdog.world());
  return convoy::replay(request.params, watchdog.world(), *backend, watchdog.board());
}

ExitStatus evaluate(const Request& request, WatchdogSession& watchdog) {
  return on_grid(request, watchdog, convoy::evaluate);
}

ExitStatus predict(const Request& request, WatchdogSession& watchdog) {
  return on_grid(request, watchdog, convoy::predict);
}

}  // namespace convoy::commands
