/// An executor without gradients.
#include "step/evaluation_step.h"

namespace convoy {

KeptLogits::KeptLogits(const RankRuntime& runtime)
    : runtime_(runtime),
      size_bytes_(runtime.stage().last_cell().y().bytes()),
      values_(runtime.device(), runtime.micro_batches().size() * size_bytes_),
      lane_(runtime.device().make_copy_lane()) {}

// The copy runs while the device computes, but before the frame's next forward, which overwrites the logits.
void KeptLogits::end(const Action& action) {
  const Instruction& i = action.instruction;
  if (i.op != Op::kLoss) return;
  if (!lane_->done()) wait_until(runtime_.transport(), [&] { return lane_->done(); });
  lane_->mark();
  lane_->start_to_host(values_.data() + i.micro_batch * size_bytes_, runtime_.stage().output({i.chunk, action.frame}),
                       size_bytes_);
  lane_->join();
}

EvaluationStep::EvaluationStep(RankRuntime& runtime)
    : runtime_(runtime),
      loss_(make_step_loss(runtime, runtime.micro_batches().size(), /*in_training=*/false)),
      executor_(runtime,
                bind_program(runtime.plan().evaluation_schedule(runtime.grid().replica())[runtime.grid().stage()],
                             runtime.plan().evaluation_frames()),
                {.loss = loss_.get()}) {}

void EvaluationStep::keep_logits() {
  if (!logits_ && runtime_.grid().is_last_stage()) executor_.tell(logits_.emplace(runtime_));
}

}  // namespace convoy
