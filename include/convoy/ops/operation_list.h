/// The list of all operations. What a backend creates, forwards or watches follows from it. It only declares them, so
/// that code that passes a backend on does not depend on their contracts: operations.h includes those.
#pragma once

#include <memory>
#include <variant>

namespace convoy::ops {

/// A request to create an operation. Its contract Op defines the parameters (Op::Spec) and a name (Op::kName).
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
    OperationList<class ActivationOp, class AttentionOp, class AveragePoolOp, class BatchNormMaxPoolOp,
                  class BatchNormOp, class BatchNormSumOp, class BroadcastOp, class ConvolutionOp, class DropoutOp,
                  class EmbeddingOp, class GatherOp, class GlobalAveragePoolOp, class ImageBatchOp, class LayerNormOp,
                  class LinearOp, class MaxPoolOp, class PrependOp, class SampleCrossEntropyOp, class ScoreSumsOp,
                  class SequenceMeanOp, class ShortcutOp, class SoftmaxCrossEntropyOp>;
using AnyRequest = AllOperations::Request;
using AnyOp = AllOperations::Created;

}  // namespace convoy::ops
