/// The fully connected layer.
#pragma once

#include <memory>
#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// y = x w^T + b    x (N,1,1,C)   w (K,C): NAME.weight   b (K): NAME.bias   y (N,1,1,K), float32
Value linear(const std::string& name, const Value& x, std::int64_t num_outputs);

/// dx = dy w    dw = dy^T x    db = sum over N of dy
class Linear final : public Layer {
 public:
  Linear(CellMemory& memory, const std::string& name, const ops::LinearSpec& spec);

  bool has_weights() const override { return true; }
  bool backward_weight_reads_dy() const override { return true; }
  Reads read_by_backward_weight() const override { return {&x()}; }

  void create_ops(ops::Library& library) override { op_ = library.linear(spec_); }
  void forward(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;
  void backward_weight(const Frame& frame) const override;

 private:
  ops::LinearSpec spec_;
  ParameterRef weight_, bias_;
  std::unique_ptr<ops::LinearOp> op_;
};

}  // namespace convoy
