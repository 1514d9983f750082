/// What library.cpp plans: one factory an operation. The specs have been checked.
#pragma once

#include <memory>

#include "convoy/ops/library.h"

namespace convoy::ops::cpu {

class DnnlRuntime;
class Widening;
class Workspace;

std::unique_ptr<ConvolutionOp> make_convolution(const ConvolutionSpec& spec, DnnlRuntime& dnnl, Widening& widening);
std::unique_ptr<LinearOp> make_linear(const LinearSpec& spec, DnnlRuntime& dnnl, Widening& widening);
std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormSpec& spec, Workspace& workspace);
std::unique_ptr<MaxPoolOp> make_max_pool(const PoolingSpec& spec, const Workspace& workspace);
std::unique_ptr<AveragePoolOp> make_average_pool(const PoolingSpec& spec, const Workspace& workspace);
std::unique_ptr<GlobalAveragePoolOp> make_global_average_pool(const GlobalPoolingSpec& spec,
                                                              const Workspace& workspace);
std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec);
std::unique_ptr<ShortcutOp> make_shortcut(const ShortcutSpec& spec, const Workspace& workspace);
std::unique_ptr<ImageBatchOp> make_image_batch(const ImageBatchSpec& spec, const Workspace& workspace);
std::unique_ptr<ElementwiseOps> make_elementwise(const Workspace& workspace);

/// The CPU device with all of these.
std::unique_ptr<Library> make_cpu_library(std::int64_t threads);

}  // namespace convoy::ops::cpu
