/// A library that hands everything on to another: what a test or a benchmark overrides to watch one kind of operation.
#pragma once

#include <memory>

#include "convoy/ops/library.h"

namespace convoy::ops {

class ForwardingLibrary : public Library {
 public:
  explicit ForwardingLibrary(Library& inner) : inner_(inner) {}

  Device& device() override { return inner_.device(); }
  std::unique_ptr<ConvolutionOp> convolution(const ConvolutionSpec& spec) override { return inner_.convolution(spec); }
  std::unique_ptr<BatchNormOp> batch_norm(const BatchNormSpec& spec) override { return inner_.batch_norm(spec); }
  std::unique_ptr<MaxPoolOp> max_pool(const PoolingSpec& spec) override { return inner_.max_pool(spec); }
  std::unique_ptr<AveragePoolOp> average_pool(const PoolingSpec& spec) override { return inner_.average_pool(spec); }
  std::unique_ptr<GlobalAveragePoolOp> global_average_pool(const GlobalPoolingSpec& spec) override {
    return inner_.global_average_pool(spec);
  }
  std::unique_ptr<LinearOp> linear(const LinearSpec& spec) override { return inner_.linear(spec); }
  std::unique_ptr<SoftmaxCrossEntropyOp> softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec) override {
    return inner_.softmax_cross_entropy(spec);
  }
  std::unique_ptr<ShortcutOp> shortcut(const ShortcutSpec& spec) override { return inner_.shortcut(spec); }
  std::unique_ptr<ImageBatchOp> image_batch(const ImageBatchSpec& spec) override { return inner_.image_batch(spec); }
  ElementwiseOps& elementwise() override { return inner_.elementwise(); }
  std::int64_t scratch_bytes() const override { return inner_.scratch_bytes(); }
  PlanCache* plans() override { return inner_.plans(); }

 protected:
  Library& inner() { return inner_; }

 private:
  Library& inner_;
};

}  // namespace convoy::ops
