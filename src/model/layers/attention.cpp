/// Attention between two linear layers; the logarithms of its sums are stored for backward.
#include "model/layers/attention.h"

#include <cmath>

#include "convoy/ops/operations.h"

#include "model/layers/linear.h"

namespace convoy {

namespace {

class Attention final : public Layer {
 public:
  Attention(CellMemory& memory, const ops::AttentionSpec& spec)
      : spec_(spec),
        log_sum_exp_(
            memory.statistic(spec.n * spec.num_heads * spec.length * static_cast<std::int64_t>(sizeof(float)))) {}

  std::string operation() const override { return ops::AttentionOp::kName; }
  /// Backward needs five products, one of which repeats one of forward's two.
  LayerFlop flop(bool /*is_split*/) const override {
    return {.forward = spec_.forward_flop(), .input_gradient = 2.5 * spec_.forward_flop()};
  }
  Reads read_by_backward_input(bool /*training*/) const override {
    return has_lengths() ? Reads{&x(), &y(), inputs[1].tensor} : Reads{&x(), &y()};
  }

  void create_ops(ops::Backend& backend) override { op_ = backend.create<ops::AttentionOp>(spec_); }
  void forward(const Frame& frame) const override {
    op_->forward({.qkv = frame[x().location],
                  .lengths = lengths(frame),
                  .key = key(frame),
                  .y = frame[y().location],
                  .log_sum_exp = log_sum_exp(frame)});
  }
  void backward_input(const Frame& frame) const override {
    op_->backward({.dy = frame[dy()],
                   .qkv = frame[x().location],
                   .y = frame[y().location],
                   .log_sum_exp = log_sum_exp(frame),
                   .lengths = lengths(frame),
                   .key = key(frame),
                   .dqkv = frame[dx()]});
  }

 private:
  bool has_lengths() const { return inputs.size() > 1; }
  const std::int32_t* lengths(const Frame& frame) const {
    return has_lengths() ? reinterpret_cast<const std::int32_t*>(frame[inputs[1].tensor->location]) : nullptr;
  }
  const ops::DrawKey* key(const Frame& frame) const {
    return frame.training && spec_.dropout > 0 ? frame.draw_key : nullptr;
  }
  float* log_sum_exp(const Frame& frame) const { return reinterpret_cast<float*>(frame[log_sum_exp_]); }

  ops::AttentionSpec spec_;
  TensorLocation log_sum_exp_;  ///< (N,H,T)
  std::unique_ptr<ops::AttentionOp> op_;
};

// qkv (N,T,1,3C)   y (N,T,1,C)
Value attention(const Value& qkv, const Value* lengths, const AttentionSettings& settings) {
  CellBuilder& cell = qkv.cell();
  const Shape& shape = qkv.shape();
  const std::int64_t width = shape.c / 3;
  const ops::AttentionSpec spec{.n = shape.n,
                                .length = shape.length(),
                                .num_heads = settings.num_heads,
                                .head_width = width / settings.num_heads,
                                .dropout = static_cast<float>(settings.dropout),
                                .layer = settings.dropout > 0 ? cell.number_of_drawing_layer() : 0,
                                .type = cell.type()};
  std::vector<LayerInput> inputs = {{&qkv.tensor()}};
  if (lengths != nullptr) inputs.push_back({&lengths->tensor(), GradientRule::kNone});
  return cell.add(std::make_unique<Attention>(cell.memory(), spec), std::move(inputs),
                  {.spec = {Shape::sequences(shape.n, spec.length, width), cell.type()}});
}

// Attention between in_proj and out_proj; `lengths` may be null.
Value between_projections(const std::string& name, const Value& x, const Value* lengths,
                          const AttentionSettings& settings) {
  const std::int64_t c = x.shape().c;
  // Glorot, Bengio 2010: uniform within sqrt(6 / (fan-in + fan-out)).
  const double within = std::sqrt(6.0 / static_cast<double>(c + 3 * c));
  const Value qkv = linear(x, {.weight = name + ".in_proj_weight",
                               .bias = name + ".in_proj_bias",
                               .num_outputs = 3 * c,
                               .initial_weight = InitialValues{InitialValues::Kind::kUniform, within},
                               .initial_bias = InitialValues{}});
  return linear(attention(qkv, lengths, settings), {.weight = name + ".out_proj.weight",
                                                    .bias = name + ".out_proj.bias",
                                                    .num_outputs = c,
                                                    .initial_bias = InitialValues{}});
}

}  // namespace

Value self_attention(const std::string& name, const Value& x, const Value& lengths, const AttentionSettings& settings) {
  return between_projections(name, x, &lengths, settings);
}

Value self_attention(const std::string& name, const Value& x, const AttentionSettings& settings) {
  return between_projections(name, x, nullptr, settings);
}

}  // namespace convoy
