/// One clause for each kind of finding.
#include "audit/describe_findings.h"

#include <fmt/core.h>

#include "step/step_audit.h"

namespace convoy {

namespace {

// The parts whose bits are set in memory_changes: "the parameters and the optimizer's state 1".
std::string changed_parts(const AuditFinding& finding, const StepPlan& plan) {
  const RuntimeSpec& spec = plan.spec();
  const bool has_ema = spec.train.ema_decay > 0;
  const std::vector<std::string> names =
      MemoryChecksums::names(spec.network.type != DataType::kFloat32, plan.num_slots() - (has_ema ? 1 : 0), has_ema);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((finding.memory_changes >> i & 1) == 0) continue;
    text += (text.empty() ? "" : " and ") + names[i];
  }
  return text;
}

std::string describe_item(const AuditFinding& finding, const StepPlan& plan) {
  const StagePlan& stage = plan.stages()[finding.stage];
  const RecordItem& item = finding.item;
  const std::int64_t stages = plan.grid().stages;
  const std::int64_t before = (finding.stage + stages - 1) % stages, after = (finding.stage + 1) % stages;
  switch (item.kind) {
    case RecordItem::Kind::kFeatures:
      return "the samples that it loaded are";
    case RecordItem::Kind::kInput:
      return fmt::format(
          "the activations that it received from stage {} (its own memory or the link may be faulty) are", before);
    case RecordItem::Kind::kOutput:
      return fmt::format("the output of {} is", cell_names(plan.network(), {stage.chunks[item.chunk].cells}));
    case RecordItem::Kind::kLoss:
      return "the loss is";
    case RecordItem::Kind::kOutputGradient:
      if (stage.chunks[item.chunk].is_last) return "the loss's gradient is";
      return fmt::format("the gradient that it received from stage {} (its own memory or the link may be faulty) is",
                         after);
    case RecordItem::Kind::kWeightGradient:
      return fmt::format("the gradients of the parameters of {} are",
                         cell_names(plan.network(), {stage.layout.buckets[item.bucket].cells}));
    case RecordItem::Kind::kInputGradient:
      return fmt::format("the gradient that it computed for stage {} is", before);
  }
  return "";
}

std::string describe_what(const AuditFinding& finding, const StepPlan& plan) {
  switch (finding.kind) {
    case AuditFinding::Kind::kMemory:
      return fmt::format("{} changed in its memory between two updates, although the program wrote nothing there",
                         changed_parts(finding, plan));
    case AuditFinding::Kind::kParameters:
      return finding.is_certain ? "its parameters are not those of the other replicas"
                                : "its parameters are not those of another replica";
    case AuditFinding::Kind::kComputation:
      return fmt::format("{} not the same as in {} for the same micro-batch", describe_item(finding, plan),
                         finding.is_certain ? "other computations" : "another replica");
  }
  return "";
}

}  // namespace

std::string describe_finding(const AuditFinding& finding, const StepPlan& plan,
                             const std::vector<std::string>& places) {
  const std::int64_t rank = finding.replica * plan.grid().stages + finding.stage;
  return fmt::format("rank {} (replica {}, stage {}) on {}: {}", rank, finding.replica, finding.stage, places[rank],
                     describe_what(finding, plan));
}

}  // namespace convoy
