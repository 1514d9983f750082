/// Assigns frames and buffers by walking the list once, as the executor will.
#include "train/bound_program.h"

#include <algorithm>
#include <cassert>
#include <deque>

#include "convoy/schedule/schedule.h"

namespace convoy {

namespace {

class Binder {
 public:
  Binder(const StageProgram& program, std::int64_t num_frames, std::int64_t num_micro_batches)
      : program_(program), frame_of_(num_micro_batches, -1), order_of_gradient_(num_micro_batches, -1) {
    for (std::int64_t frame = 0; frame < num_frames; ++frame) free_frames_.push_back({.frame = frame, .since = 0});
    bound_.num_frames = num_frames;
    bound_.num_micro_batches = num_micro_batches;
    trains_ = std::any_of(program.begin(), program.end(), [](const auto& i) { return i.op == Op::kBackward; });
  }

  BoundProgram run() {
    bound_.actions.resize(program_.size());
    for (std::size_t i = 0; i < program_.size(); ++i) bind(static_cast<std::int64_t>(i));
    return std::move(bound_);
  }

 private:
  struct FreeFrame {
    std::int64_t frame = 0;
    std::int64_t since = 0;  ///< index of the first action at which it is free
  };

  void bind(std::int64_t i) {
    Action& action = bound_.actions[i];
    action.instruction = program_[i];
    const std::int64_t m = action.instruction.micro_batch;
    switch (action.instruction.op) {
      case Op::kLoadInput:
        take_frame(m);
        break;
      case Op::kRecvActivation: {
        const std::int64_t since = take_frame(m);
        bound_.actions[since].receives_before.push_back({Op::kRecvActivation, m, frame_of_[m]});
        break;
      }
      case Op::kRecvGradient: {
        // Buffer k mod 2 is free once the backward that read its last content is done.
        const std::int64_t order = num_received_gradients_++;
        order_of_gradient_[m] = order;
        action.gradient_in = order % kGradientBuffers;
        const std::int64_t since = order < kGradientBuffers ? 0 : backward_done_[order - kGradientBuffers];
        bound_.actions[since].receives_before.push_back({Op::kRecvGradient, m, action.gradient_in});
        break;
      }
      case Op::kBackward:
        bind_backward(i);
        return;
      case Op::kSendGradient:
        action.gradient_out = (num_backward_ - 1) % kGradientBuffers;
        break;
      default:
        break;
    }
    if (m >= 0) action.frame = frame_of_[m];
    if (!trains_ && is_last_use_in_evaluation(i)) free_frames_.push_back({frame_of_[m], i + 1});
  }

  void bind_backward(std::int64_t i) {
    Action& action = bound_.actions[i];
    const std::int64_t m = action.instruction.micro_batch;
    action.frame = frame_of_[m];
    action.first_piece = m != current_backward_;
    if (action.first_piece) ++num_backward_, current_backward_ = m;
    action.gradient_out = (num_backward_ - 1) % kGradientBuffers;
    if (order_of_gradient_[m] >= 0) action.gradient_in = order_of_gradient_[m] % kGradientBuffers;
    const bool complete = action.instruction.bucket == kAllBuckets || action.instruction.bucket == 0;
    if (!complete) return;
    free_frames_.push_back({frame_of_[m], i + 1});
    if (order_of_gradient_[m] >= 0) backward_done_.push_back(i + 1);
  }

  // The frame for m; returns since which action it is free.
  std::int64_t take_frame(std::int64_t m) {
    assert(!free_frames_.empty());
    const FreeFrame taken = free_frames_.front();
    free_frames_.pop_front();
    frame_of_[m] = taken.frame;
    return taken.since;
  }

  bool is_last_use_in_evaluation(std::int64_t i) const {
    return program_[i].op == Op::kSendActivation || program_[i].op == Op::kLoss;
  }

  const StageProgram& program_;
  BoundProgram bound_;
  bool trains_ = false;
  std::deque<FreeFrame> free_frames_;
  std::vector<std::int64_t> frame_of_, order_of_gradient_;
  std::vector<std::int64_t> backward_done_;  ///< by order of received gradient: the action after its backward
  std::int64_t num_received_gradients_ = 0, num_backward_ = 0, current_backward_ = -1;
};

}  // namespace

BoundProgram bind_program(const StageProgram& program, std::int64_t min_frames) {
  std::int64_t num_micro_batches = 0;
  for (const Instruction& instruction : program)
    num_micro_batches = std::max(num_micro_batches, instruction.micro_batch + 1);
  return Binder(program, std::max(min_frames, max_in_flight(program)), num_micro_batches).run();
}

}  // namespace convoy
