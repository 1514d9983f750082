/// Instructions as people read them, in errors, traces and test failures.
#include "convoy/schedule/instruction.h"

#include <fmt/format.h>

namespace convoy {

namespace {

const char* name_of(Op op) {
  switch (op) {
    case Op::kLoad:
      return "Load";
    case Op::kRecvActivation:
      return "RecvActivation";
    case Op::kForward:
      return "Forward";
    case Op::kSendActivation:
      return "SendActivation";
    case Op::kLoss:
      return "Loss";
    case Op::kRecvGradient:
      return "RecvGradient";
    case Op::kBackward:
      return "Backward";
    case Op::kBackwardInput:
      return "BackwardInput";
    case Op::kBackwardWeight:
      return "BackwardWeight";
    case Op::kSendGradient:
      return "SendGradient";
    case Op::kReduceBucket:
      return "ReduceBucket";
    case Op::kFoldBucket:
      return "FoldBucket";
    case Op::kAgreeOnUpdate:
      return "AgreeOnUpdate";
    case Op::kUpdateBucket:
      return "UpdateBucket";
    case Op::kGatherBucket:
      return "GatherBucket";
  }
  return "unknown instruction";
}

}  // namespace

std::string to_string(const Instruction& instruction) {
  std::string text = name_of(instruction.op);
  if (instruction.op == Op::kAgreeOnUpdate) return text;
  if (instruction.micro_batch < 0) {
    text += fmt::format(" {}", instruction.bucket);
  } else {
    text += fmt::format(" {}", instruction.micro_batch);
    if (instruction.bucket != kAllBuckets) text += fmt::format(" bucket {}", instruction.bucket);
  }
  if (instruction.chunk != 0) text += fmt::format(" chunk {}", instruction.chunk);
  return text;
}

}  // namespace convoy
