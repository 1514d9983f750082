/// The state of a stage in a simulated step: its position in its instruction list, the message for which it waits, and
/// how it has spent its time. All times are in seconds since the step began.
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

/// The times at which the exchanges of a bucket between replicas are complete: the reduction of its gradients, and the
/// gathering of its updated parameters.
struct SimulatedExchange {
  double reduced = kUnknown, gathered = kUnknown;
};

/// The state of one chunk of a stage.
struct SimulatedChunk {
  const ChunkCost* cost = nullptr;
  std::vector<SimulatedExchange> exchanges;   ///< one for each bucket
  std::vector<std::int64_t> sent_from_frame;  ///< for each frame, the last message with an activation from it; -1: none
  /// For each gradient buffer, the last message with a gradient from it; -1: none.
  std::int64_t sent_from_buffer[kGradientBuffers] = {-1, -1};
};

/// The wait of an instruction for a message. The time before `ready_seconds` counts as bubble, the time after it as
/// communication.
struct Wait {
  double until_seconds = 0;  ///< when the wait ends; kUnknown: not known yet
  double ready_seconds = 0;  ///< when the message could start (SimulatedMessage::ready)
};

/// The message for which a stage waits, if the end of the wait is not known yet.
struct AwaitedMessage {
  const Channel* channel = nullptr;  ///< null: the stage waits for no message
  std::int64_t message = 0;
};

/// The state of a stage in a simulated step.
struct SimulatedStage {
  /// Makes stage number `s` of `num_stages`, before its first instruction. `costs` are those of all stages. program_in
  /// and costs must outlive the object.
  SimulatedStage(const BoundProgram& program_in, WorkSeconds work_in, const PipelineCosts& costs, std::size_t s,
                 std::size_t num_stages);

  bool done() const { return position == program->actions.size(); }
  const Action& next() const { return program->actions[position]; }

  /// Begins the next instruction, which may have to wait before it works.
  void begin(double now);
  /// Returns the wait for the member `time` (left or arrived) of the channel's message k. If it is kUnknown, it also
  /// sets `awaited` to this message.
  Wait wait_for(const Channel& channel, std::int64_t k, double SimulatedMessage::*time);
  /// Ends the wait and begins the instruction's own work. Returns how long the work takes, in seconds.
  double start_work(const Wait& wait, double now);
  /// Ends the instruction.
  void finish(double now);

  /// Starts an exchange between replicas that takes `seconds`. Returns the time at which it is complete. The exchanges
  /// of a stage run one after the other.
  double exchange(double now, double seconds);
  /// Returns a text for an error message: for what the stage waits, if it cannot execute its next instruction.
  std::string awaited_text() const;

  const BoundProgram* program;
  WorkSeconds work;
  std::vector<SimulatedChunk> chunks;
  std::optional<std::size_t> shared;  ///< index in PipelineCosts::shared; nothing: it shares its cores with no stage
  std::size_t position = 0;           ///< index of the next instruction in the list
  bool has_begun = false;             ///< whether the next instruction has begun
  bool is_working = false;            ///< whether the next instruction has ended its wait and works
  double begin_seconds = 0;           ///< when the next instruction began
  double ready_seconds = 0;           ///< when the next instruction ended its wait and began to work
  AwaitedMessage awaited;
  double end_seconds = 0;  ///< when the last instruction ended
  std::size_t num_agreed = 0;
  double exchange_free_seconds = 0;  ///< when all exchanges that were started are complete
  StageTimes times;
};

}  // namespace convoy::schedule
