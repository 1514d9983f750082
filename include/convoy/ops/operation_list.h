/// The list of all operations. A backend that creates, forwards or observes operations gets its cases from this list.
#pragma once

#include <memory>
#include <variant>

namespace convoy::ops {

/// A request to create an operation of the class Op, which defines the type of its parameters (Op::Spec) and its name
/// (Op::kName).
template <typename Op>
struct OpRequest {
  const typename Op::Spec& spec;
};

template <typename... Ops>
struct OperationList {
  using Request = std::variant<OpRequest<Ops>...>;
  using Created = std::variant<std::unique_ptr<Ops>...>;
};

using AllOperations =
    OperationList<class ActivationOp, class AttentionOp, class AveragePoolOp, class BatchNormOp, class BroadcastOp,
                  class ChannelCopyOp, class ConvolutionOp, class DropoutOp, class EmbeddingOp, class GatherOp,
                  class GlobalAveragePoolOp, class ImageBatchOp, class LayerNormOp, class LinearOp, class MaxPoolOp,
                  class PrependOp, class SampleCrossEntropyOp, class ScoreSumsOp, class SequenceMeanOp,
                  class SoftmaxCrossEntropyOp, class SoftmaxOp, class TargetLossOp>;
using AnyRequest = AllOperations::Request;
using AnyOp = AllOperations::Created;

}  // namespace convoy::ops
