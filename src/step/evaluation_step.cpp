/// An executor without gradients.
#include "step/evaluation_step.h"

#include "convoy/data/loader.h"

namespace convoy {

EvaluationStep::EvaluationStep(RankRuntime& runtime)
    : runtime_(runtime),
      loss_(make_step_loss(runtime, {.num_micro_batches = runtime.micro_batches().size(), .in_training = false})) {
  const StepPlan& plan = runtime.plan();
  executor_ = std::make_unique<StepExecutor>(
      runtime,
      bind_program(plan.evaluation_schedule(runtime.grid().replica())[runtime.grid().stage()],
                   plan.evaluation_frames()),
      loss_.get(), TrainingParts{});
}

LoaderSpec EvaluationStep::loader_spec() const {
  return runtime_.loader_spec(loss_.get());
}

}  // namespace convoy
