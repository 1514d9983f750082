/// Binds the device's pooling to tensors.
#include "model/layers/pooling.h"

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

/// y = op(x), dx = op'(dy), for any operation that needs nothing else.
template <typename Op>
class OneToOne final : public Layer {
 public:
  explicit OneToOne(const typename Op::Spec& spec) : spec_(spec) {}

  std::string operation() const override { return Op::kName; }
  void create_ops(ops::Backend& backend) override { op_ = backend.create<Op>(spec_); }
  void forward(const Frame& frame) const override { op_->forward(frame[x().location], frame[y().location]); }
  void backward_input(const Frame& frame) const override { op_->backward(frame[dy()], frame[dx()]); }

 private:
  typename Op::Spec spec_;
  std::unique_ptr<Op> op_;
};

using AveragePool = OneToOne<ops::AveragePoolOp>;
using GlobalAveragePool = OneToOne<ops::GlobalAveragePoolOp>;

ops::PoolingSpec spec_of(const Value& x, const PoolingSettings& settings) {
  return {.x = x.shape(),
          .kernel = settings.kernel,
          .stride = settings.stride,
          .padding = settings.padding,
          .type = x.cell().type(),
          .counts_padding = settings.counts_padding};
}

Value add_average(const Value& x, const ops::PoolingSpec& spec) {
  return x.cell().add(std::make_unique<AveragePool>(spec), {{&x.tensor()}}, {.spec = {spec.y(), spec.type}});
}

}  // namespace

MaxPool::MaxPool(CellMemory& memory, const ops::PoolingSpec& spec)
    : spec_(spec), winner_(memory.statistic(spec.y().count())) {}

void MaxPool::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::MaxPoolOp>(spec_);
}

void MaxPool::forward(const Frame& frame) const {
  op_->forward(frame[x().location], frame[y().location], bytes_at(frame, winner_));
}

void MaxPool::backward_input(const Frame& frame) const {
  op_->backward(frame[dy()], bytes_at(frame, winner_), frame[dx()]);
}

Value max_pool(const Value& x, const PoolingSettings& settings) {
  const ops::PoolingSpec spec = spec_of(x, settings);
  return x.cell().add(std::make_unique<MaxPool>(x.cell().memory(), spec), {{&x.tensor()}},
                      {.spec = {spec.y(), spec.type}});
}

Value average_pool(const Value& x, const PoolingSettings& settings) {
  return add_average(x, spec_of(x, settings));
}

Value adaptive_average_pool(const Value& x, std::int64_t height, std::int64_t width) {
  return add_average(x, {.x = x.shape(), .type = x.cell().type(), .adaptive_h = height, .adaptive_w = width});
}

Value global_average_pool(const Value& x) {
  const DataType type = x.cell().type();
  return x.cell().add(std::make_unique<GlobalAveragePool>(ops::GlobalPoolingSpec{.x = x.shape(), .type = type}),
                      {{&x.tensor()}}, {.spec = {Shape::vectors(x.shape().n, x.shape().c), type}, .is_small = true});
}

}  // namespace convoy
