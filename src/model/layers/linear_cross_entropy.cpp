/// Computes block after block in scratch memory: logits, their gradient (in the same place if the types allow it), and
/// the block's part of the weights' gradients.
#include "model/layers/linear_cross_entropy.h"

#include <algorithm>

#include "convoy/ops/elementwise.h"
#include "convoy/ops/operations.h"

#include "model/layers/linear.h"

namespace convoy {

namespace {

constexpr std::int64_t kMaxRows = 512;  // of a block: products of this many rows are as fast as of more
constexpr std::int64_t kAlignmentBytes = 64;

class LinearCrossEntropy final : public Layer {
 public:
  LinearCrossEntropy(CellBuilder& cell, const std::string& name, const Shape& x, std::int64_t num_classes);

  std::string operation() const override { return "linear layer and cross-entropy"; }
  /// Each backward computes the logits again. A joint backward does all its work in the part for x.
  LayerFlop flop(bool is_split) const override {
    const double flop = static_cast<double>(num_blocks_) * linear_spec_.forward_flop();
    return {
        .forward = flop, .input_gradient = is_split ? 2 * flop : 3 * flop, .weight_gradient = is_split ? 2 * flop : 0};
  }
  bool has_weights() const override { return true; }
  bool backward_weight_reads_dy() const override { return true; }
  Reads read_by_backward_input(bool /*training*/) const override { return {&x(), inputs[1].tensor}; }
  Reads read_by_backward_weight() const override { return {&x(), inputs[1].tensor}; }
  std::int64_t forward_scratch_bytes() const override { return logits_bytes_; }
  std::int64_t backward_scratch_bytes() const override {
    return block_gradients_offset_ + (num_blocks_ > 1 ? (num_weights() + num_biases()) * kFloatBytes : 0);
  }

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  /// Computes the gradient of x and, in a joint backward, also the weights' gradients: so a block's logits are computed
  /// again only once.
  void backward_input(const Frame& frame) const override;
  void backward_weight(const Frame& frame) const override;

 private:
  /// The addresses of a block's tensors.
  struct Block {
    const std::byte* x;
    const std::int32_t* labels;
    std::int64_t begin;  ///< its first sample
  };
  Block block(const Frame& frame, std::int64_t b) const;
  void compute_logits(const Frame& frame, const Block& of, std::byte* logits) const;
  /// Computes the gradients of a block's logits in the scratch of backward.
  const std::byte* compute_dlogits(const Frame& frame, const Block& of) const;
  void add_weight_gradients(const Frame& frame, std::int64_t b, const std::byte* dlogits) const;

  std::int64_t rows_of_block() const { return linear_spec_.n; }
  std::int64_t num_weights() const { return round_up(linear_spec_.num_outputs * linear_spec_.num_inputs, 16); }
  std::int64_t num_biases() const { return linear_spec_.num_outputs; }

