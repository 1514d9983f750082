/// Binds the device's copies of channels to tensors.
#include "model/layers/channels.h"

#include <memory>
#include <utility>
#include <vector>

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

/// Copies channels of each input to y.
class ChannelCopies final : public Layer {
 public:
  explicit ChannelCopies(std::vector<ops::ChannelCopySpec> specs) : specs_(std::move(specs)) {}

  std::string operation() const override { return ops::ChannelCopyOp::kName; }
  void create_ops(ops::Backend& backend) override {
    ops_.clear();
    for (const ops::ChannelCopySpec& spec : specs_) ops_.push_back(backend.create<ops::ChannelCopyOp>(spec));
  }
  void forward(const Frame& frame) const override {
    for (std::size_t i = 0; i < ops_.size(); ++i)
      ops_[i]->forward(frame[inputs[i].tensor->location], frame[y().location]);
  }
  void backward_input(const Frame& frame) const override {
    for (std::size_t i = 0; i < ops_.size(); ++i)
      if (inputs[i].dx != nullptr) ops_[i]->backward(frame[dy()], inputs[i].addend_in(frame), frame[*inputs[i].dx]);
  }

 private:
  std::vector<ops::ChannelCopySpec> specs_;  ///< one for each input
  std::vector<std::unique_ptr<ops::ChannelCopyOp>> ops_;
};

Value add_copy(const Value& x, const ops::ChannelCopySpec& spec) {
  return x.cell().add(std::make_unique<ChannelCopies>(std::vector{spec}), {{&x.tensor(), GradientRule::kAdds}},
                      {.spec = {spec.y(), spec.type}});
}

}  // namespace

Value concat(std::span<const Value> values) {
  CellBuilder& cell = values.front().cell();
  Shape y = values.front().shape();
  y.c = 0;
  for (const Value& value : values) y.c += value.shape().c;
  std::vector<ops::ChannelCopySpec> specs;
  std::vector<LayerInput> inputs;
  std::int64_t first = 0;
  for (const Value& value : values) {
    const Shape& x = value.shape();
    specs.push_back(
        {.x = x, .num_channels = y.c, .count = x.c, .y_first = first, .keeps_rest = true, .type = cell.type()});
    inputs.push_back({&value.tensor(), GradientRule::kWrites, /*can_add=*/true});
    first += x.c;
  }
  return cell.add(std::make_unique<ChannelCopies>(std::move(specs)), std::move(inputs), {.spec = {y, cell.type()}});
}

Value slice_channels(const Value& x, std::int64_t first, std::int64_t count) {
  return add_copy(x,
                  {.x = x.shape(), .num_channels = count, .count = count, .x_first = first, .type = x.cell().type()});
}

Value flatten(const Value& x) {
  const Shape& shape = x.shape();
  return x.as(Shape::vectors(shape.n, shape.length() * shape.c));
}

Value copy(const Value& x) {
  return slice_channels(x, 0, x.shape().c);
}

Value pad_channels(const Value& x, const ChannelPadding& padding) {
  return add_copy(x, {.x = x.shape(),
                      .num_channels = padding.num_channels,
                      .count = x.shape().c,
                      .y_first = padding.channels_before,
                      .stride = padding.stride,
                      .type = x.cell().type()});
}

}  // namespace convoy
