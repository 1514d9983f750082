/// Writes the steps of a run for a trace viewer: ui.perfetto.dev, chrome://tracing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

namespace convoy::io {

struct TraceSpec {
  const Timeline& timeline;
  const std::vector<std::vector<IdleSlice>>& idle;  ///< idle slices of each rank of `timeline`
  std::int64_t first_step = 1;                      ///< number of the timeline's first step, counted in the run from 1
  /// The names of the cells that an instruction of a rank works on: "layer1.0 .. layer2.1".
  std::function<std::string(std::size_t rank, const Instruction&)> cells;
  double clock_error_seconds = 0;  ///< maximal error of the difference between the clocks of two ranks, in seconds
};

/// Returns JSON in the Trace Event Format, with times in microseconds from the first begin of an instruction. A process
/// of the trace is a replica, a thread is a rank. The slices of a rank are nested: steps contain their instructions,
/// and these contain their waits ("idle", with their cause). A flow arrow leads from each send to its receive.
std::string encode_trace(const TraceSpec& spec);

}  // namespace convoy::io
