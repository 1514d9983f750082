/// The order of the checks, and the part of rank 0's plan that all ranks need for them.
#include "preflight/preflight.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/print.h"
#include "convoy/comm/topology.h"
#include "convoy/params/parse.h"

#include "plan/machine_costs.h"
#include "preflight/directory_checks.h"
#include "preflight/input_checks.h"
#include "preflight/machine_checks.h"
#include "preflight/memory_checks.h"
#include "preflight/message_checks.h"
#include "preflight/report.h"
#include "preflight/run_plan.h"
#include "run/memory_report.h"
#include "run/report.h"
#include "run/run_backend.h"
#include "watchdog/status_board.h"

namespace convoy::preflight {

namespace {

/// The part of rank 0's plan that all ranks need to exchange messages.
struct SharedPlan {
  std::int64_t stages = 0;  ///< 0: no plan exists
  std::int64_t chunks = 1, message_bytes = 0;
};

SharedPlan share(const RunPlan* plan, const mpi::Communicator& world) {
  SharedPlan shared;
  if (plan != nullptr) {
    shared = {.stages = plan->step.grid().stages, .chunks = plan->step.num_chunks()};
    for (const StagePlan& stage : plan->step.stages())
      for (const ChunkPlan& chunk : stage.chunks)
        shared.message_bytes = std::max(shared.message_bytes, chunk.boundary_out_bytes);
  }
  world.broadcast(&shared, sizeof shared, 0);
  return shared;
}

std::optional<MachineRates> assumed_rates(const RunPlan& plan, const PlanParams& params) {
  const bool is_given = describes_messages(params);
  const auto& machine = plan.step.spec().machine;
  return machine && (plan.costs_are_measured || is_given) ? std::optional(machine->rates) : std::nullopt;
}

void check_links(const Parameters& params, const RunPlan* plan, const NodeLoad& node, ops::Backend* backend,
                 Report& report) {
  const SharedPlan shared = share(plan, report.world());
  if (report.world().size() == 1) return report.add("messages", ok("a single rank sends no messages"));
  if (shared.stages == 0 || backend == nullptr) return report.add("messages", not_checked("there is no plan"));
  ExchangeSpec spec{
      .stages = shared.stages, .wraps = shared.chunks > 1, .long_bytes = shared.message_bytes, .reference = {}};
  if (plan != nullptr)
    spec.reference = {.assumed = assumed_rates(*plan, params.plan), .cores_are_shared = node.is_shared()};
  check_messages(spec, backend->device(), report);
}

// Prints what a training would do. Called only if no check fails.
void print_run(const Parameters& params, const RunPlan& plan, const RunData& data, const Start& start,
               const std::string& device) {
  print("\nconvoy train would {} and train to step {}\n{}{}",
        start.checkpoint.empty() ? "begin" : fmt::format("resume from {} at step {}", start.checkpoint, start.step),
        plan.steps.total, describe_work(params, plan.step.spec(), data.train.info()),
        describe_layout(plan.step, device) + describe_memory(plan.step));
}

// Prints the verdicts on rank 0. Returns the same status on all ranks, which all call it.
ExitStatus finish(const Report& report) {
  if (report.is_root()) {
    print("{}", describe(report.verdicts()));
    std::fflush(stdout);
  }
  const bool fails_here = any_fails(report.verdicts());
  return report.world().max(fails_here ? 1 : 0) > 0 ? ExitStatus::kWrongRequest : ExitStatus::kDone;
}

}  // namespace

ExitStatus run(const Request& request, const mpi::Communicator& world, StatusBoard& board) {
  const Parameters& params = request.params;
  const bool is_dry_run = request.command == "train";
  Report report(world);

  // 1. Parameters and data
  const auto [is_common, is_sound] = check_parameters(request, report);
  if (!is_common) {
    report.add("all other checks", not_checked("the ranks have different parameters"));
    return finish(report);
  }
  const std::optional<RunData> data = check_data(params, report, board);

  // 2. Programs and machines
  board.enter(Activity::kStarting);
  check_programs(ops::computes_on_host(params.run.device), report);
  const std::vector<std::string> doubts = thread_warnings(params.run, world);
  place_on_processors(params.run, world);  // as a training does
  const std::unique_ptr<ops::Backend> backend = check_device(params, report);
  const std::int64_t threads = threads_per_rank(params.run.threads, world);
  const bool on_host = backend == nullptr || backend->device().is_host();
  check_threads(threads, on_host, on_host && !doubts.empty(), report);
  for (const std::string& doubt : doubts) report.add("threads", warning(doubt));
  check_placement(threads, on_host, report);
  const NodeLoad node = on_host ? find_node_load(world, threads) : find_gpu_node_load(world);
  check_clocks(report);

  // 3. The plan, which rank 0 makes, and what a training would need
  std::optional<RunPlan> plan;
  Start start;
  if (report.is_root()) {
    if (is_sound && data && backend) {
      plan = plan_run(params, *data, *backend, node, report);
    } else {
      report.add("plan", not_checked("it needs parameters, data and device"));
    }
    if (plan) {
      start = check_start(params, *data, *plan, *backend, report);
    } else {
      report.add("checkpoint", not_checked("there is no plan"));
    }
  }
  const RunPlan* const known_plan = plan ? &*plan : nullptr;
  check_memory(known_plan, !start.checkpoint.empty(), threads, backend.get(), report);
  if (is_dry_run) {
    report.add("messages", not_checked("a dry run sends no messages; convoy check measures them"));
  } else {
    check_links(params, known_plan, node, backend.get(), report);
  }

  // 4. The directory to write to, and the time limit
  if (report.is_root()) {
    check_directory(params, known_plan, !is_dry_run, report);
    check_time(known_plan, start.step, report);
  }
  const ExitStatus status = finish(report);
  if (!is_dry_run || !report.is_root()) return status;
  if (plan && status == ExitStatus::kDone)
    print_run(params, *plan, *data, start, backend->device().description());
  else
    print("\nconvoy train would be refused, or fail: first correct what failed in the table above\n");
  return status;
}

}  // namespace convoy::preflight
