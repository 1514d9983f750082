/// Pyramidal cells, forward and backward mirrored.
#include "model/pyramidnet_cells.h"

#include "model/residual_cells.h"

namespace convoy {

// --- PyramidBlock ----------------------------------------------------------------------------------------------------

PyramidBlock::PyramidBlock(const PyramidBlockSpec& spec)
    : Cell(spec.name, spec.x, spec.type),
      bn1_(memory_, spec.name + ".bn1", {.x = spec.x}),
      conv1_(memory_, {.conv = spec.name + ".conv1",
                       .bn = spec.name + ".bn2",
                       .convolution = conv3x3(spec.x, spec.num_filters, spec.stride)}),
      conv2_(memory_, {.conv = spec.name + ".conv2",
                       .bn = spec.name + ".bn3",
                       .convolution = conv3x3(conv1_.y(), spec.num_filters),
                       .relu = false,
                       .residual = true,
                       .before = &conv1_}),
      padding_spec_{.x = spec.x, .stride = 1, .num_channels = spec.num_filters, .type = spec.type},
      a_(memory_.saved(spec.x)),
      b_(memory_.saved(conv1_.y())),
      dc_(memory_.scratch(conv2_.y())),
      db_(memory_.scratch(conv1_.y())),
      padded_(memory_.scratch(padding_spec_.y())),
      s_(memory_.scratch(conv2_.y())) {
  if (spec.stride > 1) pool_spec_ = ops::PoolingSpec{.x = padding_spec_.y(), .type = spec.type};
  set_output(conv2_.y());
}

void PyramidBlock::plan(ops::Library& library) {
  bn1_.plan(library);
  conv1_.plan(library);
  conv2_.plan(library);
  padding_ = library.shortcut(padding_spec_);
  if (pool_spec_) pool_ = library.average_pool(*pool_spec_);
}

void PyramidBlock::load_weights(const Weights& weights) {
  conv1_.load_weights(weights);
  conv2_.load_weights(weights);
}

void PyramidBlock::forward(const Frame& frame, const void* x, void* y) const {
  bn1_.forward(frame, x, frame[a_]);            // a = bn(x)                   (N,H,W,C)
  conv1_.forward(frame, frame[a_], frame[b_]);  // b = relu(bn(conv1(a)))      (N,P,Q,K)
  const void* s = forward_shortcut(frame, x);   // s                           (N,P,Q,K)
  conv2_.forward(frame, frame[b_], y, s);       // y = bn(conv2(b)) + s        (N,P,Q,K)
}

void PyramidBlock::recompute(const Frame& frame, const void* x) const {
  bn1_.recompute(frame, x, frame[a_]);
  conv1_.recompute(frame, frame[a_], frame[b_]);
  conv2_.recompute(frame, frame[b_]);  // the join is stored: y
}

void PyramidBlock::backward(const Frame& frame, const void* x, const void*, void* dy, void* dx) const {
  void* db = frame[db_];
  const bool summed = conv2_.sums_gradients_before(frame);
  conv2_.backward(frame, frame[b_], nullptr, {.dy = dy, .da = frame[dc_], .dx = db, .dresidual = dy});  // db; ds is dy
  conv1_.backward(frame, frame[a_], frame[b_], {.dy = db, .summed = summed, .da = db, .dx = dx});       // da, in dx
  bn1_.backward(frame, x, nullptr, {.dy = dx, .dx = dx});                                               // dx
  backward_shortcut(frame, dy, dx);  // dx += shortcut's
}

void PyramidBlock::backward_weight(const Frame& frame, const void*) const {
  conv2_.backward_weight(frame, frame[b_]);
  conv1_.backward_weight(frame, frame[a_]);
  bn1_.backward_weight(frame);
}

const void* PyramidBlock::forward_shortcut(const Frame& frame, const void* x) const {
  padding_->forward(x, frame[padded_]);
  if (!pool_) return frame[padded_];
  pool_->forward(frame[padded_], frame[s_]);
  return frame[s_];
}

void PyramidBlock::backward_shortcut(const Frame& frame, const void* ds, void* dx) const {
  if (pool_) {
    pool_->backward(ds, frame[padded_]);
    ds = frame[padded_];
  }
  padding_->backward(ds, dx);
}

// --- PyramidHead -----------------------------------------------------------------------------------------------------

PyramidHead::PyramidHead(const Shape& x, std::int64_t num_classes, DataType type)
    : Cell("head", x, type),
      bn_(memory_, "bn_final", {.x = x, .relu = true}),
      fc_(memory_, "fc", {.n = x.n, .num_inputs = x.c, .num_outputs = num_classes}),
      a_(memory_.saved(x)),
      mean_(memory_.noted({x.n, 1, 1, x.c})),
      da_(memory_.scratch(x)),
      dmean_(memory_.scratch({x.n, 1, 1, x.c})) {
  set_logits({x.n, 1, 1, num_classes});
}

void PyramidHead::plan(ops::Library& library) {
  bn_.plan(library);
  fc_.plan(library);
  pool_ = library.global_average_pool({.x = x(), .type = memory_.type()});
}

void PyramidHead::forward(const Frame& frame, const void* x, void* y) const {
  bn_.forward(frame, x, frame[a_]);                          // a = relu(bn(x))  (N,H,W,C)
  pool_->forward(frame[a_], frame[mean_]);                   // (N,C)
  fc_.forward(frame, frame[mean_], static_cast<float*>(y));  // (N,K)
}

void PyramidHead::recompute(const Frame& frame, const void* x) const {
  bn_.recompute(frame, x, frame[a_]);
}

void PyramidHead::backward(const Frame& frame, const void* x, const void*, void* dy, void* dx) const {
  fc_.backward(frame, frame[mean_], dy, frame[dmean_]);
  pool_->backward(frame[dmean_], frame[da_]);
  bn_.backward(frame, x, frame[a_], {.dy = frame[da_], .dx = dx});
}

void PyramidHead::backward_weight(const Frame& frame, const void*) const {
  fc_.backward_weight(frame, frame[mean_]);
  bn_.backward_weight(frame);
}

}  // namespace convoy
