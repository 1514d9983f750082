/// See draw.h.
#include "unit/schedule/draw.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

namespace convoy::testing {

namespace {

char letter_of(Op op) {
  if (op == Op::kForward) return 'F';
  if (op == Op::kBackward || op == Op::kBackwardInput) return 'B';
  return op == Op::kBackwardWeight ? 'W' : '\0';
}

std::string row(const std::vector<Span>& spans, std::size_t num_columns) {
  std::vector<std::string> cells(num_columns, ".");
  for (const Span& span : spans) {
    const Instruction& i = span.instruction;
    const char letter = letter_of(i.op);
    if (letter == '\0') continue;
    const auto column = static_cast<std::size_t>(std::lround(span.ready_seconds));
    cells[column] = fmt::format("{}{}", i.chunk == 0 ? letter : static_cast<char>(std::tolower(letter)), i.micro_batch);
  }
  std::string text;
  for (const std::string& cell : cells) text += fmt::format("{:<3}", cell);
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string draw(const Schedule& schedule, std::int64_t chunks) {
  const ChunkCost unit{
      .forward_seconds = 1, .backward_input_seconds = 1, .backward_weight_seconds = 1, .backward_seconds = 1};
  const Simulation simulation = simulate(schedule, equal_costs(schedule, unit, chunks));
  std::string picture;
  for (const auto& spans : simulation.spans) {
    picture += row(spans, static_cast<std::size_t>(std::lround(simulation.step_seconds)));
  }
  return picture;
}

PipelineSpec pipeline(const PipelineSize& size) {
  return {
      .stages = size.stages,
      .micro_batches = size.micro_batches,
      .chunks = size.chunks,
      .num_buckets = std::vector<std::int64_t>(static_cast<std::size_t>(size.stages * size.chunks), size.num_buckets)};
}

std::int64_t max_in_flight_of_all(const StageProgram& program) {
  std::vector<std::int64_t> change(program.size() + 1, 0);
  for (const FrameUse& use : frame_uses(program)) {
    ++change[use.taken_at];
    --change[use.released_at + 1];
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return *std::max_element(change.begin(), change.end());
}

PipelineCosts equal_costs(const Schedule& schedule, const ChunkCost& cost, std::int64_t chunks) {
  return {.chunks = std::vector<ChunkCost>(schedule.size() * static_cast<std::size_t>(chunks), cost)};
}

PipelineCosts uneven_costs(std::int64_t virtual_stages, std::mt19937& engine) {
  std::uniform_int_distribution<std::int64_t> seconds(0, 20);
  const auto draw_seconds = [&] { return static_cast<double>(seconds(engine)); };
  PipelineCosts costs;
  for (std::int64_t x = 0; x < virtual_stages; ++x) {
    costs.chunks.push_back(
        {.load_seconds = draw_seconds() / 4,
         .forward_seconds = draw_seconds(),
         .loss_seconds = draw_seconds() / 4,
         .backward_input_seconds = draw_seconds(),
         .backward_weight_seconds = draw_seconds(),
         .to_next = {.latency_seconds = draw_seconds() / 4, .size_bytes = seconds(engine), .bytes_per_second = 1}});
  }
  return costs;
}

}  // namespace convoy::testing
