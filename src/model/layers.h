/// The layers that cells are made of: each owns its parameters' names and what it saves, forward beside backward.
#pragma once

#include <memory>
#include <string>

#include "convoy/model/cell.h"

namespace convoy {

/// y  = conv(x, w)         x (N,H,W,C)   w (K,R,S,C)   y (N,P,Q,K)
/// dx = conv_input(dy, w)  overwritten
/// dw = conv_weight(x, dy) overwritten: one micro-batch's gradient; the reducer sums
/// saves: nothing of its own; backward reads x
class Convolution {
 public:
  Convolution(CellMemory& memory, const std::string& name, const ops::ConvolutionSpec& spec);

  Shape y() const { return spec_.y(); }
  void plan(ops::Library& library) { op_ = library.convolution(spec_); }
  void load_weights(const Weights& weights) { op_->load_weights(weights[weight_]); }

  void forward(const void* x, void* y) const { op_->forward(x, y); }
  bool gives_sums() const { return op_->gives_sums(); }
  void forward_with_sums(const void* x, void* y, const ops::ChannelSums& sums) const {
    op_->forward_with_sums(x, y, sums);
  }
  void backward_input(const void* dy, void* dx) const { op_->backward_input(dy, dx); }
  bool sums_gradients() const { return op_->sums_gradients(); }
  void backward_input_with_sums(const void* dy, const ops::NormalisedInput& in,
                                const ops::NormalisedInputGradients& out) const {
    op_->backward_input_with_sums(dy, in, out);
  }
  void backward_weight(const Frame& frame, const void* x, const void* dy) const {
    op_->backward_weight(x, dy, frame.gradient(weight_));
  }
  bool normalises() const { return op_->normalises(); }
  void normalise_and_forward(const ops::NormalisedInput& in, void* y, const ops::ChannelSums& sums) const {
    op_->normalise_and_forward(in, y, sums);
  }
  void normalise_and_backward_weight(const Frame& frame, const ops::NormalisedInput& in, const void* dy) const {
    op_->normalise_and_backward_weight(in, dy, frame.gradient(weight_));
  }

 private:
  ops::ConvolutionSpec spec_;
  ParameterRef weight_;
  std::unique_ptr<ops::ConvolutionOp> op_;
};

/// y = relu(gamma * (x - mean) / sqrt(var + epsilon) + beta [+ residual])
/// The micro-batch's mean and unbiased variance go where the gradients of the running statistics are: the reducer sums
/// them over the step's micro-batches, the update averages them (one update a step).
/// In a frozen cell the running statistics stand for the micro-batch's, in backward too.
/// notes: mean, inv_std, var (C); backward reads x and y
/// keeps: the gradients, whose sums backward by input needs as well
class BatchNorm {
 public:
  BatchNorm(CellMemory& memory, const std::string& name, const ops::BatchNormSpec& spec);

  void plan(ops::Library& library) {
    op_ = library.batch_norm(spec_);
    elementwise_ = &library.elementwise();
  }

  /// `sums` of x where the convolution before has them. Training, y may be null: nobody reads it.
  void forward(const Frame& frame, const void* x, void* y, const void* residual = nullptr,
               const ops::ChannelSums& sums = {}) const;
  /// y once more, from what forward has noted.
  void recompute(const Frame& frame, const void* x, void* y) const;

  struct Gradients {
    const void* dy = nullptr;
    void* dx = nullptr;         ///< may be dy, unless there is a residual
    void* dresidual = nullptr;  ///< with a residual; may be dy
    bool summed = false;        ///< dy is what the convolution behind made of sum_places()
  };
  void backward(const Frame& frame, const void* x, const void* y, const Gradients& gradients) const;
  void backward_weight(const Frame& frame) const;

  const ops::BatchNormSpec& spec() const { return spec_; }
  /// For the convolution behind, where it goes on with this backward or does this forward's work itself.
  ops::NormalisedInput as_input(const Frame& frame, const void* x) const;
  ops::NormalisedInputGradients sum_places(const Frame& frame, void* g) const;

 private:
  float* gradient(const Frame& frame, ParameterRef p) const;

