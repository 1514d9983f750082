/// A stage in simulated time: where it is in its list, what it waits for, and where its time went.
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

/// When a bucket's exchanges between replicas are complete.
struct SimulatedExchange {
  double reduced = kUnknown, gathered = kUnknown;
};

/// A chunk of a stage on its way through the list.
struct SimulatedChunk {
  const ChunkCost* cost = nullptr;
  std::vector<SimulatedExchange> exchanges;                    ///< by bucket
  std::vector<std::int64_t> sent_from_frame;                   ///< the last activation; -1: none
  std::int64_t sent_from_buffer[kGradientBuffers] = {-1, -1};  ///< the last gradient
};

/// What an instruction waits for. Before `ready_seconds` the wait is a bubble, after it communication.
struct Wait {
  double until_seconds = 0;
  double ready_seconds = 0;
};

/// The message for which a stage waits, not knowing yet how long; null where it waits for none.
struct AwaitedMessage {
  const Channel* channel = nullptr;
  std::int64_t message = 0;
};

struct SimulatedStage {
  /// At its first instruction. `costs` are those of all stages, of which this is number `s`.
  SimulatedStage(const BoundProgram& program_in, WorkSeconds work_in, const PipelineCosts& costs, std::size_t s,
                 std::size_t num_stages);

  bool done() const { return position == program->actions.size(); }
  const Action& next() const { return program->actions[position]; }

  void begin(double now);
  /// That time of the channel's k-th message, or kUnknown, which makes the message what is awaited.
  Wait wait_for(const Channel& channel, std::int64_t k, double SimulatedMessage::*time);
  /// The wait is over. Returns how long its own work takes.
  double start_work(const Wait& wait, double now);
  void finish(double now);

  /// When this exchange is complete: replicas take one exchange of a stage after the other.
  double exchange(double now, double seconds);
  /// What it waits for, where it is stuck: its next instruction is one that waits.
  std::string awaited_text() const;

  const BoundProgram* program;
  WorkSeconds work;
  std::vector<SimulatedChunk> chunks;
  std::optional<std::size_t> shared;  ///< the cores that it shares
  std::size_t position = 0;           ///< of the next instruction in the list
  bool has_begun = false;             ///< that instruction
  bool is_working = false;            ///< its own work, after all waiting
  double begin_seconds = 0;           ///< of the instruction
  double ready_seconds = 0;           ///< its work began
  AwaitedMessage awaited;
  double end_seconds = 0;  ///< of the last instruction that is done
  std::size_t num_agreed = 0;
  double exchange_free_seconds = 0;  ///< the exchanges that were started are complete
  StageTimes times;
};

}  // namespace convoy::schedule
