/// A planned step as text: its stages, and its schedule in equal units of time.
#include <algorithm>
#include <cmath>

#include "convoy/io/checkpoint.h"
#include "convoy/schedule/simulator.h"
#include "convoy/train/trainer.h"

#include "train/memory_report.h"
#include "train/model_card.h"
#include "train/report.h"
#include "train/step_trace.h"

namespace convoy {

namespace {

constexpr std::int64_t kDrawnColumns = 116;

char letter_of(Op op) {
  if (op == Op::kForward) return 'F';
  if (op == Op::kBackwardWeight) return 'W';
  return is_backward(op) ? 'B' : '\0';
}

// F forward, B backward (twice as long; where it is apart, B by input and W by weight), . idle; a column is a forward
// of one chunk.
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

}  // namespace

std::string describe_plan(const Parameters& params, std::int64_t ranks) {
  const io::Dataset data(params.data.train, "data.train");
  const StepPlan plan(engine_spec(params, model_card(params, data.info())), grid_shape(params.grid.stages, ranks));
  if (!params.plan.draw.empty()) {
    const std::string picture = draw_plan(plan);
    io::write_file_atomically(params.plan.draw, std::as_bytes(std::span(picture)));
  }
  return describe_run(params, plan, data.info(), "planned, not started") + describe_memory(plan) +
         draw(plan.training_schedule(plan.busiest_replica()));
}

}  // namespace convoy
