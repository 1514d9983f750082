/// An executor of its own, with gradients of its own.
#include "step/micro_batch_repeat.h"

#include "step/step_executor.h"

namespace convoy {

MicroBatchRepeat::MicroBatchRepeat(RankRuntime& runtime, LossScale& loss_scale)
    : runtime_(runtime),
      tree_(runtime.device(), runtime.operations().elementwise(), runtime.stage().plan().layout.count, 1),
      record_(runtime.stage().plan(), runtime.device(), runtime.operations().elementwise()),
      loss_(make_step_loss(runtime, {.num_micro_batches = 1})),
      executor_(std::make_unique<StepExecutor>(
          runtime, bind_program(runtime.plan().audit_schedule()[runtime.grid().stage()]), loss_.get(),
          TrainingParts{.tree = &tree_, .loss_scale = &loss_scale, .record = &record_})) {}

MicroBatchRepeat::~MicroBatchRepeat() = default;

std::span<const std::uint64_t> MicroBatchRepeat::run(BatchSource& source, std::int64_t number, std::int64_t step) {
  record_.begin(0);
  executor_->set_first_micro_batch(number);
  runtime_.run(*executor_, source, step);
  return record_.checksums();
}

}  // namespace convoy
