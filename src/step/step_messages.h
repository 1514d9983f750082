/// The messages of activations and their gradients between the chunks of a stage and the virtual stages before and
/// after them.
#pragma once

#include <vector>

#include "convoy/comm/transport.h"
#include "convoy/schedule/bound_program.h"

#include "step/rank_runtime.h"

namespace convoy {

/// The messages of a program on this rank. Each is found by the action that uses its buffer.
class StepMessages {
 public:
  /// Creates the messages, on all ranks of the grid; those of gradients if `has_gradients`.
  StepMessages(const RankRuntime& runtime, const BoundProgram& program, bool has_gradients);

  Message& activation_receive(const Action& action) const { return *of(action).activation_receives[action.frame]; }
  Message& activation_send(const Action& action) const { return *of(action).activation_sends[action.frame]; }
  Message& gradient_receive(const Action& action) const { return *of(action).gradient_receives[action.gradient_in]; }
  Message& gradient_send(const Action& action) const { return *of(action).gradient_sends[action.gradient_out]; }
  Message& receive(const EarlyReceive& receive) const;

  /// Calls visit(message) for each message that this rank sends.
  template <typename Visit>
  void for_each_send(Visit&& visit) const {
    for (const OfChunk& messages : chunks_)
      for (const Messages* sends : {&messages.activation_sends, &messages.gradient_sends})
        for (const auto& message : *sends) visit(*message);
  }

 private:
  /// The messages of a chunk. Empty if there is no such virtual stage.
  struct OfChunk {
    Messages activation_sends, activation_receives;  ///< by frame of the chunk
    Messages gradient_sends, gradient_receives;      ///< by gradient buffer of the chunk
  };

  const OfChunk& of(const Action& action) const { return chunks_[action.instruction.chunk]; }
  void create(const RankRuntime& runtime, std::int64_t chunk, std::int64_t num_frames, bool has_gradients);

  std::vector<OfChunk> chunks_;
};

}  // namespace convoy
