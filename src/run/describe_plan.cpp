/// A planned step as text: its stages, and its schedule in equal units of time.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/topology.h"
#include "convoy/data/training_set.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parameters.h"
#include "convoy/schedule/simulator.h"

#include "calibrate/calibration.h"
#include "calibrate/run_layout.h"
#include "checkpoint/make_metadata.h"
#include "plan/batch_norm_check.h"
#include "plan/efficiency_picture.h"
#include "plan/machine_costs.h"
#include "plan/planner.h"
#include "run/described_data.h"
#include "run/largest_micro.h"
#include "run/memory_report.h"
#include "run/report.h"
#include "run/run_data.h"
#include "run/trainer.h"
#include "run/training_setup.h"
#include "step/step_trace.h"

namespace convoy {

namespace {

constexpr std::int64_t kDrawnColumns = 116;

char letter_of(Op op) {
  if (op == Op::kForward) return 'F';
  if (op == Op::kBackwardWeight) return 'W';
  return is_backward(op) ? 'B' : '\0';
}

bool splits_backward(const Schedule& schedule) {
  return std::ranges::any_of(schedule.front(), [](const Instruction& i) { return i.op == Op::kBackwardWeight; });
}

// Draws the schedule. Each column is as long as the forward pass of one chunk. A backward pass takes two columns; if it
// is split, each part takes one.
std::string draw(const Schedule& schedule) {
  const PipelineCosts costs{.chunks = std::vector<ChunkCost>(
                                schedule.size() * static_cast<std::size_t>(num_chunks(schedule.front())),
                                {.forward_seconds = 1, .backward_input_seconds = 1, .backward_weight_seconds = 1})};
  const Simulation simulation = simulate(schedule, costs);
  std::string text = fmt::format(
      "schedule, if all stages took equally long and messages no time: bubble {:.1f} %\n"
      "  F forward, B backward{}, . idle; a row is a stage, a column the time of one forward\n",
      100 * simulation.bubble,
      splits_backward(schedule) ? " with respect to the input, W backward with respect to the weights" : "");
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
constexpr std::int64_t kMostSamples = 1 << 24;  // in a step, if it is not known how many there are

using Machines = std::map<std::int64_t, MachineCosts>;  // key: samples per micro-batch

// Keeps the costs in a file, on rank 0. A failure is not a reason not to plan: the costs are then measured again next
// time.
void try_to_keep(const RunParams& run, const MachineCosts& costs) {
  try {
    io::make_directory(run.directory);
    keep_costs(costs_path(run), costs);
  } catch (const Error& error) {
    log_warning(fmt::format("the measured costs cannot be saved: {}", error.what()));
  }
}

// Returns the samples per step for a layout on that many ranks, as the tables of plan.ranks assume it.
std::int64_t batch_on(const Parameters& params, std::int64_t ranks) {
  return params.plan.samples_per_rank > 0 ? params.plan.samples_per_rank * ranks : params.batch.global;
}

bool wants_largest_micro(const Parameters& params) {
  return params.plan.micro == std::vector{kLargestThatFits};
}

std::vector<std::int64_t> micro_batches_to_try(const Parameters& params) {
  const bool are_given = !params.plan.ranks.empty() && !params.plan.micro.empty();
  return are_given ? params.plan.micro : std::vector{params.batch.micro};
}

DescribedData planned_data(const Parameters& params, const mpi::Communicator& world) {
  if (describes_data(params)) return described_data(params, &world);
  try {
    const io::Dataset data = open_training_set(params);
    check_sample_path(params, data, model_metadata(params, data.info(), &world));
    return {.info = data.info(), .note = {}};
  } catch (const RequestError& error) {
    refuse(
        "{}{} To plan without a data set: leave out data.train, or give --plan.samples=60000 --plan.classes=10 "
        "--plan.image_size=28,28,1, or in place of the size --plan.values=32 for arrays, --plan.vocabulary=20000 for "
        "texts.",
        error.what(), std::string_view(error.what()).ends_with('.') ? "" : ".");
  }
}

// Finds the costs of the machine for each micro-batch size that is to be tried.
Machines find_machines(const Parameters& params, const io::ModelMetadata& metadata, const mpi::Communicator& world,
                       ops::Backend* backend) {
  Machines machines;
  for (const std::int64_t micro : micro_batches_to_try(params)) {
    for (const std::int64_t ranks : params.plan.ranks)
      if (const std::int64_t batch = batch_on(params, ranks); batch % micro != 0)
        refuse("{} = {} does not divide {} = {}.", params.plan.micro.empty() ? "batch.micro" : "plan.micro", micro,
               params.plan.samples_per_rank > 0 ? "plan.samples_per_rank times the ranks" : "batch.global", batch);
    NetworkSpec network = runtime_spec(params, metadata).network;
    network.micro_batch = micro;
    MachineCosts& costs = machines[micro];
    if (backend == nullptr) {
      costs = model_machine_costs(make_network(network), processor_rates(params.plan));
    } else {
      costs = find_machine_costs(calibration_spec(network, params.run, world, *backend), world, *backend);
      mpi::on_root(world, [&] { try_to_keep(params.run, costs); });
    }
    describe_cluster(params.plan, costs);
  }
  return machines;
}

// "3 us + 12 GB/s"; one such text per level of the network if they differ.
std::string describe_messages(const MachineRates& rates) {
  std::string text = describe(rates.on_node);
  if (rates.on_node != rates.between_nodes)
    text += fmt::format(" on a node, {} between nodes", describe(rates.between_nodes));
  if (rates.node_bytes_per_second > 0)
    text += fmt::format(", {} GB/s from a node in all", plain_number(1e-9 * rates.node_bytes_per_second, 3));
  return text;
}

std::string compare(const Parameters& params, const io::ModelMetadata& metadata, std::int64_t num_samples,
                    const Machines& machines) {
  const MachineCosts& machine = machines.begin()->second;
  std::string text =
      fmt::format("layouts: cells {}; messages {}; memory {} GB/s per rank{}\n",
                  machine.is_measured() ? "measured" : "from a model", describe_messages(machine.rates),
                  plain_number(1e-9 * machine.rates.memory_bytes_per_second, 3), describe_sharing(machine.node));
  std::vector<LayoutComparison> comparisons;
  for (const std::int64_t ranks : params.plan.ranks) {
    RuntimeSpec runtime = runtime_spec(params, metadata);
    runtime.batch.global = batch_on(params, ranks);
    comparisons.push_back(compare_layouts({.runtime = runtime,
                                           .ranks = ranks,
                                           .machines = machines,
                                           .chunks = params.schedule.chunks,
                                           .recomputes = {RecomputeKind::kNone, RecomputeKind::kCell},
                                           .conditions = step_conditions(params, num_samples / runtime.batch.global)}));
    text += describe(comparisons.back(), kShownLayouts);
  }
  if (!params.plan.draw_efficiency.empty())
    io::write_text_atomically(params.plan.draw_efficiency, draw_efficiency(comparisons));
  return text;
}

// Returns the grid to plan. A process that was started alone plans one replica: a login node does not have the job's
// ranks.
GridShape asked_for(const Parameters& params, const mpi::Communicator& world) {
  if (!params.plan.ranks.empty()) return requested_grid(params, params.plan.ranks.front());
  const std::int64_t stages = std::max<std::int64_t>(1, params.grid.stages);
  return requested_grid(params, world.size() > 1 ? world.size() : stages);
}

// Gives the parameters and the runtime the largest micro-batch that fits, and returns a line about it.
std::string take_largest_micro(const mpi::Communicator& world, ops::Backend& backend, std::int64_t num_samples,
                               Parameters& params, RuntimeSpec& runtime) {
  const LargestMicro largest =
      find_largest_micro(params, runtime, asked_for(params, world), num_samples, CheckpointUse::kSaves, backend, world);
  runtime = largest.spec;
  params.batch = runtime.batch;
  const std::int64_t num = runtime.batch.global / runtime.batch.micro;
  return fmt::format("plan.micro = max: batch.micro = {} and batch.global = {} ({}). No more is possible: {}\n",
                     runtime.batch.micro, runtime.batch.global,
                     num == 1 ? "one micro-batch" : fmt::format("{} micro-batches", num), largest.reason);
}

std::string describe_one(const Parameters& params, const StepPlan& plan, const io::DatasetInfo& data) {
  if (const std::string few = describe_few_values(plan.network(), plan.spec().network); !few.empty()) log_warning(few);
  if (!params.plan.draw.empty()) io::write_text_atomically(params.plan.draw, draw_plan(plan));
  return describe_work(params, plan.spec(), data) + describe_layout(plan, "planned, not started") +
         describe_memory(plan) + draw(plan.training_schedule(plan.busiest_replica()));
}

// Describes the layout that the parameters ask for, with the first micro-batch size that is possible. If a table is
// wanted, an impossible layout is not an error: the others can still be compared.
std::string describe_asked_for(const Parameters& given, const io::DatasetInfo& data, const RuntimeSpec& spec,
                               const Machines& machines, const mpi::Communicator& world) {
  std::string refusal;
  for (const std::int64_t micro : micro_batches_to_try(given)) {
    try {
      Parameters params = given;
      RuntimeSpec runtime = spec;
      params.batch.micro = runtime.batch.micro = runtime.network.micro_batch = micro;
      if (machines.contains(micro)) runtime.machine = machines.at(micro);
      if (data.num_samples > 0) count_steps(params, data);
      const GridShape grid = asked_for(params, world);
      choose_schedule(params, grid, runtime);
      return describe_one(params, StepPlan(runtime, grid), data);
    } catch (const RequestError& error) {
      if (given.plan.ranks.empty() || !given.plan.draw.empty()) throw;
      if (refusal.empty()) refusal = error.what();
    }
  }
  const bool tries_several = !given.plan.micro.empty();
  return fmt::format(
      "the layout of the parameters is not possible{}: {}\n",
      tries_several ? fmt::format(" with any of plan.micro = {}", fmt::join(given.plan.micro, ", ")) : "", refusal);
}

}  // namespace

std::string describe_plan(const Parameters& given, const mpi::Communicator& world, ops::Backend* backend) {
  Parameters params = given;
  if (!params.plan.ranks.empty()) params.batch.global = batch_on(given, given.plan.ranks.front());
  const DescribedData planned = planned_data(params, world);
  const io::DatasetInfo& data = planned.info;
  const io::ModelMetadata metadata = described_metadata(params, planned, &world);
  RuntimeSpec runtime = runtime_spec(params, metadata);
  runtime.output_weights = output_weights(params, data);
  if (backend != nullptr) runtime.on_gpu = !backend->device().is_host();
  std::string text;
  if (wants_largest_micro(params)) {
    const std::int64_t num_samples = data.num_samples > 0 ? data.num_samples : kMostSamples;
    text = take_largest_micro(world, *backend, num_samples, params, runtime);
  }
  Machines machines;
  if (params.plan.ranks.empty() && !params.plan.draw_efficiency.empty())
    refuse("plan.draw_efficiency is a picture of the numbers in plan.ranks, and there are none.");
  if (!params.plan.ranks.empty()) machines = find_machines(params, metadata, world, backend);
  mpi::on_root(world, [&] {
    if (params.plan.samples > 0 && !params.data.train.empty())
      text += fmt::format("data: as the keys of [plan] say; data.train = {} is not opened\n", params.data.train);
    text += planned.note;
    text += describe_asked_for(params, data, runtime, machines, world);
    if (!machines.empty()) text += compare(params, metadata, data.num_samples, machines);
  });
  return text;
}

}  // namespace convoy
