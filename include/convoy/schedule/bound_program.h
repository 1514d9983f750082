/// A stage's instruction list with its memory: which frame a micro-batch lives in, which buffer a gradient uses, and
/// how early each receive can be posted. Computed once; the executor and the simulator both follow it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/schedule/instruction.h"

namespace convoy {

/// Gradients arrive in and leave from two buffers in turn: one in use, one on its way. Each chunk has its own.
inline constexpr std::int64_t kGradientBuffers = 2;

/// A receive that may start before an action, because what its buffer held is no longer needed.
struct EarlyReceive {
  Op op = Op::kRecvActivation;
  std::int64_t micro_batch = 0;
  std::int64_t buffer = 0;  ///< frame (activations) or gradient buffer, of the chunk
  std::int64_t chunk = 0;
};

/// Frames and gradient buffers belong to the instruction's chunk and are numbered within it.
struct Action {
  Instruction instruction;
  std::int64_t frame = -1;         ///< of the micro-batch
  std::int64_t gradient_in = -1;   ///< RecvGradient, Backward, BackwardInput
  std::int64_t gradient_out = -1;  ///< Backward, BackwardInput, SendGradient
  bool first_piece = false;        ///< Backward, BackwardInput: the first piece of this micro-batch
  std::int64_t receives_begin = 0, receives_end = 0;
};

struct BoundProgram {
  std::vector<Action> actions;
  std::vector<EarlyReceive> receives;
  std::vector<std::int64_t> num_frames;  ///< by chunk
  std::int64_t num_micro_batches = 0;

  /// What to start before that action.
  std::span<const EarlyReceive> receives_before(const Action& action) const {
    return std::span(receives).subspan(action.receives_begin, action.receives_end - action.receives_begin);
  }
};

/// A frame is free after its micro-batch's Backward or, where the two are apart, BackwardWeight; in evaluation after
/// its Loss or SendActivation. Frames are reused in the order in which they became free, so that a frame's last send
/// has long left when its next micro-batch comes; at least `min_frames` of them per chunk.
/// A gradient's buffer is free after Backward or BackwardInput. BackwardWeight uses only the frame.
/// Throws Error where a list receives a third gradient before the first is used: it would wait for itself.
BoundProgram bind_program(const StageProgram& program, std::int64_t min_frames = 1);

}  // namespace convoy
