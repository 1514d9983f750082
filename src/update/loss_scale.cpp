/// The dynamic loss scale.
#include "update/loss_scale.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {

namespace {

constexpr double kFirstScale = 65536;
constexpr double kLargestScale = 16'777'216;       // 2^24: what is scaled so far and still finite needs no more
constexpr double kSmallestScale = 1.0 / 16384;     // 2^-14: gradients of 2^30 are no rounding trouble
constexpr std::int64_t kStepsBeforeGrowth = 2000;  // an overflow costs one step: seldom enough not to matter

}  // namespace

LossScale::LossScale(DataType type) : is_dynamic_(type == DataType::kFloat16) {
  if (is_dynamic_) state_.scale = kFirstScale;
}

// A checkpoint of a run in another type says 1 and no good steps: nothing to continue with.
void LossScale::restore(const LossScaleState& state) {
  if (is_dynamic_ && state.scale > 0 && state != LossScaleState()) state_ = state;
}

bool LossScale::is_smallest() const {
  return state_.scale / 2 < kSmallestScale;
}

void LossScale::end_step(bool overflowed) {
  if (!is_dynamic_) return;
  if (overflowed) {
    if (is_smallest())
      fail(
          "gradients are not finite numbers, although the loss scale was reduced to {}: the training diverged. Resume "
          "from an earlier checkpoint with a smaller optimizer.lr, or use train.precision = bf16 or f32",
          state_.scale);
    state_ = {.scale = state_.scale / 2, .good_steps = 0};
    return;
  }
  if (++state_.good_steps < kStepsBeforeGrowth) return;
  state_ = {.scale = std::min(2 * state_.scale, kLargestScale), .good_steps = 0};
}

}  // namespace convoy
