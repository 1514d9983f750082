/// Tables of predicted memory, and comparisons with the measured one.
#include "run/memory_report.h"

#include <vector>

#include "convoy/base/features.h"
#include "convoy/base/text.h"
#include "convoy/comm/gather.h"
#include "convoy/data/loader.h"

#include "checkpoint/snapshot.h"

namespace convoy {

namespace {

std::int64_t count_values(const Network& network) {
  std::int64_t count = 0;
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters()) count += entry.spec.count();
  return count;
}

// Returns the size of what the stage reads ahead of a micro-batch, as the loader holds it: images as bytes, arrays as
// float32.
std::int64_t loaded_bytes(const StepPlan& plan, std::int64_t stage) {
  const InputShape& input = plan.spec().network.input;
  if (!std::holds_alternative<ArrayShapes>(input)) {
    const TensorSpec& x = plan.network().front()->x();
    return stage > 0 ? 0 : std::holds_alternative<ImageShape>(input) ? x.shape.count() : x.bytes();
  }
  std::int64_t bytes = 0;
  for (const ChunkPlan& chunk : plan.stages()[stage].chunks)
    for (std::int64_t i = chunk.cells.begin; i < chunk.cells.end; ++i)
      for (const Feature& feature : plan.network()[i]->features())
        if (feature.name != features::kLabel && (feature.name != features::kTarget || plan.target().is_in_record()))
          bytes += feature.spec.shape.count() * kFloatBytes;
  const bool has_loss = stage == plan.grid().stages - 1 && plan.gives_logits();
  if (has_loss && plan.target().is_in_record())
    bytes += features::target_spec(plan.target(), plan.spec().batch.micro).bytes();
  return bytes;
}

// Memory of one rank in bytes. Predicted is the sum of its row of describe_memory(), of the host memory that is needed
// in addition to it, and of what the table leaves out.
struct MemoryComparison {
  std::int64_t measured = 0;
  std::int64_t plan = 0, beside = 0, program = 0;

  std::int64_t predicted() const { return plan + beside + program; }
};

MemoryComparison comparison_of(const RankRuntime& runtime, const Resident& before, bool resumed) {
  MemoryComparison mine{.plan = runtime.plan().memory_of(runtime.grid().stage()).total(),
                        .program = runtime.operations().scratch_bytes()};
  mine.measured = measured_memory(runtime, before);
  if (!runtime.device().is_host()) {
    mine.plan -= runtime.plan().memory_of(runtime.grid().stage()).libraries;  // libraries have buffers of their own
    return mine;
  }
  mine.beside = host_memory(runtime.plan(), runtime.grid().stage(), runtime.grid().is_root(), resumed).total();
  mine.program += before.now;
  return mine;
}

std::string describe_sum(const MemoryComparison& largest, bool is_host) {
  const std::string plan = "plan " + human_bytes(largest.plan);
  if (!is_host) return fmt::format("{}, scratch {}", plan, human_bytes(largest.program));
  return fmt::format("{}, outside the plan {}, program {}", plan, human_bytes(largest.beside),
                     human_bytes(largest.program));
}

}  // namespace

std::int64_t checkpoint_bytes(const StepPlan& plan) {
  return (1 + plan.num_states()) * count_values(plan.network()) * kFloatBytes;
}

HostMemory host_memory(const StepPlan& plan, std::int64_t stage, bool is_root, bool resumed) {
  HostMemory host;
  const LoaderSpec loading{.threads = plan.spec().loader_threads};
  const std::int64_t input_bytes = loaded_bytes(plan, stage);
  host.samples = 2 * loading.num_buffers() * input_bytes + (input_bytes > 0 ? plan.spec().samples_in_memory : 0);
  const std::int64_t file = checkpoint_bytes(plan);
  const std::int64_t copied = snapshot_bytes(plan, stage, is_root);
  if (plan.spec().checkpoint.files ==
      CheckpointFiles::kSharded) {  // saving: copy, file; else: files, parameters, values
    host.save = 2 * copied;
    if (resumed) host.resume = 3 * copied + plan.stages()[stage].layout.count * kFloatBytes;
    return host;
  }
  if (resumed) host.resume = 2 * file;
  if (is_root) host.save = 2 * file;
  if (plan.spec().checkpoint.background) host.save += copied;
  return host;
}

std::string describe_memory(const StepPlan& plan) {
  std::string text = fmt::format(
      "memory per rank, predicted\n  {:<7}{:>12}{:>12}{:>12}{:>13}{:>12}{:>12}{:>12}{:>18}\n", "stage", "weights",
      "gradients", "optimizer", "activations", "working", "recomputed", "total", "recomputed cells");
  for (std::int64_t s = 0; s < plan.grid().stages; ++s) {
    const StageMemory memory = plan.memory_of(s);
    text += fmt::format("  {:<7}{:>12}{:>12}{:>12}{:>13}{:>12}{:>12}{:>12}{:>18}\n", s,
                        human_bytes(memory.parameters + memory.packed_weights), human_bytes(memory.gradients),
                        human_bytes(memory.optimizer_state), human_bytes(memory.frames), human_bytes(memory.working),
                        human_bytes(memory.recomputed), human_bytes(memory.total()),
                        fmt::format("{} of {}", plan.num_recomputed(s), plan.stages()[s].layout.num_cells()));
  }
  const std::int64_t libraries = plan.memory_of(0).libraries;
  if (libraries > 0)
    text += fmt::format("  the total includes an estimate of what CUDA and NCCL take of the GPU: {}\n",
                        human_bytes(libraries));
  const HostMemory host = host_memory(plan, 0, /*is_root=*/true, /*resumed=*/true);
  std::int64_t save_of_others = 0;
  for (std::int64_t s = 0; s < plan.grid().stages; ++s)
    save_of_others = std::max(save_of_others, host_memory(plan, s, /*is_root=*/false, /*resumed=*/false).save);
  const bool has_others = plan.grid().ranks() > 1 && save_of_others > 0;
  return text +
         fmt::format(
             "  in addition, on the host: {}s read ahead on stage 0, {}; for checkpoints {} on rank 0{}; while "
             "ranks resume from a checkpoint, {} on each\n"
             "  not counted: the program, its libraries and their scratch memory, and the part of the data files "
             "that is in memory\n",
             input_kinds::one_of(kind_of(plan.spec().network.input)), human_bytes(host.samples), human_bytes(host.save),
             has_others ? fmt::format(", at most {} on each of the others", human_bytes(save_of_others)) : "",
             human_bytes(host.resume));
}

std::int64_t measured_memory(const RankRuntime& runtime, const Resident& before) {
  if (!runtime.device().is_host()) return runtime.device().allocated_bytes();
  const Resident now = resident();
  return now.peak - (now.files - before.files);
}

std::string compare_memory(const RankRuntime& runtime, const Resident& before, bool resumed) {
  const std::vector<MemoryComparison> all =
      mpi::gather_values(runtime.grid().world(), std::vector{comparison_of(runtime, before, resumed)});
  if (all.empty()) return "";
  const auto largest = std::ranges::max_element(all, {}, &MemoryComparison::measured);
  const bool is_host = runtime.device().is_host();
  return fmt::format("memory: at most {} on rank {}{}, predicted {} ({})", human_bytes(largest->measured),
                     largest - all.begin(), is_host ? "" : " in buffers of its GPU", human_bytes(largest->predicted()),
                     describe_sum(*largest, is_host));
}

}  // namespace convoy
