/// A planned step as text: its stages, and its schedule in equal units of time.
#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/run/trainer.h"
#include "convoy/schedule/simulator.h"

#include "calibrate/calibration.h"
#include "calibrate/run_layout.h"
#include "checkpoint/model_metadata.h"
#include "plan/planner.h"
#include "run/memory_report.h"
#include "run/report.h"
#include "step/step_trace.h"

namespace convoy {

namespace {

constexpr std::int64_t kDrawnColumns = 116;

char letter_of(Op op) {
  if (op == Op::kForward) return 'F';
  if (op == Op::kBackwardWeight) return 'W';
  return is_backward(op) ? 'B' : '\0';
}

// F forward, B backward (twice as long; where it is apart, B data gradient and W weight gradient), . idle; a column is
// a forward of one chunk.
std::string draw(const Schedule& schedule) {
  const PipelineCosts costs{.chunks = std::vector<ChunkCost>(
                                schedule.size() * static_cast<std::size_t>(num_chunks(schedule.front())),
                                {.forward_seconds = 1, .backward_input_seconds = 1, .backward_weight_seconds = 1})};
  const Simulation simulation = simulate(schedule, costs);
  std::string text = fmt::format("step: {:.0f} forward-times, bubble {:.1f} % (equal cells, free messages)\n",
                                 simulation.step_seconds, 100 * simulation.bubble);
  for (std::size_t s = 0; s < simulation.spans.size(); ++s) {
    std::string line(static_cast<std::size_t>(std::llround(simulation.step_seconds)), '.');
    for (const Span& span : simulation.spans[s]) {
      const char letter = letter_of(span.instruction.op);
      if (letter == '\0') continue;
      const auto begin = static_cast<std::size_t>(std::llround(span.begin_seconds));
      const auto end = static_cast<std::size_t>(std::llround(span.end_seconds));
      std::fill(line.begin() + begin, line.begin() + end, letter);
    }
    if (std::ssize(line) > kDrawnColumns) line = line.substr(0, kDrawnColumns - 3) + "...";
    text += fmt::format("  {:<3}{}\n", s, line);
  }
  return text;
}

constexpr std::int64_t kShownLayouts = 12;

using Machines = std::map<std::int64_t, MachineCosts>;  // by micro-batch

// Of a cluster that is not here.
void override_network(const PlanParams& plan, MachineRates& rates) {
  if (plan.latency_us > 0) rates.latency_seconds = plan.latency_us * 1e-6;
  if (plan.bandwidth_gb_s > 0) rates.bytes_per_second = plan.bandwidth_gb_s * 1e9;
}

// On rank 0. That the costs are measured again next time is not a reason not to plan.
void try_to_keep(const RunParams& run, const MachineCosts& costs) {
  try {
    io::make_directory(run.directory);
    keep_costs(costs_path(run), costs);
  } catch (const Error& error) {
    log_warning(fmt::format("what was measured is not kept: {}", error.what()));
  }
}

// For each micro-batch that is to be tried.
Machines find_machines(const Parameters& params, const io::ModelMetadata& metadata, const mpi::Communicator& world,
                       ops::Backend* backend) {
  Machines machines;
  std::vector<std::int64_t> sizes = params.plan.micro;
  if (sizes.empty()) sizes = {params.batch.micro};
  for (const std::int64_t micro : sizes) {
    if (params.batch.global % micro != 0)
      refuse("plan.micro = {} does not divide batch.global = {}.", micro, params.batch.global);
    NetworkSpec network = runtime_spec(params, metadata).network;
    network.micro_batch = micro;
    MachineCosts& costs = machines[micro];
    if (backend == nullptr) {
      costs = model_machine_costs(make_network(network));
    } else {
      costs = find_machine_costs(calibration_spec(network, params.run, world, *backend), world, *backend);
      mpi::on_root(world, [&] { try_to_keep(params.run, costs); });
    }
    override_network(params.plan, costs.rates);
  }
  return machines;
}

std::string compare(const Parameters& params, const io::ModelMetadata& metadata, const Machines& machines) {
  const MachineCosts& machine = machines.begin()->second;
  const MachineRates& rates = machine.rates;
  std::string text =
      fmt::format("layouts: cells {}; messages {:.3g} us + {:.3g} GB/s; memory {:.3g} GB/s per rank{}\n",
                  machine.is_measured() ? "measured" : "from a model", 1e6 * rates.latency_seconds,
                  1e-9 * rates.bytes_per_second, 1e-9 * rates.memory_bytes_per_second, describe_sharing(machine.node));
  for (const std::int64_t ranks : params.plan.ranks)
    text += describe(compare_layouts({.runtime = runtime_spec(params, metadata),
                                      .ranks = ranks,
                                      .machines = machines,
                                      .chunks = params.schedule.chunks,
                                      .recomputes = {RecomputeKind::kNone, RecomputeKind::kCell}}),
                     kShownLayouts);
  return text;
}

// Started alone it plans one replica: on a login node nobody has the ranks that the job will have.
GridShape asked_for(const Parameters& params, const mpi::Communicator& world) {
  if (!params.plan.ranks.empty()) return requested_grid(params, params.plan.ranks.front());
  const std::int64_t stages = std::max<std::int64_t>(1, params.grid.stages);
  return requested_grid(params, world.size() > 1 ? world.size() : stages);
}

std::string describe_one(const Parameters& params, const StepPlan& plan, const io::DatasetInfo& data) {
  if (!params.plan.draw.empty()) io::write_text_atomically(params.plan.draw, draw_plan(plan));
  return describe_run(params, plan, data, "planned, not started") + describe_memory(plan) +
         draw(plan.training_schedule(plan.busiest_replica()));
}

// With a table, a layout that cannot be is not a reason not to compare others.
std::string describe_asked_for(const Parameters& params, const io::Dataset& data, const RuntimeSpec& runtime,
                               const mpi::Communicator& world) {
  try {
    return describe_one(params, StepPlan(runtime, asked_for(params, world)), data.info());
  } catch (const RequestError& error) {
    if (params.plan.ranks.empty() || !params.plan.draw.empty()) throw;
    return fmt::format("as asked for: {}\n", error.what());
  }
}

}  // namespace

std::string describe_plan(const Parameters& params, const mpi::Communicator& world, ops::Backend* backend) {
  const io::Dataset data(params.data.train, "data.train");
  const io::ModelMetadata metadata = model_metadata(params, data.info());
  RuntimeSpec runtime = runtime_spec(params, metadata);
  if (backend != nullptr) runtime.on_gpu = !backend->device().is_host();
  Machines machines;
  if (!params.plan.ranks.empty()) {
    machines = find_machines(params, metadata, world, backend);
    if (machines.contains(params.batch.micro)) runtime.machine = machines.at(params.batch.micro);
  }
  std::string text;
  mpi::on_root(world, [&] {
    text = describe_asked_for(params, data, runtime, world);
    if (!machines.empty()) text += compare(params, metadata, machines);
  });
  return text;
}

}  // namespace convoy
