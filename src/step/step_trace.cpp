/// From a timer on each rank to one timeline on rank 0, and from there to files.
#include "step/step_trace.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/trace.h"
#include "convoy/schedule/drawing.h"

namespace convoy {

namespace {

constexpr std::int64_t kStepsBeforeTrace = 3;

std::vector<Schedule> schedules_of(const StepPlan& plan) {
  std::vector<Schedule> replicas;
  for (std::int64_t r = 0; r < plan.grid().replicas; ++r) replicas.push_back(plan.training_schedule(r));
  return replicas;
}

/// Milliseconds, or what is nearer.
std::string shown_seconds(double seconds) {
  if (seconds >= 1) return plain_number(seconds, 3) + " s";
  if (seconds >= 1e-3) return plain_number(seconds * 1e3, 3) + " ms";
  return plain_number(seconds * 1e6, 3) + " us";
}

/// "430 ms" if all ranks begin and end together; else also how long the picture is.
std::string shown_length(const Timeline& step) {
  std::string rank = shown_seconds(step_seconds(step, 0));
  const std::string all = shown_seconds(extent_of(step).seconds);
  if (rank == all) return rank;
  return fmt::format("{} on the slowest rank, {} from the first begin to the last end", rank, all);
}

std::string shown(const TimeShares& shares) {
  return fmt::format("busy {:.1f} %; idle: bubble {:.1f} %, straggler {:.1f} %, communication {:.1f} %, data {:.1f} %",
                     100 * shares.busy, 100 * shares.bubble, 100 * shares.straggler, 100 * shares.communication,
                     100 * shares.data);
}

std::string cells_of(const StepPlan& plan, std::size_t stage, const Instruction& instruction) {
  const StagePlan& own = plan.stages()[stage];
  if (instruction.op == Op::kAgreeOnUpdate) return cell_names(plan.network(), own.layout.cells());
  return cell_names(plan.network(), {own.piece_of(instruction.chunk, instruction.bucket).cells});
}

std::string draw_steps(const Timeline& measured, const Timeline& planned, std::int64_t first_step) {
  const std::int64_t step = median_step(measured);
  Panel plan{
      .title = "planned: " + shown_length(planned), .note = "", .step = planned, .idle = divide_idle(planned, planned)};
  plan.note = fmt::format("every instruction takes its mean time, messages take no time; bubble {:.1f} %",
                          100 * shares_of(planned, plan.idle).bubble);
  Panel run{.title = "", .note = "", .step = step_of(measured, step), .idle = {}};
  run.title = fmt::format("measured: step {}: {}", first_step + step, shown_length(run.step));
  run.idle = divide_idle(run.step, planned);
  run.note = shown(shares_of(run.step, run.idle));
  return draw({plan, run});
}

}  // namespace

TraceWindow trace_window(std::int64_t wanted, std::int64_t steps_left) {
  TraceWindow window{.first = std::clamp<std::int64_t>(steps_left - wanted, 1, kStepsBeforeTrace)};
  window.num = std::clamp<std::int64_t>(steps_left - window.first, 0, wanted);
  return window;
}

void StepStudy::start(std::int64_t step) {
  first_step_ = step;
  timer_ = std::make_unique<InstructionTimer>(runtime_.device(), std::ssize(training_.program()), window_.num);
  training_.tell(*timer_);
}

void StepStudy::stop() {
  if (timer_ != nullptr) training_.stop_telling(*timer_);
}

// Asking for the time keeps ranks waiting for each other, so it is done a step earlier; and messages of the step before
// must not wait for a rank that asks.
void StepTrace::begin_step(std::int64_t step) {
  if (num_made_ == window_.first - 1) {
    runtime_.finish();
    clock_before_ = read_root_clock(runtime_.grid().world());
  }
  if (num_made_ == window_.first) start(step);
}

// Times of all ranks on rank 0's clock; elsewhere nothing.
Timeline StepTrace::gather(const RootClock& clock) {
  const ProcessGrid& grid = runtime_.grid();
  std::vector<InstructionTimes> mine = timer_->read();
  for (InstructionTimes& times : mine)
    times = {.begin = clock.at(times.begin), .ready = clock.at(times.ready), .end = clock.at(times.end)};
  const std::vector<InstructionTimes> all = mpi::gather_values(grid.world(), mine);
  Timeline timeline{.num_stages = grid.num_stages(), .num_steps = timer_->num_steps(), .ranks = {}};
  if (!grid.is_root()) return timeline;
  auto times = all.begin();
  for (const Schedule& replica : schedules_of(runtime_.plan())) {
    for (const StageProgram& program : replica) {
      auto& rank = timeline.ranks.emplace_back();
      for (std::int64_t step = 0; step < timeline.num_steps; ++step)
        for (const Instruction& instruction : program) {
          rank.push_back({.instruction = instruction,
                          .begin_seconds = times->begin,
                          .ready_seconds = times->ready,
                          .end_seconds = times->end});
          ++times;
        }
    }
  }
  return timeline;
}

std::optional<Timeline> StepTrace::end() {
  stop();
  const ProcessGrid& grid = runtime_.grid();
  if (timer_ == nullptr || timer_->num_steps() == 0) return std::nullopt;
  runtime_.finish();
  const RootClock clock(clock_before_, read_root_clock(grid.world()));
  Timeline measured = gather(clock);
  // Two ranks differ from each other by what both differ from rank 0.
  clock_error_seconds_ = 1e-9 * static_cast<double>(grid.world().max(std::llround(2e9 * clock.error_seconds())));
  return grid.is_root() ? std::optional(std::move(measured)) : std::nullopt;
}

std::string StepTrace::write(const std::string& directory) {
  const std::optional<Timeline> traced = end();
  if (!runtime_.grid().is_root()) return "";
  if (!traced) return "run.trace: this run ended before a step that could be traced";
  const StepPlan& plan = runtime_.plan();
  const Timeline& measured = *traced;
  const Timeline planned = planned_step(schedules_of(plan), mean_work(measured));
  const auto idle = divide_idle(measured, planned);
  try {
    io::write_text_atomically(directory + "/trace.json",
                              io::encode_trace({.timeline = measured,
                                                .idle = idle,
                                                .first_step = first_step_,
                                                .cells =
                                                    [&](std::size_t rank, const Instruction& instruction) {
                                                      return cells_of(plan, measured.stage_of(rank), instruction);
                                                    },
                                                .clock_error_seconds = clock_error_seconds_}));
    io::write_text_atomically(directory + "/trace.svg", draw_steps(measured, planned, first_step_));
  } catch (const Error& error) {
    log_warning(fmt::format("run.trace: {}; the training continues", error.what()));
  }
  return fmt::format("trace of {}: {}", counted_range(first_step_, first_step_ + measured.num_steps - 1, "step"),
                     shown(shares_of(measured, idle)));
}

TimeShares shares_of(const StepPlan& plan, const Timeline& measured) {
  return shares_of(measured, divide_idle(measured, planned_step(schedules_of(plan), mean_work(measured))));
}

std::string draw_plan(const StepPlan& plan) {
  Panel panel{
      .title = "", .note = "", .step = {.num_stages = plan.grid().stages, .num_steps = 1, .ranks = {}}, .idle = {}};
  for (const Schedule& replica : schedules_of(plan)) {
    Simulation simulation = simulate(replica, plan.costs(), {.zero_buffering = true});
    std::ranges::move(simulation.spans, std::back_inserter(panel.step.ranks));
  }
  panel.idle = divide_idle(panel.step, panel.step);
  const auto& machine = plan.spec().machine;
  panel.title = fmt::format("planned step of {}: {}", plan.spec().network.name, shown_length(panel.step));
  panel.note = fmt::format("bubble {:.1f} %; times of cells {}", 100 * shares_of(panel.step, panel.idle).bubble,
                           machine && machine->is_measured() ? "measured" : "from a model");
  return draw({panel});
}

}  // namespace convoy
