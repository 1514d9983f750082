/// A greedy choice by bytes saved per second of recomputing.
#include "plan/recompute.h"

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/model/partition.h"
#include "convoy/params/step_parameters.h"

namespace convoy {

namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

class Chooser {
 public:
  Chooser(const Network& network, const StagePlanSpec& stage, const StageUse& use, const MemoryParams& memory)
      : network_(network), stage_(stage), use_(use), memory_(memory) {
    stage_.recomputed.assign(network.size(), false);
  }

  std::vector<bool> choose() {
    if (memory_.recompute == RecomputeKind::kCell) take_all();
    if (memory_.recompute == RecomputeKind::kAuto) take_as_few_as_fit();
    if (!fits()) refuse_limit();
    return std::move(stage_.recomputed);
  }

 private:
  std::int64_t bytes() const { return stage_memory(plan_stage(network_, stage_), use_).total(); }
  bool fits() const { return fits_limit(bytes(), memory_); }

  void take_all() {
    for (const CellRange& run : stage_.runs)
      std::fill(stage_.recomputed.begin() + run.begin, stage_.recomputed.begin() + run.end, true);
  }

  void take_as_few_as_fit() {
    std::vector<std::int64_t> order = worthwhile_first();
    for (const std::int64_t cell : order) {
      if (fits()) break;
      stage_.recomputed[cell] = true;
    }
    if (!fits()) return;
    // Recomputed cells share memory that is as large as the largest of them needs: a smaller one may be superfluous.
    std::reverse(order.begin(), order.end());
    for (const std::int64_t cell : order) {
      if (!stage_.recomputed[cell]) continue;
      stage_.recomputed[cell] = false;
      if (!fits()) stage_.recomputed[cell] = true;
    }
  }

  // Returns the cells that save anything, those that save the most bytes per second of recomputing first.
  std::vector<std::int64_t> worthwhile_first() const {
    const std::vector<double> seconds = model_recompute_seconds(network_);
    const auto bytes_per_second = [&](std::int64_t cell) {
      return static_cast<double>(network_[cell]->memory().activation_bytes()) / seconds[cell];
    };
    std::vector<std::int64_t> order;
    for (const CellRange& run : stage_.runs)
      for (std::int64_t cell = run.begin; cell < run.end; ++cell)
        if (network_[cell]->memory().activation_bytes() > 0) order.push_back(cell);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return bytes_per_second(a) > bytes_per_second(b); });
    return order;
  }

  [[noreturn]] void refuse_limit() {
    const std::int64_t taken = bytes();
    take_all();
    const std::int64_t min_bytes = bytes();
    const auto limit_for = [](std::int64_t size) {
      return std::ceil(static_cast<double>(size) / kGibibyte * 100) / 100;
    };
    const bool recomputing_helps = fits_limit(min_bytes, memory_);
    const std::string libraries =
        use_.gpu_library_bytes == 0 ? ""
                                    : fmt::format(" ({} of it for CUDA and NCCL)", human_bytes(use_.gpu_library_bytes));
    const std::string others = "a smaller batch.micro, more grid.stages";
    const std::string with = network_.front()->has_backward()
                                 ? fmt::format(" with memory.recompute = {}, at least {} with cell",
                                               name_of(memory_.recompute), human_bytes(min_bytes))
                                 : "";
    refuse("memory.limit_gib = {}: cells {} take {} per rank{}{}. Allowed: memory.limit_gib = {:.2f} and more, {}{}.",
           memory_.limit_gib, cell_names(network_, stage_.runs), human_bytes(taken), libraries, with,
           limit_for(recomputing_helps ? taken : min_bytes), recomputing_helps ? "memory.recompute = auto, " : "",
           others);
  }

  const Network& network_;
  StagePlanSpec stage_;
  StageUse use_;
  MemoryParams memory_;
};

}  // namespace

bool fits_limit(std::int64_t bytes, const MemoryParams& memory) {
  return memory.limit_gib == 0 || static_cast<double>(bytes) <= memory.limit_gib * kGibibyte;
}

std::vector<bool> choose_recomputed(const Network& network, const StagePlanSpec& stage, const StageUse& use,
                                    const MemoryParams& memory) {
  return Chooser(network, stage, use, memory).choose();
}

}  // namespace convoy
