/// A backend that keeps the logits that each loss was given, for tests: a step itself does not keep them.
#pragma once

#include <memory>
#include <vector>

#include "unit/ops/forwarding_backend.h"

namespace convoy::test {

class RecordingBackend final : public ops::ForwardingBackend {
 public:
  explicit RecordingBackend(ops::Backend& inner) : ForwardingBackend(inner) {}

  /// Logits of every loss since the last clear(), in order.
  std::vector<float> recorded_logits;

  ops::AnyOp create_any(const ops::AnyRequest& request) override {
    const auto* loss = ops::spec_of<ops::SoftmaxCrossEntropyOp>(request);
    if (loss == nullptr) return ForwardingBackend::create_any(request);
    return std::make_unique<RecordingLoss>(*this, inner().create<ops::SoftmaxCrossEntropyOp>(*loss), *loss);
  }

 private:
  class RecordingLoss final : public ops::SoftmaxCrossEntropyOp {
   public:
    RecordingLoss(RecordingBackend& backend, std::unique_ptr<ops::SoftmaxCrossEntropyOp> inner,
                  const ops::SoftmaxCrossEntropySpec& spec)
        : backend_(backend), inner_(std::move(inner)), spec_(spec) {}

    void run(const ops::LossArguments& args) override {
      std::vector<float> host(spec_.n * spec_.num_classes);
      backend_.device().copy_to_host(host.data(), args.logits,
                                     std::ssize(host) * static_cast<std::int64_t>(sizeof(float)));
      backend_.recorded_logits.insert(backend_.recorded_logits.end(), host.begin(), host.end());
      inner_->run(args);
    }

   private:
    RecordingBackend& backend_;
    std::unique_ptr<ops::SoftmaxCrossEntropyOp> inner_;
    ops::SoftmaxCrossEntropySpec spec_;
  };
};

}  // namespace convoy::test
