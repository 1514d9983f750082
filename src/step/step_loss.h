/// The loss of a step, which the last stage computes from the network's output: the sums of the losses, and the
/// gradient with which the backward begins.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/ops/backend.h"
#include "convoy/ops/softmax_cross_entropy.h"

namespace convoy {

class BatchSource;
class RankRuntime;
struct WantedFeature;

/// The loss of all micro-batches of a replica's step.
class StepLoss {
 public:
  virtual ~StepLoss() = default;
  StepLoss(const StepLoss&) = delete;
  StepLoss& operator=(const StepLoss&) = delete;

  /// The features of the samples that the loss reads (labels), in addition to those that cells read.
  virtual std::vector<WantedFeature> features() const = 0;
  /// Loads these features for micro-batch m of this replica. Called before run() of that micro-batch.
  virtual void load(BatchSource& source, std::int64_t m) = 0;

  /// The arguments of run().
  struct Arguments {
    std::int64_t micro_batch = 0;  ///< index among this replica's micro-batches
    const void* y = nullptr;       ///< the network's output, in device memory
    void* dy = nullptr;    ///< is overwritten by the gradient of the output, in device memory; null in evaluation
    float loss_scale = 1;  ///< factor of the gradient (LossScale)
  };
  /// Issues the device work that computes the sums of one micro-batch, and its gradient in training.
  virtual void run(const Arguments& args) = 0;

  /// The sum of the mean losses of all objectives for micro-batch m of this replica. Valid after Device::synchronize().
  double mean_loss(std::int64_t m) const;
  /// Whether mean_loss(m) is not a finite number, or is above `limit` (0: no limit).
  bool is_bad(std::int64_t m, double limit) const;
  std::int64_t num_micro_batches() const { return std::ssize(sums()) / num_objectives_; }

  /// The sums, micro-batch by micro-batch, and within a micro-batch by objective. Valid after Device::synchronize().
  std::span<const ops::LossSums> sums() const { return sums_.as<const ops::LossSums>(); }
  std::span<const ops::LossSums> sums_of_micro_batch(std::int64_t m) const {
    return sums().subspan(m * num_objectives_, num_objectives_);
  }

 protected:
  StepLoss(Device& device, std::int64_t num_micro_batches, std::int64_t num_objectives);
  ops::LossSums* sums_of(std::int64_t micro_batch) const {
    return sums_.as<ops::LossSums>().data() + micro_batch * num_objectives_;
  }

 private:
  std::int64_t num_objectives_;
  HostBuffer sums_;
};

/// Makes the loss of the runtime's network on the last stage, for this number of the replica's micro-batches: the
/// softmax cross-entropy of its logits and the samples' labels or, if the network computes its losses itself, the sums
/// of its scores. In training it has label smoothing, class weights and mixed labels, if the plan has them. Returns
/// null on other stages.
std::unique_ptr<StepLoss> make_step_loss(const RankRuntime& runtime, std::int64_t num_micro_batches, bool in_training);

}  // namespace convoy
