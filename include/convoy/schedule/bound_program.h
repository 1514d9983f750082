/// Assigns memory to a stage's instruction list: the frame of each micro-batch, the buffer of each gradient, and the
/// earliest moment at which each receive can be posted. It is computed once; executor and simulator both follow it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/schedule/instruction.h"

namespace convoy {

/// The number of buffers that each chunk has for the gradients that it receives, and again for those that it sends.
/// They are used in turn: one is in use while the message of the other is on its way.
inline constexpr std::int64_t kGradientBuffers = 2;

/// A receive that can be posted before an earlier instruction than its own, because the content of its buffer is no
/// longer needed.
struct EarlyReceive {
  Op op = Op::kRecvActivation;
  std::int64_t micro_batch = 0;
  std::int64_t buffer = 0;  ///< index, within the chunk, of the frame (for an activation) or of the gradient buffer
  std::int64_t chunk = 0;
};

/// An instruction with the frame (the memory for one micro-batch's activations) and the gradient buffers that it uses.
/// They belong to the instruction's chunk and are numbered within it; -1 means none.
struct Action {
  Instruction instruction;
  std::int64_t frame = -1;  ///< index of the micro-batch's frame
  /// Buffer of the gradient that is received, for RecvGradient, Backward and BackwardInput.
  std::int64_t gradient_in = -1;
  /// Buffer of the gradient that is sent, for Backward, BackwardInput and SendGradient.
  std::int64_t gradient_out = -1;
  /// Whether it is the first Backward or BackwardInput of its micro-batch, which may have one per bucket.
  bool first_piece = false;
  std::int64_t receives_begin = 0, receives_end = 0;  ///< range in BoundProgram::receives
};

/// An instruction list with its memory, as bind_program() returns it.
struct BoundProgram {
  std::vector<Action> actions;           ///< the instruction list with its memory, in the list's order
  std::vector<EarlyReceive> receives;    ///< receives, sorted by the action before which they are posted
  std::vector<std::int64_t> num_frames;  ///< number of frames, by chunk
  std::int64_t num_micro_batches = 0;

  /// Returns the receives to post before the given action.
  std::span<const EarlyReceive> receives_before(const Action& action) const {
    return std::span(receives).subspan(action.receives_begin, action.receives_end - action.receives_begin);
  }
};

/// Assigns frames and gradient buffers to the instruction list of a stage, with at least `min_frames` frames per chunk.
///
/// A frame is free again after its micro-batch's Backward or, if the backward is split, BackwardWeight; in evaluation
/// after its Loss or SendActivation. Frames are reused in the order in which they became free, so that a frame's last
/// send has left long before its next micro-batch arrives. The buffer of a received gradient is free after Backward or
/// BackwardInput; BackwardWeight uses only the frame.
///
/// Throws Error if the list receives a third gradient before it uses the first: the stage would wait for itself.
BoundProgram bind_program(const StageProgram& program, std::int64_t min_frames = 1);

}  // namespace convoy