  LinearParameters parameters_;
  ops::LinearSpec linear_spec_;       ///< for one block
  ops::SampleCrossEntropySpec spec_;  ///< for one block
  std::int64_t num_blocks_;
  std::int64_t logits_bytes_;  ///< of a block, rounded up
  // Offsets in the scratch of backward.
  std::int64_t dlogits_offset_;          ///< 0: gradients replace the logits
  std::int64_t block_gradients_offset_;  ///< of the weights' and biases' gradients of one block, if there are several
  std::unique_ptr<ops::LinearOp> linear_;
  std::unique_ptr<ops::SampleCrossEntropyOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

LinearCrossEntropy::LinearCrossEntropy(CellBuilder& cell, const std::string& name, const Shape& x,
                                       std::int64_t num_classes)
    : parameters_(add_linear_parameters(
          cell, x.c, {.weight = name + ".weight", .bias = name + ".bias", .num_outputs = num_classes})) {
  const std::int64_t length = x.length(), num_samples = samples_of_block(x.n, length);
  num_blocks_ = x.n / num_samples;
  linear_spec_ = {
      .n = num_samples * length, .num_inputs = x.c, .num_outputs = num_classes, .type = cell.type()};  // y in float32
  spec_ = {.n = num_samples, .num_rows = length, .num_classes = num_classes, .type = cell.type()};
  logits_bytes_ = round_up(rows_of_block() * num_classes * kFloatBytes, kAlignmentBytes);
  dlogits_offset_ = cell.type() == DataType::kFloat32 ? 0 : logits_bytes_;
  block_gradients_offset_ =
      dlogits_offset_ + round_up(rows_of_block() * num_classes * size_of(cell.type()), kAlignmentBytes);
}

void LinearCrossEntropy::create_ops(ops::Backend& backend) {
  linear_ = backend.create<ops::LinearOp>(linear_spec_);
  op_ = backend.create<ops::SampleCrossEntropyOp>(spec_);
  elementwise_ = &backend.elementwise();
}

LinearCrossEntropy::Block LinearCrossEntropy::block(const Frame& frame, std::int64_t b) const {
  const std::int64_t first_row = b * rows_of_block();
  return {.x = frame[x().location] + first_row * linear_spec_.num_inputs * size_of(linear_spec_.type),
          .labels = reinterpret_cast<const std::int32_t*>(frame[inputs[1].tensor->location]) + first_row,
          .begin = b * spec_.n};
}

void LinearCrossEntropy::compute_logits(const Frame& frame, const Block& of, std::byte* logits) const {
  linear_->forward(of.x, frame.weights[parameters_.weight], frame[parameters_.bias], {.y = logits});
}

void LinearCrossEntropy::forward(const Frame& frame) const {
  auto* const scores = reinterpret_cast<ops::SampleScore*>(frame[y().location]);
  std::byte* const logits = frame[forward_scratch];
  for (std::int64_t b = 0; b < num_blocks_; ++b) {
    const Block of = block(frame, b);
    compute_logits(frame, of, logits);
    op_->forward(reinterpret_cast<const float*>(logits), of.labels, scores + of.begin);
  }
}

const std::byte* LinearCrossEntropy::compute_dlogits(const Frame& frame, const Block& of) const {
  std::byte* const logits = frame[backward_scratch];
  compute_logits(frame, of, logits);
  op_->backward(reinterpret_cast<const float*>(logits), of.labels,
                reinterpret_cast<const ops::SampleScore*>(frame[dy()]) + of.begin, logits + dlogits_offset_);
  return logits + dlogits_offset_;
}

void LinearCrossEntropy::add_weight_gradients(const Frame& frame, std::int64_t b, const std::byte* dlogits) const {
  float* const dw = frame.gradient(parameters_.weight);
  float* const db = frame.gradient(parameters_.bias);
  if (b == 0) return linear_->backward_weight(block(frame, b).x, dlogits, dw, db);
  auto* const own_dw = reinterpret_cast<float*>(frame[backward_scratch] + block_gradients_offset_);
  float* const own_db = own_dw + num_weights();
  linear_->backward_weight(block(frame, b).x, dlogits, own_dw, own_db);
  elementwise_->add(DataType::kFloat32, dw, own_dw, dw, linear_spec_.num_outputs * linear_spec_.num_inputs);
  elementwise_->add(DataType::kFloat32, db, own_db, db, num_biases());
}

void LinearCrossEntropy::backward_input(const Frame& frame) const {
  const bool with_weights = frame.gradients != nullptr && !frame.splits_backward();
  const std::int64_t bytes = rows_of_block() * linear_spec_.num_inputs * size_of(linear_spec_.type);
  for (std::int64_t b = 0; b < num_blocks_; ++b) {
    const std::byte* const dlogits = compute_dlogits(frame, block(frame, b));
    if (wants_dx()) linear_->backward_input(dlogits, frame.weights[parameters_.weight], frame[dx()] + b * bytes);
    if (with_weights) add_weight_gradients(frame, b, dlogits);
  }
}

void LinearCrossEntropy::backward_weight(const Frame& frame) const {
  if (!frame.splits_backward()) return;
  for (std::int64_t b = 0; b < num_blocks_; ++b)
    add_weight_gradients(frame, b, compute_dlogits(frame, block(frame, b)));
}

}  // namespace

std::int64_t samples_of_block(std::int64_t num_samples, std::int64_t rows_of_sample) {
  std::int64_t samples = std::clamp<std::int64_t>(kMaxRows / rows_of_sample, 1, num_samples);
  while (num_samples % samples != 0) --samples;
  return samples;
}

Value linear_cross_entropy(const std::string& name, const Value& x, const Value& labels, std::int64_t num_classes) {
  CellBuilder& cell = x.cell();
  return cell.add(std::make_unique<LinearCrossEntropy>(cell, name, x.shape(), num_classes),
                  {{&x.tensor()}, {&labels.tensor(), GradientRule::kNone}},
                  {.spec = {Shape::vectors(x.shape().n, 3), DataType::kFloat32}, .gradient_type = DataType::kFloat32});
}

}  // namespace convoy
