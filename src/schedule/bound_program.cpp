/// Assigns frames and buffers by walking through the list once, in the order of execution.
#include "convoy/schedule/bound_program.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/schedule/schedule.h"

namespace convoy {

namespace {

class Binder {
 public:
  Binder(const StageProgram& program, std::int64_t min_frames) : program_(program), chunks_(num_chunks(program)) {
    for (const Instruction& i : program)
      bound_.num_micro_batches = std::max(bound_.num_micro_batches, i.micro_batch + 1);
    is_take_.resize(program.size());
    is_release_.resize(program.size());
    for (const FrameUse& use : frame_uses(program)) is_take_[use.taken_at] = is_release_[use.released_at] = true;
    count_frames(min_frames);
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      Chunk& chunk = chunks_[c];
      for (std::int64_t frame = 0; frame < bound_.num_frames[c]; ++frame) chunk.freed_frames.push_back({frame, 0});
      chunk.frame_of.assign(bound_.num_micro_batches, -1);
      chunk.free_since.assign(bound_.num_micro_batches, 0);
      chunk.order_of_gradient.assign(bound_.num_micro_batches, -1);
    }
  }

  BoundProgram run() {
    bound_.actions.resize(program_.size());
    for (std::int64_t i = 0; i < std::ssize(program_); ++i) bind(i);
    sort_receives();
    return std::move(bound_);
  }

 private:
  struct FreedFrame {
    std::int64_t frame = 0;
    std::int64_t since = 0;  ///< index of the first action at which it is free
  };

  struct Chunk {
    std::vector<FreedFrame> freed_frames;  ///< in the order in which they become free and are taken again
    std::int64_t num_taken = 0;
    std::vector<std::int64_t> frame_of, order_of_gradient;  ///< by micro-batch; -1: none yet
    std::vector<std::int64_t> free_since;                   ///< by micro-batch: since when its frame was free
    std::vector<std::int64_t> gradient_used;  ///< by received gradient, in order: the action after its last use
    std::int64_t num_gradients_in = 0, num_gradients_out = 0, last_backward = -1;
  };

  // Counts the frames that max_in_flight() counts for one chunk, here for all chunks in one pass.
  void count_frames(std::int64_t min_frames) {
    std::vector<std::int64_t> held(chunks_.size(), 0);
    bound_.num_frames.assign(chunks_.size(), min_frames);
    for (std::size_t i = 0; i < program_.size(); ++i) {
      const std::int64_t chunk = program_[i].chunk;
      if (is_take_[i]) bound_.num_frames[chunk] = std::max(bound_.num_frames[chunk], ++held[chunk]);
      if (is_release_[i]) --held[chunk];
    }
  }

  void bind(std::int64_t i) {
    Action& action = bound_.actions[i];
    action.instruction = program_[i];
    const std::int64_t m = action.instruction.micro_batch;
    if (m < 0) return;
    Chunk& chunk = chunks_[action.instruction.chunk];
    if (is_take_[i]) take_frame(chunk, m);
    switch (action.instruction.op) {
      case Op::kRecvActivation:
        receive(chunk.free_since[m], action.instruction, chunk.frame_of[m]);
        break;
      case Op::kRecvGradient:
        receive_gradient(action, chunk);
        break;
      case Op::kBackward:
      case Op::kBackwardInput:
        bind_backward(i, chunk);
        break;
      case Op::kSendGradient:
        action.gradient_out = (chunk.num_gradients_out - 1) % kGradientBuffers;
        break;
      default:
        break;
    }
    action.frame = chunk.frame_of[m];
    if (is_release_[i]) chunk.freed_frames.push_back({action.frame, i + 1});
  }

  // Gradient k uses buffer k mod 2, which is free once the backward that read its previous content is done.
  void receive_gradient(Action& action, Chunk& chunk) {
    const std::int64_t order = chunk.num_gradients_in++;
    if (order >= kGradientBuffers + std::ssize(chunk.gradient_used))
      fail("{} waits for a gradient buffer that is held until a later backward.", to_string(action.instruction));
    chunk.order_of_gradient[action.instruction.micro_batch] = order;
    action.gradient_in = order % kGradientBuffers;
    receive(order < kGradientBuffers ? 0 : chunk.gradient_used[order - kGradientBuffers], action.instruction,
            action.gradient_in);
  }

  void bind_backward(std::int64_t i, Chunk& chunk) {
    Action& action = bound_.actions[i];
    const std::int64_t m = action.instruction.micro_batch, bucket = action.instruction.bucket;
    action.first_piece = m != chunk.last_backward;
    if (action.first_piece) ++chunk.num_gradients_out, chunk.last_backward = m;
    action.gradient_out = (chunk.num_gradients_out - 1) % kGradientBuffers;
    const std::int64_t order = chunk.order_of_gradient[m];
    if (order < 0) return;
    action.gradient_in = order % kGradientBuffers;
    if (bucket == kAllBuckets || bucket == 0) chunk.gradient_used.push_back(i + 1);
  }

  static void take_frame(Chunk& chunk, std::int64_t m) {
    const FreedFrame taken = chunk.freed_frames[chunk.num_taken++];
    chunk.frame_of[m] = taken.frame;
    chunk.free_since[m] = taken.since;
  }

  void receive(std::int64_t since, const Instruction& i, std::int64_t buffer) {
    bound_.receives.push_back({.op = i.op, .micro_batch = i.micro_batch, .buffer = buffer, .chunk = i.chunk});
    since_.push_back(since);
    ++bound_.actions[since].receives_end;  // a count, until they are sorted
  }

  // Sorts receives by the action before which they start; receives before the same action stay in list order.
  void sort_receives() {
    std::int64_t begin = 0;
    for (Action& action : bound_.actions) {
      action.receives_begin = begin;
      begin += action.receives_end;
      action.receives_end = action.receives_begin;
    }
    std::vector<EarlyReceive> sorted(bound_.receives.size());
    for (std::size_t k = 0; k < sorted.size(); ++k)
      sorted[bound_.actions[since_[k]].receives_end++] = bound_.receives[k];
    bound_.receives = std::move(sorted);
  }

  const StageProgram& program_;
  BoundProgram bound_;
  std::vector<Chunk> chunks_;
  std::vector<bool> is_take_;        ///< by action: whether it takes a frame
  std::vector<bool> is_release_;     ///< by action: whether a frame is free after it
  std::vector<std::int64_t> since_;  ///< by receive, in list order: the action before which it starts
};

}  // namespace

BoundProgram bind_program(const StageProgram& program, std::int64_t min_frames) {
  return Binder(program, min_frames).run();
}

}  // namespace convoy
