/// Layers without parameters that change an image's size: maxima and means over windows, the mean over the image, zero
/// channels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/ops/pooling.h"

#include "model/cell_builder.h"

namespace convoy {

struct PoolingSettings {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
};

/// The maximum over each window.    x (N,H,W,C)   y (N,P,Q,C)
Value max_pool(const Value& x, const PoolingSettings& settings);

/// A max pooling. In backward dy of each window goes to the position of its maximum.
class MaxPool final : public Layer {
 public:
  MaxPool(CellMemory& memory, const ops::PoolingSpec& spec);

  const ops::PoolingSpec& spec() const { return spec_; }
  const TensorLocation& winner() const { return winner_; }
  std::string operation() const override { return ops::MaxPoolOp::kName; }

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;

 private:
  ops::PoolingSpec spec_;
  TensorLocation winner_;  ///< (N,P,Q,C) bytes: the maximum's index in its window
  std::unique_ptr<ops::MaxPoolOp> op_;
};

inline std::uint8_t* bytes_at(const Frame& frame, const TensorLocation& location) {
  return reinterpret_cast<std::uint8_t*>(frame[location]);
}

/// The mean over each window's pixels inside the image.    x (N,H,W,C)   y (N,P,Q,C)
Value average_pool(const Value& x, const PoolingSettings& settings);

/// The mean over H and W.    x (N,H,W,C)   y (N,1,1,C)
Value global_average_pool(const Value& x);

struct ChannelPadding {
  std::int64_t num_channels = 0;     ///< K >= C
  std::int64_t channels_before = 0;  ///< number of the K - C zero channels that come before x's; the others come after
  std::int64_t stride = 1;           ///< takes every stride-th pixel in each direction
};

/// x with zero channels added.    x (N,H,W,C)   y (N,P,Q,K)
/// Backward adds to the gradient of x: another reader of x must write it first.
Value pad_channels(const Value& x, const ChannelPadding& padding);

}  // namespace convoy
