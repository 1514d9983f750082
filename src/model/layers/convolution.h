/// Convolution, with or without a bias.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "convoy/ops/broadcast.h"
#include "convoy/ops/convolution.h"

#include "model/cell_builder.h"

namespace convoy {

struct ConvolutionSettings {
  std::int64_t num_filters = 0;  ///< K, number of filters: channels of y
  std::int64_t kernel = 1;       ///< R = S, height and width of a filter
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;    ///< G, number of groups: each filter reads C/G channels
  std::int64_t dilation = 1;  ///< distance between the pixels that a filter reads
  bool bias = false;
  /// Distribution of the weights' initial values. By default it is that of He et al. 2015, "Delving deep", with
  /// fan-out: normal with variance 2 / (K R S), for any number of groups, as in torchvision. The bias's initial value
  /// is 0.
  std::optional<InitialValues> initial_weight = {};
};

/// Adds y = conv(x, w) [+ b]    x (N,H,W,C)   w (K,R,S,C/G): NAME.weight   b (K): NAME.bias   y (N,P,Q,K)
Value convolution(const std::string& name, const Value& x, const ConvolutionSettings& settings);
/// Adds a 3x3 convolution with padding 1 and without a bias. At stride 1, y has the height and width of x.
Value convolution_3x3(const std::string& name, const Value& x, std::int64_t num_filters, std::int64_t stride = 1);
Value convolution_1x1(const std::string& name, const Value& x, std::int64_t num_filters, std::int64_t stride = 1);

/// A convolution: y = conv(x, w) [+ b]. The gradient of the bias is the sum of dy over N, P and Q.
class Convolution final : public Layer {
 public:
  Convolution(CellMemory& memory, const std::string& name, const ConvolutionSettings& settings, const Shape& x);

  std::string operation() const override { return ops::ConvolutionOp::kName; }
  LayerFlop flop(bool is_split) const override;
  void connect(CellGraph& graph) override;
  void drop_backward() override { spec_.has_backward = false; }
  bool has_weights() const override { return true; }
  bool backward_weight_reads_dy() const override { return true; }
  Reads read_by_backward_weight() const override { return {&x()}; }

  Shape y_shape() const { return spec_.y(); }

  void create_ops(ops::Backend& backend) override;
  void load_weights(const Weights& weights) override { op_->load_weights(weights[weight_]); }
  std::vector<Buffer*> packed_weights() override { return op_->packed_weights(); }
  void forward(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;
  void backward_weight(const Frame& frame) const override;

 private:
  ops::ConvolutionSpec spec_;
  ParameterRef weight_;
  std::optional<ParameterRef> bias_;
  std::unique_ptr<ops::ConvolutionOp> op_;
  std::unique_ptr<ops::BroadcastOp> add_bias_;
};

}  // namespace convoy
