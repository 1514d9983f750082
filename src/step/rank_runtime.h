/// What every rank of a grid has: its stage of the network on its device, and its messages to other ranks. TrainingStep
/// and EvaluationStep run the planned steps with it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"
#include "convoy/data/batch_source.h"
#include "convoy/ops/backend.h"

#include "plan/step_plan.h"
#include "step/shared_weights.h"
#include "step/stage.h"
#include "watchdog/status_board.h"

namespace convoy {

class StepExecutor;
class StepLoss;
struct LoaderSpec;

/// This rank's part of a plan: memory, operations and messages.
class RankRuntime {
 public:
  /// All ranks of the grid call it. Throws RequestError if the network, the batch or the memory does not fit the grid
  /// (as StepPlan). `board` receives what this rank does. `grid`, `backend` and `board` must outlive this object.
  RankRuntime(const RuntimeSpec& spec, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

  const StepPlan& plan() const { return plan_; }
  const ProcessGrid& grid() const { return grid_; }
  ops::Backend& operations() const { return backend_; }
  Device& device() const { return backend_.device(); }
  Transport& transport() const { return *transport_; }
  Stage& stage() const { return *stage_; }
  StatusBoard& board() const { return board_; }
  /// The micro-batches of each step that this replica computes.
  MicroBatchRange micro_batches() const { return plan_.micro_batches_of(grid_.replica()); }
  /// Returns a loader's specification without its steps: this rank's micro-batches, and the features that its cells and
  /// `loss` (null except on the last stage) read.
  LoaderSpec loader_spec(const StepLoss* loss) const;

  /// Runs an executor of this rank's stage. All ranks of the grid call it (for the step of an audit, all ranks of the
  /// replica). The first call connects the ranks, so all executors are made before it. An executor that has run must
  /// live until finish() or until another one runs.
  void run(StepExecutor& executor, BatchSource& source, std::int64_t step = 0);
  /// Waits until the messages of the last step are complete. Called before parameters are read or written from outside,
  /// and before this object is destroyed: its destructor does not wait for other ranks.
  void finish();
  /// Sets a hook that is called after each instruction of all steps. It must neither wait nor allocate memory.
  void set_beside(ProgressHook beside) { beside_ = std::move(beside); }
  const ProgressHook& beside() const { return beside_; }

  /// Whether the caller must write parameters (of a checkpoint, for example) to this rank's stage. If not, the stage
  /// reads the memory of another rank, and must not be written.
  bool writes_parameters() const { return !weights_ || weights_->is_writer(); }
  /// Called by all ranks of the grid after the ranks with writes_parameters() have written their stage's parameters:
  /// loads them into all cells, and calls the function of on_new_parameters(). Only one call is allowed if the network
  /// does not train.
  void take_new_parameters();
  /// Sets a function that begins what is computed from the parameters, as their moving average.
  void on_new_parameters(std::function<void()> begin) { on_new_parameters_ = std::move(begin); }
  /// The weights that replicas on this node share; null if the network trains.
  const SharedWeights* shared_weights() const { return weights_ ? &*weights_ : nullptr; }

 private:
  StepPlan plan_;
  const ProcessGrid& grid_;
  ops::Backend& backend_;
  StatusBoard& board_;
  std::unique_ptr<Transport> transport_;
  std::optional<SharedWeights> weights_;  ///< empty if the network trains
  std::unique_ptr<Stage> stage_;
  ProgressHook beside_;  ///< empty: none is set
  std::function<void()> on_new_parameters_ = [] {};
  StepExecutor* active_ = nullptr;  ///< the executor whose messages may be in flight; null before the first step
};

}  // namespace convoy
