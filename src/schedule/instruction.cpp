/// Instructions as people read them, in errors, traces and test failures.
#include "convoy/schedule/instruction.h"

#include <fmt/format.h>

namespace convoy {

namespace {

const char* name_of(Op op) {
  switch (op) {
    case Op::kLoadInput:
      return "LoadInput";
    case Op::kRecvActivation:
      return "RecvActivation";
    case Op::kForward:
      return "Forward";
    case Op::kSendActivation:
      return "SendActivation";
    case Op::kLoadLabels:
      return "LoadLabels";
    case Op::kLoss:
      return "Loss";
    case Op::kRecvGradient:
      return "RecvGradient";
    case Op::kBackward:
      return "Backward";
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
  const char* name = name_of(instruction.op);
  if (instruction.op == Op::kAgreeOnUpdate) return name;
  if (instruction.micro_batch < 0) return fmt::format("{} {}", name, instruction.bucket);
  if (instruction.bucket == kAllBuckets) return fmt::format("{} {}", name, instruction.micro_batch);
  return fmt::format("{} {} bucket {}", name, instruction.micro_batch, instruction.bucket);
}

}  // namespace convoy