  ops::BatchNormSpec spec_;
  ParameterRef gamma_, beta_, running_mean_, running_var_;  ///< neighbours in the arena
  std::int64_t num_gradients_ = 0;                          ///< from gamma's to the variance's last, floats
  Noted mean_, inv_std_, var_unbiased_;
  Kept gradients_;
  std::unique_ptr<ops::BatchNormOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

class ConvBatchNorm;

struct ConvBatchNormSpec {
  std::string conv, bn;  ///< names: "layer1.0.conv1", "layer1.0.bn1"
  ops::ConvolutionSpec convolution;
  bool relu = true;
  bool residual = false;
  ConvBatchNorm* before = nullptr;  ///< whose y alone is x, with ReLU, without residual; null for any other x
};

/// a = conv(x)    y = relu(bn(a) [+ residual])
/// saves: a; notes what batch norm notes; backward reads x and y
/// keeps: da, and what batch norm keeps; backward by weight reads x
class ConvBatchNorm {
 public:
  ConvBatchNorm(CellMemory& memory, const ConvBatchNormSpec& spec);

  Shape y() const { return conv_.y(); }
  void plan(ops::Library& library) { conv_.plan(library), bn_.plan(library); }
  void load_weights(const Weights& weights) { conv_.load_weights(weights); }

  /// y stays unwritten, here and in recompute, where the convolution behind makes it of a as it reads it.
  void forward(const Frame& frame, const void* x, void* y, const void* residual = nullptr) const;
  /// a and y once more; without a residual.
  void recompute(const Frame& frame, const void* x, void* y) const;
  /// a alone, where y is the cell's output or not read by backward.
  void recompute(const Frame& frame, const void* x) const;

  /// Whether y is relu(bn(a)) and nothing else.
  bool has_plain_relu() const { return bn_.spec().relu && !bn_.spec().residual; }
  /// Whether backward's dx is not the whole gradient of x but masked by the ReLU before, whose batch norm's sums are
  /// done as well: the backward of `before` is told by Gradients::summed.
  bool sums_gradients_before(const Frame& frame) const;

  struct Gradients {
    const void* dy = nullptr;
    bool summed = false;        ///< what sums_gradients_before() of the layer behind says
    void* da = nullptr;         ///< a place for it, unless it is kept; may be dy, unless there is a residual
    void* dx = nullptr;         ///< null where nobody asks for it
    void* dresidual = nullptr;  ///< with a residual; may be dy
  };
  void backward(const Frame& frame, const void* x, const void* y, const Gradients& gradients) const;
  void backward_weight(const Frame& frame, const void* x) const;

 private:
  ops::ChannelSums convolve(const Frame& frame, const void* x) const;
  void convolve_by_weight(const Frame& frame, const void* x, const void* da) const;
  /// Whether nobody need write x: the convolution makes it of `before`'s a as it goes. With running statistics, in a
  /// frozen cell or an evaluation, each layer does its own work.
  bool normalises_x(const Frame& frame) const;
  bool leaves_y_to_the_next(const Frame& frame) const { return behind_ != nullptr && behind_->normalises_x(frame); }
  ops::NormalisedInput normalised_x(const Frame& frame) const;

  const ConvBatchNorm* before_;
  const ConvBatchNorm* behind_ = nullptr;  ///< whose `before` this is
  Convolution conv_;
  BatchNorm bn_;
  Saved a_;
  Kept da_;
  Scratch sum_, square_sum_;
};

/// y = x w^T + b    x (N,C)   w (K,C)   b (K)   y (N,K)
/// saves: nothing of its own; backward reads x
/// keeps: dy
class Linear {
 public:
  Linear(CellMemory& memory, const std::string& name, const ops::LinearSpec& spec);

  void plan(ops::Library& library) {
    op_ = library.linear(spec_);
    elementwise_ = &library.elementwise();
  }

  void forward(const Frame& frame, const void* x, float* y) const {
    op_->forward(x, frame.weights[weight_], frame[bias_], y);
  }
  void backward(const Frame& frame, const void* x, const void* dy, void* dx) const;
  void backward_weight(const Frame& frame, const void* x) const { backward_weight(frame, x, frame[dy_]); }

 private:
  void backward_weight(const Frame& frame, const void* x, const void* dy) const {
    op_->backward_weight(x, dy, frame.gradient(weight_), frame.gradient(bias_));
  }

  ops::LinearSpec spec_;
  ParameterRef weight_, bias_;
  Kept dy_;
  std::unique_ptr<ops::LinearOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace convoy
