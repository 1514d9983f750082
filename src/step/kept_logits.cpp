/// The copy runs while the device computes, but before the frame's next forward, which overwrites the logits.
#include "step/kept_logits.h"

namespace convoy {

KeptLogits::KeptLogits(const RankRuntime& runtime)
    : runtime_(runtime),
      size_bytes_(runtime.stage().last_cell().y().bytes()),
      values_(runtime.device(), runtime.micro_batches().size() * size_bytes_),
      lane_(runtime.device().make_copy_lane()) {}

void KeptLogits::end(const Action& action) {
  const Instruction& i = action.instruction;
  if (i.op != Op::kLoss) return;
  if (!lane_->done()) wait_until(runtime_.transport(), [&] { return lane_->done(); });
  lane_->mark();
  lane_->start_to_host(values_.data() + i.micro_batch * size_bytes_, runtime_.stage().output({i.chunk, action.frame}),
                       size_bytes_);
  lane_->join();
}

}  // namespace convoy
