/// A stage's instruction list with its memory: the frame of each micro-batch, the buffer of each gradient, and the
/// earliest moment at which each receive can be posted. It is computed once; executor and simulator both follow it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/schedule/instruction.h"

namespace convoy {

/// The number of buffers that each chunk has for arriving gradients, and again for leaving ones. They are used in turn:
/// one is in use while the other is on its way.
inline constexpr std::int64_t kGradientBuffers = 2;

/// A receive that may be posted before an action, because the content of its buffer is no longer needed.
struct EarlyReceive {
  Op op = Op::kRecvActivation;
  std::int64_t micro_batch = 0;
  std::int64_t buffer = 0;  ///< index of the chunk's frame (for an activation) or gradient buffer
  std::int64_t chunk = 0;
};

/// An instruction with the frame and the gradient buffers that it uses. They belong to the instruction's chunk and are
/// numbered within it; -1 means none.
struct Action {
  Instruction instruction;
  std::int64_t frame = -1;         ///< the micro-batch's frame
  std::int64_t gradient_in = -1;   ///< buffer of the arriving gradient, for RecvGradient, Backward and BackwardInput
  std::int64_t gradient_out = -1;  ///< buffer of the leaving gradient, for Backward, BackwardInput and SendGradient
  bool first_piece = false;        ///< whether a Backward or BackwardInput is the first piece of its micro-batch
  std::int64_t receives_begin = 0, receives_end = 0;  ///< range in BoundProgram::receives
};

/// The result of bind_program().
struct BoundProgram {
  std::vector<Action> actions;           ///< the instruction list with its memory, in the list's order
  std::vector<EarlyReceive> receives;    ///< sorted by the action before which they are posted
  std::vector<std::int64_t> num_frames;  ///< number of frames, by chunk
  std::int64_t num_micro_batches = 0;

  /// Returns the receives to post before that action.
  std::span<const EarlyReceive> receives_before(const Action& action) const {
    return std::span(receives).subspan(action.receives_begin, action.receives_end - action.receives_begin);
  }
};

/// Assigns frames and gradient buffers to a stage's list, with at least `min_frames` frames per chunk.
///
/// A frame is free after its micro-batch's Backward or, if the backward is split, BackwardWeight; in evaluation after
/// its Loss or SendActivation. Frames are reused in the order in which they became free, so that a frame's last send
/// has left long before its next micro-batch arrives. A gradient's buffer is free after Backward or BackwardInput;
/// BackwardWeight uses only the frame.
///
/// Throws Error if the list receives a third gradient before it uses the first, because it would wait for itself.
BoundProgram bind_program(const StageProgram& program, std::int64_t min_frames = 1);

}  // namespace convoy
