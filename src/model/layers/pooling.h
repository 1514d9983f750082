/// Pooling: layers without parameters that change the height and width of an image.
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
  bool counts_padding = false;  ///< average only: whether the mean counts the padding as zeros
};

/// Adds max pooling: y is the maximum over each window, in which padding never counts. Cell::create_ops() throws Error
/// if a window does not fit into the padded image, or if the kernel is larger than MaxPoolOp::kMaxKernel.
/// x (N,H,W,C)   y (N,P,Q,C) = PoolingSpec::y()
Value max_pool(const Value& x, const PoolingSettings& settings);

/// Max pooling. Its backward adds dy of each window to dx of the pixel that was the window's maximum.
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
  TensorLocation winner_;  ///< (N,P,Q,C), one byte each: index of the maximum within its window
  std::unique_ptr<ops::MaxPoolOp> op_;
};

inline std::uint8_t* bytes_at(const Frame& frame, const TensorLocation& location) {
  return reinterpret_cast<std::uint8_t*>(frame[location]);
}

/// Adds average pooling: y is the mean over each window, of the pixels inside the image or of the padding, too.
/// x (N,H,W,C)   y (N,P,Q,C)
Value average_pool(const Value& x, const PoolingSettings& settings);

/// Adds average pooling over windows that cover the image, as equal as possible (ops::PoolingSpec).
/// x (N,H,W,C)   y (N,height,width,C)
Value adaptive_average_pool(const Value& x, std::int64_t height, std::int64_t width);

/// Adds y, the mean over H and W.    x (N,H,W,C)   y (N,1,1,C)
Value global_average_pool(const Value& x);

}  // namespace convoy
