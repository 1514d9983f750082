/// A stage's instruction list with its memory: which frame a micro-batch lives in, which buffer a gradient uses, and
/// how early each receive can be posted. Worked out once; a step only follows it.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/schedule/instruction.h"

namespace convoy {

/// Gradients arrive in and leave from two buffers in turn: one in use, one on its way.
inline constexpr std::int64_t kGradientBuffers = 2;

/// A receive that may start before an action, because what its buffer held is no longer needed.
struct EarlyReceive {
  Op op = Op::kRecvActivation;
  std::int64_t micro_batch = 0;
  std::int64_t buffer = 0;  ///< frame (activations) or gradient buffer
};

struct Action {
  Instruction instruction;
  std::int64_t frame = -1;         ///< of the micro-batch
  std::int64_t gradient_in = -1;   ///< RecvGradient, Backward
  std::int64_t gradient_out = -1;  ///< Backward, SendGradient
  bool first_piece = false;        ///< Backward: the first piece of this micro-batch
  std::vector<EarlyReceive> receives_before;
};

struct BoundProgram {
  std::vector<Action> actions;
  std::int64_t num_frames = 0;
  std::int64_t num_micro_batches = 0;
};

/// Frames are reused in the order in which they became free, so that a frame's last send has long left when its next
/// micro-batch comes; at least `min_frames` of them.
BoundProgram bind_program(const StageProgram& program, std::int64_t min_frames = 1);

}  // namespace convoy
