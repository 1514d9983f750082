/// A product is a broadcast of the device: one vector as long as both values, or one for all pixels of a sample.
#include "model/layers/product.h"

#include <memory>
#include <stdexcept>

#include <fmt/core.h>

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

/// da = dy * b    db = dy * a, or its sum over the pixels of each sample
class Product final : public Layer {
 public:
  explicit Product(const ops::BroadcastSpec& spec) : spec_(spec) {}

  std::string operation() const override { return "product"; }
  Reads read_by_backward_input(bool training) const override;

  void create_ops(ops::Backend& backend) override { op_ = backend.create<ops::BroadcastOp>(spec_); }
  void forward(const Frame& frame) const override {
    op_->forward(frame[x().location], frame[inputs[1].tensor->location], frame[y().location]);
  }
  void backward_input(const Frame& frame) const override {
    const auto gradient = [&](const LayerInput& in) { return in.dx == nullptr ? nullptr : frame[*in.dx]; };
    op_->backward({.dy = frame[dy()],
                   .x = frame[x().location],
                   .v = frame[inputs[1].tensor->location],
                   .dx = gradient(inputs[0]),
                   .dv = gradient(inputs[1])});
  }

 private:
  ops::BroadcastSpec spec_;
  std::unique_ptr<ops::BroadcastOp> op_;
};

// The gradient of each input needs the other one.
Reads Product::read_by_backward_input(bool /*training*/) const {
  Reads reads;
  if (inputs[0].rule != GradientRule::kNone) reads.push_back(inputs[1].tensor);
  if (inputs[1].rule != GradientRule::kNone) reads.push_back(inputs[0].tensor);
  return reads;
}

}  // namespace

bool can_multiply(const Shape& a, const Shape& b) {
  return a == b || (a.n == b.n && a.c == b.c && (a.length() == 1 || b.length() == 1));
}

Value operator*(const Value& a, const Value& b) {
  if (a.shape().length() < b.shape().length()) return b * a;
  if (!can_multiply(a.shape(), b.shape()))
    throw std::logic_error(
        fmt::format("a cell multiplies values of the shapes {} and {}", to_string(a.shape()), to_string(b.shape())));
  const DataType type = a.cell().type();
  ops::BroadcastSpec spec{.num_rows = 1,
                          .num_columns = a.shape().count(),
                          .kind = ops::BroadcastKind::kMultiply,
                          .type = type,
                          .vector_type = type};
  if (a.shape() != b.shape()) {
    spec.num_rows = a.shape().pixels();
    spec.num_columns = a.shape().c;
    spec.num_vectors = b.shape().n;
  }
  return a.cell().add(std::make_unique<Product>(spec),
                      {{&a.tensor(), GradientRule::kMayReplace}, {&b.tensor(), GradientRule::kWrites}},
                      {.spec = {a.shape(), type}});
}

}  // namespace convoy
