/// Helpers for tests of the simulator: simple costs, and the index of an instruction in a list.
#pragma once

#include <algorithm>

#include <gtest/gtest.h>

#include "convoy/schedule/simulator.h"

namespace convoy::testing {

inline constexpr SimulationOptions kZeroBuffering{.zero_buffering = true};

/// The costs of a chunk with forward 1 and backward 2, in units of 3: a third of a backward is a whole number, so that
/// all sums are exact.
inline const ChunkCost kUnit{.forward_seconds = 3, .backward_input_seconds = 3, .backward_weight_seconds = 3};

/// Returns the cost of a transfer that takes that long.
inline TransferCost transfer(std::int64_t seconds) {
  return {.size_bytes = seconds, .bytes_per_second = 1};
}

inline std::size_t index_of(const StageProgram& program, const Instruction& instruction) {
  const auto found = std::find(program.begin(), program.end(), instruction);
  EXPECT_NE(found, program.end());
  return static_cast<std::size_t>(found - program.begin());
}

}  // namespace convoy::testing
