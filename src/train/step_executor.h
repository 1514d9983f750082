/// Executes a stage's instruction list: the same list that is simulated, drawn and tested.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/data/batch_source.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "train/bound_program.h"
#include "train/gradient_tree.h"
#include "train/sharded_update.h"
#include "train/stage.h"

namespace convoy {

/// Where a rank's time went, seconds since the executor was made.
struct ExecutorTimes {
  double load = 0;        ///< images and labels, waiting for them included
  double wait_model = 0;  ///< for activations and gradients of neighbouring stages: bubble and communication
  double wait_data = 0;   ///< for gradient slices and parameters of other replicas
};

/// What a training step needs beside the stage; absent in evaluation.
struct TrainingParts {
  GradientTree* tree = nullptr;
  ShardedUpdate* update = nullptr;
};

class StepExecutor {
 public:
  /// All must outlive the executor. `loss` on the last stage only; its sums are read with sums().
  StepExecutor(Stage& stage, const ProcessGrid& grid, Device& device, BoundProgram program,
               ops::SoftmaxCrossEntropyOp* loss, const TrainingParts& training);
  StepExecutor(const StepExecutor&) = delete;
  StepExecutor& operator=(const StepExecutor&) = delete;

  /// One pass through the list.
  void run(BatchSource& source);
  /// Waits until the last messages have left: before another executor uses the stage, and before the end.
  void finish();

  /// Last stage: each micro-batch of the last pass, in order. Elsewhere empty.
  const std::vector<ops::LossSums>& sums() const { return sums_; }
  ExecutorTimes times() const;

 private:
  bool is_training() const { return training_.update != nullptr; }
  void post(const EarlyReceive& receive);
  void execute(const Action& action, BatchSource& source);
  void forward(const Action& action);
  void backward(const Action& action);
  void send_activation(const Action& action);
  void send_gradient(const Action& action);
  void wait_for(mpi::Request& request);
  void poke();

  Stage& stage_;
  const ProcessGrid& grid_;
  Device& device_;
  BoundProgram program_;
  ops::SoftmaxCrossEntropyOp* loss_;
  TrainingParts training_;
  Poke poke_;

  std::vector<mpi::Request> activation_sends_;     ///< by frame
  std::vector<mpi::Request> activation_receives_;  ///< by frame
  std::vector<mpi::Request> gradient_sends_;       ///< by buffer
  std::vector<mpi::Request> gradient_receives_;    ///< by buffer
  Buffer labels_;
  std::vector<ops::LossSums> sums_;
  ExecutorTimes times_;
};

}  // namespace convoy
