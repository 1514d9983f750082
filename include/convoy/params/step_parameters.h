/// The sections that describe a training step, and its distribution over the ranks: batch, grid, schedule and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy {

struct BatchParams {
  std::int64_t global = 128;  ///< number of samples per step, over all replicas
  std::int64_t micro = 32;    ///< number of samples per micro-batch, over which batch norm averages
  bool operator==(const BatchParams&) const = default;
};

struct GridParams {
  std::int64_t stages = 1;         ///< number of stages, which divides the number of ranks; 0: auto
  std::vector<std::int64_t> cuts;  ///< number of the first cell of each stage after the first; empty: auto
  bool operator==(const GridParams&) const = default;
};

struct ScheduleParams {
  std::optional<ScheduleKind> kind;  ///< the kind of schedule; nothing: auto
  std::int64_t chunks = 2;           ///< number of runs of cells per stage in the interleaved schedule
  bool operator==(const ScheduleParams&) const = default;
};

struct MemoryParams {
  RecomputeKind recompute = RecomputeKind::kNone;  ///< which cells' activations the backward computes again
  double limit_gib = 0;                            ///< memory that the plan may use per rank, in GiB; 0: no limit
  bool operator==(const MemoryParams&) const = default;
};

}  // namespace convoy
