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
  const std::vector<std::vector<IdleSlice>>& idle;  ///< of it
  std::int64_t first_step = 1;                      ///< the number of the first one in the run
  /// What an instruction of a rank works on: "layer1.0 .. layer2.1".
  std::function<std::string(std::size_t rank, const Instruction&)> cells;
  double clock_error_seconds = 0;  ///< by how much times of two ranks may disagree
};

/// JSON in the Trace Event Format, times in microseconds from the first begin. A process is a replica, a thread a rank.
/// Slices of a rank lie in each other: steps, their instructions, and in those the waits ("idle", with their cause). A
/// flow leads from each send to its receive.
std::string encode_trace(const TraceSpec& spec);

}  // namespace convoy::io
