/// An executor without gradients.
#include "step/evaluation_step.h"

#include "convoy/data/loader.h"

namespace convoy {

EvaluationStep::EvaluationStep(RankRuntime& runtime)
    : runtime_(runtime),
      loss_(make_step_loss(runtime, {.num_micro_batches = runtime.micro_batches().size(), .in_training = false})),
      executor_(runtime,
                bind_program(runtime.plan().evaluation_schedule(runtime.grid().replica())[runtime.grid().stage()],
                             runtime.plan().evaluation_frames()),
                {.loss = loss_.get()}) {}

void EvaluationStep::keep_logits() {
  if (!logits_ && runtime_.grid().is_last_stage()) executor_.tell(logits_.emplace(runtime_));
}

LoaderSpec EvaluationStep::loader_spec() const {
  return runtime_.loader_spec(loss_.get());
}

}  // namespace convoy
