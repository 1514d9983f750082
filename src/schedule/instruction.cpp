/// The text of instructions in errors, traces and test failures.
#include "convoy/schedule/instruction.h"

#include <iterator>

#include <fmt/core.h>

namespace convoy {

namespace {

// In the order of Op.
constexpr const char* kNames[] = {"Load",         "RecvActivation", "Forward",       "SendActivation", "Loss",
                                  "RecvGradient", "Backward",       "BackwardInput", "BackwardWeight", "SendGradient",
                                  "ReduceBucket", "FoldBucket",     "AgreeOnUpdate", "UpdateBucket",   "GatherBucket"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Op::kGatherBucket) + 1);

}  // namespace

std::string to_string(const Instruction& instruction) {
  std::string text = kNames[static_cast<std::size_t>(instruction.op)];
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
