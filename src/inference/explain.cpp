/// Each rank describes itself; rank 0 gathers the lines.
#include "inference/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "convoy/base/host_name.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/topology.h"
#include "convoy/model/arena_layout.h"
#include "convoy/schedule/bound_program.h"

namespace convoy {

namespace {

// Returns the extents as PyTorch shows them, but with channels last: "(3, 32)", "(8, 28, 28, 1)".
std::string shown(const Shape& shape) {
  std::vector<std::int64_t> extents = extents_of_sample(shape);
  extents.insert(extents.begin(), shape.n);
  return in_brackets(extents);
}

bool is_one(const std::vector<NumberRange>& samples) {
  return samples.size() == 1 && samples.front().first == samples.front().second;
}

// Returns the features that the cells read of the samples and, if other cells come before them, the activation: "input
// (3, 32)", "spectrum (3, 32), position (3, 3)".
std::string describe_inputs(const Network& network, const CellRange& cells) {
  std::vector<std::string> inputs;
  if (cells.begin > 0) inputs.push_back("input " + shown(network[cells.begin]->x().shape));
  for (std::int64_t i = cells.begin; i < cells.end; ++i)
    for (const Feature& feature : network[i]->features())
      inputs.push_back(fmt::format("{} {}", feature.name, shown(feature.spec.shape)));
  return fmt::format("{}", fmt::join(inputs, ", "));
}

}  // namespace

ComputedMicroBatches::ComputedMicroBatches(const RankRuntime& runtime, std::int64_t num_steps, std::int64_t passes)
    : runtime_(runtime), passes_(passes) {
  computed_.reserve(static_cast<std::size_t>(num_steps * runtime.micro_batches().size()));
}

void ComputedMicroBatches::end(const Action& action) {
  const Instruction& done = action.instruction;
  const std::int64_t step = (num_passes_ - 1) / passes_;
  if (done.op != Op::kForward || done.chunk != 0 || (num_passes_ - 1) % passes_ != 0) return;
  if (computed_.size() < computed_.capacity())
    computed_.push_back(step * runtime_.plan().micro_batches_per_step() + runtime_.micro_batches().begin +
                        done.micro_batch);
}

std::string ComputedMicroBatches::describe(std::int64_t num_samples) const {
  const std::vector<std::string> lines = mpi::gather_texts(runtime_.grid().world(), describe_own(num_samples));
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string ComputedMicroBatches::describe_own(std::int64_t num_samples) const {
  const StepPlan& plan = runtime_.plan();
  const ProcessGrid& grid = runtime_.grid();
  const std::int64_t micro = plan.spec().batch.micro;
  std::vector<NumberRange> samples;
  for (const std::int64_t m : computed_) {
    const std::int64_t first = m * micro, last = std::min(first + micro, num_samples) - 1;
    if (first > last) continue;  // padding
    if (!samples.empty() && samples.back().second + 1 == first)
      samples.back().second = last;
    else
      samples.emplace_back(first, last);
  }
  std::string text = fmt::format("rank {} of {} on {}: replica {}, ", grid.world().rank(), grid.world().size(),
                                 host_name(), grid.replica());
  const auto& runs = plan.stages()[static_cast<std::size_t>(grid.stage())].layout.cells();
  text += fmt::format("cells {}: ", cell_names(plan.network(), runs));
  text += samples.empty()
              ? "no samples\n"
              : fmt::format("{} {} (counted from 0), in micro-batches of {}: ", is_one(samples) ? "sample" : "samples",
                            shown_ranges(samples), micro);
  if (samples.empty()) return text;
  for (const CellRange& cells : runs)
    text += fmt::format("{}{}, output {}", &cells == &runs.front() ? "" : "; ", describe_inputs(plan.network(), cells),
                        shown(plan.network()[cells.end - 1]->y().shape));
  return text + "\n";
}

}  // namespace convoy
