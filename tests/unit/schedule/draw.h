/// A schedule as the picture in its comment, and pipelines to try schedules on.
#pragma once

#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/schedule/simulator.h"

namespace convoy::testing {

/// A line per stage, a column a unit of time: forward and each backward take one, transfers none.
///   "F0 F1 .  B0 .  B1"
/// F forward, B backward or data gradient, W weight gradient; small letters in chunk 1.
std::string draw(const Schedule& schedule, std::int64_t chunks = 1);

struct PipelineSize {
  std::int64_t stages = 1, micro_batches = 1;
  std::int64_t num_buckets = 1;  ///< of each virtual stage
  std::int64_t chunks = 1;
};
PipelineSpec pipeline(const PipelineSize& size);

/// check(size) for stages 1-8 and micro-batches 1-32, with 1 or 3 buckets, until one fails.
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

/// The same cost in every virtual stage.
PipelineCosts equal_costs(const Schedule& schedule, const ChunkCost& cost, std::int64_t chunks = 1);

/// Costs that differ from virtual stage to virtual stage, transfers up to as long as the computing: whole numbers,
/// whose sums are exact.
PipelineCosts uneven_costs(std::int64_t virtual_stages, std::mt19937& engine);

/// Most micro-batches whose saved activations a stage holds at once; one that is in two chunks counts twice.
std::int64_t max_in_flight_of_all(const StageProgram& program);

/// Whether a chunk of a stage is the first, or the last, virtual stage.
inline bool is_first(std::int64_t stage, std::int64_t chunk) {
  return stage == 0 && chunk == 0;
}
inline bool is_last(const PipelineSpec& spec, std::int64_t stage, std::int64_t chunk) {
  return stage == spec.stages - 1 && chunk == spec.chunks - 1;
}

}  // namespace convoy::testing
