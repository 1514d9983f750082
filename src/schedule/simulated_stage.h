/// A stage in simulated time: its position in its list, what it waits for, and how it has spent its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/schedule/bound_program.h"
#include "convoy/schedule/costs.h"
#include "convoy/schedule/simulator.h"

#include "schedule/simulated_network.h"

namespace convoy::schedule {

/// The times at which a bucket's exchanges between replicas are complete.
struct SimulatedExchange {
  double reduced = kUnknown, gathered = kUnknown;
};

/// The state of a stage's chunk.
struct SimulatedChunk {
  const ChunkCost* cost = nullptr;
  std::vector<SimulatedExchange> exchanges;                    ///< by bucket
  std::vector<std::int64_t> sent_from_frame;                   ///< message of the last activation; -1: none
  std::int64_t sent_from_buffer[kGradientBuffers] = {-1, -1};  ///< message of the last gradient; -1: none
};

/// The wait of an instruction. Before `ready_seconds` it is a bubble, after that communication.
struct Wait {
  double until_seconds = 0;
  double ready_seconds = 0;
};

/// The message for which a stage waits while its time is not known yet; null if it waits for none.
struct AwaitedMessage {
  const Channel* channel = nullptr;
  std::int64_t message = 0;
};

/// The state of a stage.
struct SimulatedStage {
  /// A stage at its first instruction. `costs` are those of all stages, of which this is number `s`.
  SimulatedStage(const BoundProgram& program_in, WorkSeconds work_in, const PipelineCosts& costs, std::size_t s,
                 std::size_t num_stages);

  bool done() const { return position == program->actions.size(); }
  const Action& next() const { return program->actions[position]; }

  void begin(double now);
  /// Returns the wait until that time of the channel's k-th message. If the time is kUnknown, the stage awaits the
  /// message.
  Wait wait_for(const Channel& channel, std::int64_t k, double SimulatedMessage::*time);
  /// Ends the wait and begins the instruction's own work. Returns how long that takes, in seconds.
  double start_work(const Wait& wait, double now);
  void finish(double now);

  /// Starts an exchange that takes `seconds`. Returns when it is complete: a stage's exchanges run one after the other.
  double exchange(double now, double seconds);
  /// Returns the text of what a stage waits for that is stuck at its next instruction.
  std::string awaited_text() const;

  const BoundProgram* program;
  WorkSeconds work;
  std::vector<SimulatedChunk> chunks;
  std::optional<std::size_t> shared;  ///< index of the cores that it shares; empty: it has its own
  std::size_t position = 0;           ///< index of the next instruction in the list
  bool has_begun = false;             ///< whether that instruction has begun
  bool is_working = false;            ///< whether its own work has begun, after all waiting
  double begin_seconds = 0;           ///< when the instruction began
  double ready_seconds = 0;           ///< when its own work began
  AwaitedMessage awaited;
  double end_seconds = 0;  ///< end of the last instruction that is done
  std::size_t num_agreed = 0;
  double exchange_free_seconds = 0;  ///< when all exchanges that were started are complete
  StageTimes times;
};

}  // namespace convoy::schedule
