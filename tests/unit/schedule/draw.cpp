/// See draw.h.
#include "unit/schedule/draw.h"

#include <cmath>

#include <fmt/format.h>

namespace convoy::testing {

namespace {

std::string row(const std::vector<Span>& spans, std::size_t num_columns) {
  std::vector<std::string> cells(num_columns, ".");
  for (const Span& span : spans) {
    const Op op = span.instruction.op;
    if (op != Op::kForward && op != Op::kBackward) continue;
    const auto column = static_cast<std::size_t>(std::lround(span.begin_seconds));
    cells[column] = fmt::format("{}{}", op == Op::kForward ? 'F' : 'B', span.instruction.micro_batch);
  }
  std::string text;
  for (const std::string& cell : cells) text += fmt::format("{:<3}", cell);
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string draw(const Schedule& schedule) {
  const Simulation simulation =
      simulate(schedule, equal_costs(schedule, {.forward_seconds = 1, .backward_seconds = 1}));
  std::string picture;
  for (const auto& spans : simulation.stages) {
    picture += row(spans, static_cast<std::size_t>(std::lround(simulation.step_seconds)));
  }
  return picture;
}

PipelineSpec pipeline(std::int64_t stages, std::int64_t micro_batches, std::int64_t num_buckets) {
  return {.stages = stages,
          .micro_batches = micro_batches,
          .num_buckets = std::vector<std::int64_t>(static_cast<std::size_t>(stages), num_buckets)};
}

std::vector<StageCost> equal_costs(const Schedule& schedule, const StageCost& cost) {
  return std::vector<StageCost>(schedule.size(), cost);
}

}  // namespace convoy::testing
