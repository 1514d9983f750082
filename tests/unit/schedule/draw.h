/// Draws a schedule as in the picture of its comment, and makes pipelines to test schedules on.
#pragma once

#include <random>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/schedule/simulator.h"

namespace convoy::testing {

/// Returns a line per stage and a column per unit of time. Forward and each backward take one unit, transfers none:
///   "F0 F1 .  B0 .  B1"
/// F forward, B backward or data gradient, W weight gradient; small letters in chunk 1.
std::string draw(const Schedule& schedule, std::int64_t chunks = 1);

struct PipelineSize {
  std::int64_t stages = 1, micro_batches = 1;
  std::int64_t num_buckets = 1;  ///< of each virtual stage
  std::int64_t chunks = 1;
};
PipelineSpec pipeline(const PipelineSize& size);

/// Calls check(size) for stages 1-8 and micro-batches 1-32, with 1 or 3 buckets, until a check fails.
template <typename Check>
void for_each_size(std::int64_t chunks, const Check& check) {
  for (std::int64_t p = 1; p <= 8; ++p) {
    for (std::int64_t m = 1; m <= 32; ++m) {
      SCOPED_TRACE(fmt::format("{} stages, {} micro-batches, {} chunks", p, m, chunks));
      check(PipelineSize{.stages = p, .micro_batches = m, .num_buckets = m % 2 == 0 ? 1 : 3, .chunks = chunks});
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Returns costs that are the same in every virtual stage.
PipelineCosts equal_costs(const Schedule& schedule, const ChunkCost& cost, std::int64_t chunks = 1);

/// Returns costs that differ from virtual stage to virtual stage, with transfers that take up to as long as the
/// computing. They are whole numbers, so their sums are exact.
PipelineCosts uneven_costs(std::int64_t virtual_stages, std::mt19937& engine);

/// Returns the largest number of micro-batches whose saved activations a stage holds at once. A micro-batch that is in
/// two chunks counts twice.
std::int64_t max_in_flight_of_all(const StageProgram& program);

/// Returns whether a chunk of a stage is the first virtual stage.
inline bool is_first(std::int64_t stage, std::int64_t chunk) {
  return stage == 0 && chunk == 0;
}
/// Returns whether a chunk of a stage is the last virtual stage.
inline bool is_last(const PipelineSpec& spec, std::int64_t stage, std::int64_t chunk) {
  return stage == spec.stages - 1 && chunk == spec.chunks - 1;
}

}  // namespace convoy::testing
