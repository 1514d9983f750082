/// A library that keeps the logits that each loss saw: what a test asks of a step, and a step does not keep.
#pragma once

#include <memory>
#include <vector>

#include "convoy/ops/library.h"

namespace convoy::test {

class RecordingLibrary final : public ops::Library {
 public:
  explicit RecordingLibrary(ops::Library& inner) : inner_(inner) {}

  /// Logits of every loss since the last clear(), in order.
  std::vector<float> recorded_logits;

  Device& device() override { return inner_.device(); }
  std::unique_ptr<ops::ConvolutionOp> convolution(const ops::ConvolutionSpec& s) override {
    return inner_.convolution(s);
  }
  std::unique_ptr<ops::BatchNormOp> batch_norm(const ops::BatchNormSpec& s) override { return inner_.batch_norm(s); }
  std::unique_ptr<ops::MaxPoolOp> max_pool(const ops::PoolingSpec& s) override { return inner_.max_pool(s); }
  std::unique_ptr<ops::AveragePoolOp> average_pool(const ops::PoolingSpec& s) override {
    return inner_.average_pool(s);
  }
  std::unique_ptr<ops::GlobalAveragePoolOp> global_average_pool(const Shape& x) override {
    return inner_.global_average_pool(x);
  }
  std::unique_ptr<ops::LinearOp> linear(const ops::LinearSpec& s) override { return inner_.linear(s); }
  std::unique_ptr<ops::ShortcutOp> shortcut(const ops::ShortcutSpec& s) override { return inner_.shortcut(s); }
  ops::ElementwiseOps& elementwise() override { return inner_.elementwise(); }
  std::unique_ptr<ops::SoftmaxCrossEntropyOp> softmax_cross_entropy(const ops::SoftmaxCrossEntropySpec& s) override {
    return std::make_unique<RecordingLoss>(*this, inner_.softmax_cross_entropy(s), s);
  }

 private:
  class RecordingLoss final : public ops::SoftmaxCrossEntropyOp {
   public:
    RecordingLoss(RecordingLibrary& library, std::unique_ptr<ops::SoftmaxCrossEntropyOp> inner,
                  const ops::SoftmaxCrossEntropySpec& spec)
        : library_(library), inner_(std::move(inner)), spec_(spec) {}

    void run(const float* logits, const std::int32_t* labels, float* dlogits, ops::LossSums* sums) override {
      std::vector<float> host(spec_.n * spec_.num_classes);
      library_.device().copy_to_host(host.data(), logits, std::ssize(host) * static_cast<std::int64_t>(sizeof(float)));
      library_.device().synchronize();
      library_.recorded_logits.insert(library_.recorded_logits.end(), host.begin(), host.end());
      inner_->run(logits, labels, dlogits, sums);
    }

   private:
    RecordingLibrary& library_;
    std::unique_ptr<ops::SoftmaxCrossEntropyOp> inner_;
    ops::SoftmaxCrossEntropySpec spec_;
  };

  ops::Library& inner_;
};

}  // namespace convoy::test
