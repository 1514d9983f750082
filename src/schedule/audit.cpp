/// The lists of an audit: a step of one micro-batch, without exchanges between replicas and without update.
#include "convoy/schedule/schedule.h"

namespace convoy {

Schedule make_audit(ScheduleKind kind, const PipelineSpec& spec) {
  PipelineSpec pipeline = spec;
  pipeline.micro_batches = 1;
  Schedule schedule = make_schedule(kind, pipeline);
  for (StageProgram& program : schedule)
    std::erase_if(program, [](const Instruction& i) { return is_of_update(i.op); });
  return schedule;
}

}  // namespace convoy
