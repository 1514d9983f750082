/// A library that keeps the logits that each loss saw: what a test asks of a step, and a step does not keep.
#pragma once

#include <memory>
#include <vector>

#include "convoy/ops/forwarding_library.h"

namespace convoy::test {

class RecordingLibrary final : public ops::ForwardingLibrary {
 public:
  explicit RecordingLibrary(ops::Library& inner) : ForwardingLibrary(inner) {}

  /// Logits of every loss since the last clear(), in order.
  std::vector<float> recorded_logits;

  std::unique_ptr<ops::SoftmaxCrossEntropyOp> softmax_cross_entropy(const ops::SoftmaxCrossEntropySpec& s) override {
    return std::make_unique<RecordingLoss>(*this, inner().softmax_cross_entropy(s), s);
  }

 private:
  class RecordingLoss final : public ops::SoftmaxCrossEntropyOp {
   public:
    RecordingLoss(RecordingLibrary& library, std::unique_ptr<ops::SoftmaxCrossEntropyOp> inner,
                  const ops::SoftmaxCrossEntropySpec& spec)
        : library_(library), inner_(std::move(inner)), spec_(spec) {}

    void run(const ops::LossArguments& args) override {
      std::vector<float> host(spec_.n * spec_.num_classes);
      library_.device().copy_to_host(host.data(), args.logits,
                                     std::ssize(host) * static_cast<std::int64_t>(sizeof(float)));
      library_.recorded_logits.insert(library_.recorded_logits.end(), host.begin(), host.end());
      inner_->run(args);
    }

   private:
    RecordingLibrary& library_;
    std::unique_ptr<ops::SoftmaxCrossEntropyOp> inner_;
    ops::SoftmaxCrossEntropySpec spec_;
  };
};

}  // namespace convoy::test
