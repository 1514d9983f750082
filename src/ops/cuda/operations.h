/// What library.cpp plans: one factory an operation. The specs have been checked.
#pragma once

#include <memory>

#include "convoy/ops/library.h"

#include "ops/cuda/context.h"

namespace convoy::ops::cuda {

class CublasRuntime;
class CudnnRuntime;

// By cuDNN and cuBLAS.
std::unique_ptr<ConvolutionOp> make_convolution(const ConvolutionSpec& spec, CudnnRuntime& cudnn);
std::unique_ptr<LinearOp> make_linear(const LinearSpec& spec, CublasRuntime& cublas);

// By kernels of our own.
std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormSpec& spec, Context& context);
std::unique_ptr<MaxPoolOp> make_max_pool(const PoolingSpec& spec, Context& context);
std::unique_ptr<AveragePoolOp> make_average_pool(const PoolingSpec& spec, Context& context);
std::unique_ptr<GlobalAveragePoolOp> make_global_average_pool(const GlobalPoolingSpec& spec, Context& context);
std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec,
                                                                  Context& context);
std::unique_ptr<ShortcutOp> make_shortcut(const ShortcutSpec& spec, Context& context);
std::unique_ptr<ImageBatchOp> make_image_batch(const ImageBatchSpec& spec, Context& context);
std::unique_ptr<ElementwiseOps> make_elementwise(Context& context);

}  // namespace convoy::ops::cuda
