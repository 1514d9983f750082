/// A backend that keeps the outputs of the network, or its scores, that each loss was given, for tests: a step itself
/// does not keep them.
#pragma once

#include <memory>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/ops/operations.h"

#include "unit/ops/forwarding_backend.h"

namespace convoy::test {

class RecordingBackend final : public ops::ForwardingBackend {
 public:
  explicit RecordingBackend(ops::Backend& inner) : ForwardingBackend(inner) {}

  /// Outputs that every loss was given since the last clear(), in order; or scores.
  std::vector<float> recorded_logits;

  ops::AnyOp create_any(const ops::AnyRequest& request) override {
    if (const auto* loss = ops::spec_of<ops::SoftmaxCrossEntropyOp>(request))
      return std::make_unique<RecordingLoss>(*this, inner().create<ops::SoftmaxCrossEntropyOp>(*loss), *loss);
    if (const auto* loss = ops::spec_of<ops::TargetLossOp>(request)) {
      compares_targets_ = true;
      return std::make_unique<RecordingTargetLoss>(*this, inner().create<ops::TargetLossOp>(*loss), *loss);
    }
    const auto* sums = ops::spec_of<ops::ScoreSumsOp>(request);
    if (sums != nullptr && !compares_targets_)  // else the scores are made of outputs that are recorded already
      return std::make_unique<RecordingSums>(*this, inner().create<ops::ScoreSumsOp>(*sums), *sums);
    return ForwardingBackend::create_any(request);
  }

 private:
  void record(const void* values, std::int64_t count) {
    std::vector<float> host(static_cast<std::size_t>(count));
    device().copy_to_host(host.data(), values, count * static_cast<std::int64_t>(sizeof(float)));
    recorded_logits.insert(recorded_logits.end(), host.begin(), host.end());
  }

  class RecordingLoss final : public ops::SoftmaxCrossEntropyOp {
   public:
    RecordingLoss(RecordingBackend& backend, std::unique_ptr<ops::SoftmaxCrossEntropyOp> inner,
                  const ops::SoftmaxCrossEntropySpec& spec)
        : backend_(backend), inner_(std::move(inner)), spec_(spec) {}

    void run(const ops::LossArguments& args) override {
      backend_.record(args.logits, spec_.n * spec_.num_classes);
      inner_->run(args);
    }

   private:
    RecordingBackend& backend_;
    std::unique_ptr<ops::SoftmaxCrossEntropyOp> inner_;
    ops::SoftmaxCrossEntropySpec spec_;
  };

  class RecordingTargetLoss final : public ops::TargetLossOp {
   public:
    RecordingTargetLoss(RecordingBackend& backend, std::unique_ptr<ops::TargetLossOp> inner,
                        const ops::TargetLossSpec& spec)
        : backend_(backend), inner_(std::move(inner)), spec_(spec) {}

    void forward(const float* outputs, const float* targets, ops::SampleScore* scores) override {
      backend_.record(outputs, spec_.n * spec_.num_pixels * spec_.num_outputs);
      inner_->forward(outputs, targets, scores);
    }
    void backward(const float* outputs, const float* targets, const ops::SampleScore* scores,
                  const ops::SampleScore* dscores, void* doutputs) override {
      inner_->backward(outputs, targets, scores, dscores, doutputs);
    }

   private:
    RecordingBackend& backend_;
    std::unique_ptr<ops::TargetLossOp> inner_;
    ops::TargetLossSpec spec_;
  };

  class RecordingSums final : public ops::ScoreSumsOp {
   public:
    RecordingSums(RecordingBackend& backend, std::unique_ptr<ops::ScoreSumsOp> inner, const ops::ScoreSumsSpec& spec)
        : backend_(backend), inner_(std::move(inner)), spec_(spec) {}

    void run(const ops::ScoreSumsArguments& args) override {
      constexpr auto kFloats = static_cast<std::int64_t>(sizeof(ops::SampleScore) / sizeof(float));
      backend_.record(args.scores, spec_.num_objectives * spec_.n * kFloats);
      inner_->run(args);
    }

   private:
    RecordingBackend& backend_;
    std::unique_ptr<ops::ScoreSumsOp> inner_;
    ops::ScoreSumsSpec spec_;
  };

  bool compares_targets_ = false;
};

}  // namespace convoy::test
