/// What the last stage computes from the network's output: the sums that are shown, and the gradient that backward
/// begins with.
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
class StepPlan;
struct WantedFeature;

class StepLoss {
 public:
  virtual ~StepLoss() = default;
  StepLoss(const StepLoss&) = delete;
  StepLoss& operator=(const StepLoss&) = delete;

  /// Features of the samples that it reads, in addition to those that cells read.
  virtual std::vector<WantedFeature> features() const = 0;
  /// Loads these features of micro-batch m of this replica. Called before its run().
  virtual void load(BatchSource& source, std::int64_t m) = 0;

  struct Arguments {
    std::int64_t micro_batch = 0;  ///< number among this replica's
    const void* y = nullptr;       ///< the network's output
    void* dy = nullptr;            ///< overwritten; null in evaluation
    float loss_scale = 1;
  };
  virtual void run(const Arguments& args) = 0;

  /// The sum of the mean losses of micro-batch m's objectives. Valid when sums() are.
  double mean_loss(std::int64_t m) const;
  /// Whether mean_loss(m) is not a finite number, or above `limit` (0: no limit).
  bool is_bad(std::int64_t m, double limit) const;
  std::int64_t num_micro_batches() const { return std::ssize(sums()) / num_objectives_; }

  /// The sums of each objective of each micro-batch, in order; valid after Device::synchronize().
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

struct StepLossSpec {
  std::int64_t num_micro_batches = 0;  ///< this replica's micro-batches per step
  bool in_training = true;             ///< whether label smoothing and mixed labels apply, if the plan has them
};

/// Makes the loss of the plan's network: softmax cross-entropy of its logits and the samples' labels, or the sums of
/// the scores that the network computes itself.
std::unique_ptr<StepLoss> make_step_loss(const StepPlan& plan, const StepLossSpec& spec, ops::Backend& backend);

}  // namespace convoy
