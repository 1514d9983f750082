/// The sections that describe a training step, and its distribution over the ranks: batch, grid, schedule and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy {

struct BatchParams {
  std::int64_t global = 128;  ///< samples per step, over all replicas
  std::int64_t micro = 32;    ///< samples per micro-batch, over which batch norm averages
  bool operator==(const BatchParams&) const = default;
};

struct GridParams {
  std::int64_t stages = 1;         ///< replicas = world size / stages; 0: auto
  std::vector<std::int64_t> cuts;  ///< first cell of each stage but the first; empty: auto
  bool operator==(const GridParams&) const = default;
};

struct ScheduleParams {
  std::optional<ScheduleKind> kind;  ///< nothing: auto
  std::int64_t chunks = 2;           ///< interleaved: number of runs of cells per stage
  bool operator==(const ScheduleParams&) const = default;
};

struct MemoryParams {
  RecomputeKind recompute = RecomputeKind::kNone;  ///< the cells whose activations backward recomputes
  double limit_gib = 0;                            ///< memory that the plan may use per rank; 0: no known limit
  bool operator==(const MemoryParams&) const = default;
};

}  // namespace convoy
