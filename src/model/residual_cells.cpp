/// Residual cells: each forward is the figure of the paper, each backward its mirror.
#include "model/residual_cells.h"

namespace convoy {

namespace {

ops::ConvolutionSpec conv3x3(const Shape& x, std::int64_t num_filters, std::int64_t stride = 1) {
  return {.x = x, .num_filters = num_filters, .kernel = 3, .stride = stride, .padding = 1};
}

ops::ConvolutionSpec conv1x1(const Shape& x, std::int64_t num_filters, std::int64_t stride = 1) {
  return {.x = x, .num_filters = num_filters, .kernel = 1, .stride = stride, .padding = 0};
}

ops::BatchNormSpec bn_relu(const Shape& x) {
  return {.x = x, .relu = true};
}
ops::BatchNormSpec bn_add_relu(const Shape& x) {
  return {.x = x, .relu = true, .residual = true};
}

// The network's first layer: nobody asks for the images' gradient.
ops::ConvolutionSpec first_layer(ops::ConvolutionSpec spec) {
  spec.needs_dx = false;
  return spec;
}

}  // namespace

// --- ImageNetStem ----------------------------------------------------------------------------------------------------

ImageNetStem::ImageNetStem(const Shape& x, std::int64_t num_filters, DataType type)
    : Cell("stem", x, type),
      conv1_(memory_, "conv1",
             first_layer({.x = x, .num_filters = num_filters, .kernel = 7, .stride = 2, .padding = 3})),
      bn1_(memory_, "bn1", bn_relu(conv1_.y())),
      pool_spec_{.x = conv1_.y(), .kernel = 3, .stride = 2, .padding = 1, .type = type},
      a_(memory_.saved(conv1_.y())),
      b_(memory_.saved(conv1_.y())),
      winner_(memory_.saved_bytes(pool_spec_.y().count())),
      db_(memory_.scratch(conv1_.y())) {
  set_output(pool_spec_.y());
}

void ImageNetStem::plan(ops::Library& library) {
  conv1_.plan(library);
  bn1_.plan(library);
  pool_ = library.max_pool(pool_spec_);
}

void ImageNetStem::forward(const Frame& frame, const void* x, void* y) const {
  conv1_.forward(x, frame[a_]);               // a  (N,P,Q,K)
  bn1_.forward(frame, frame[a_], frame[b_]);  // b = relu(bn(a))
  pool_->forward(frame[b_], y, frame.bytes(winner_));
}

void ImageNetStem::backward(const Frame& frame, const void* x, const void*, void* dy, void* dx) const {
  pool_->backward(dy, frame.bytes(winner_), frame[db_]);
  bn1_.backward(frame, frame[a_], frame[b_], frame[db_], frame[db_]);  // da over db
  conv1_.backward(frame, x, frame[db_], dx);
}

// --- SmallImageStem --------------------------------------------------------------------------------------------------

SmallImageStem::SmallImageStem(const Shape& x, std::int64_t num_filters, DataType type)
    : Cell("stem", x, type),
      conv1_(memory_, "conv1", first_layer(conv3x3(x, num_filters))),
      bn1_(memory_, "bn1", bn_relu(conv1_.y())),
      a_(memory_.saved(conv1_.y())) {
  set_output(conv1_.y());
}

void SmallImageStem::plan(ops::Library& library) {
  conv1_.plan(library);
  bn1_.plan(library);
}

void SmallImageStem::forward(const Frame& frame, const void* x, void* y) const {
  conv1_.forward(x, frame[a_]);       // a  (N,P,Q,K)
  bn1_.forward(frame, frame[a_], y);  // y = relu(bn(a))
}

void SmallImageStem::backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const {
  bn1_.backward(frame, frame[a_], y, dy, dy);  // da over dy
  conv1_.backward(frame, x, dy, dx);
}

// --- BlockShortcut ---------------------------------------------------------------------------------------------------

BlockShortcut::BlockShortcut(CellMemory& memory, const BlockSpec& spec, const Shape& y)
    : x_(spec.x), type_(memory.type()) {
  if (spec.x == y) return;
  s_ = memory.scratch(y);
  if (spec.shortcut == ShortcutKind::kPadding) {
    padding_spec_ = ops::ShortcutSpec{.x = spec.x, .stride = spec.stride, .num_channels = y.c, .type = type_};
    return;
  }
  projection_.emplace(
      Projection{.conv = Convolution(memory, spec.name + ".downsample.0", conv1x1(spec.x, y.c, spec.stride)),
                 .bn = BatchNorm(memory, spec.name + ".downsample.1", {.x = y}),
                 .d = memory.saved(y),
                 .dx_part = memory.scratch(spec.x)});
}

void BlockShortcut::plan(ops::Library& library) {
  elementwise_ = &library.elementwise();
  if (padding_spec_) padding_ = library.shortcut(*padding_spec_);
  if (projection_) {
    projection_->conv.plan(library);
    projection_->bn.plan(library);
  }
}

void BlockShortcut::load_weights(const Weights& weights) {
  if (projection_) projection_->conv.load_weights(weights);
}

const void* BlockShortcut::forward(const Frame& frame, const void* x) const {
  if (padding_) {
    padding_->forward(x, frame[s_]);
    return frame[s_];
  }
  if (projection_) {
    projection_->conv.forward(x, frame[projection_->d]);
    projection_->bn.forward(frame, frame[projection_->d], frame[s_]);
    return frame[s_];
  }
  return x;
}

void BlockShortcut::backward(const Frame& frame, const void* x, void* ds, void* dx) const {
  if (padding_) {
    padding_->backward(ds, dx);
  } else if (projection_) {
    void* dx_part = frame[projection_->dx_part];
    projection_->bn.backward(frame, frame[projection_->d], nullptr, ds, ds);  // dd over ds
    projection_->conv.backward(frame, x, ds, dx_part);
    elementwise_->add(type_, dx, dx_part, dx, x_.count());
  } else {
    elementwise_->add(type_, dx, ds, dx, x_.count());
  }
}

// --- BasicBlock ------------------------------------------------------------------------------------------------------

BasicBlock::BasicBlock(const BlockSpec& spec)
    : Cell(spec.name, spec.x, spec.type),
      conv1_(memory_, spec.name + ".conv1", conv3x3(spec.x, spec.num_filters, spec.stride)),
      bn1_(memory_, spec.name + ".bn1", bn_relu(conv1_.y())),
      conv2_(memory_, spec.name + ".conv2", conv3x3(conv1_.y(), spec.num_filters)),
      bn2_(memory_, spec.name + ".bn2", bn_add_relu(conv2_.y())),
      shortcut_(memory_, spec, conv2_.y()),
      a_(memory_.saved(conv1_.y())),
      b_(memory_.saved(conv1_.y())),
      c_(memory_.saved(conv2_.y())),
      dc_(memory_.scratch(conv2_.y())),
      db_(memory_.scratch(conv1_.y())) {
  set_output(conv2_.y());
}

void BasicBlock::plan(ops::Library& library) {
  conv1_.plan(library);
  bn1_.plan(library);
  conv2_.plan(library);
  bn2_.plan(library);
  shortcut_.plan(library);
}

void BasicBlock::load_weights(const Weights& weights) {
  conv1_.load_weights(weights);
  conv2_.load_weights(weights);
  shortcut_.load_weights(weights);
}

void BasicBlock::forward(const Frame& frame, const void* x, void* y) const {
  conv1_.forward(x, frame[a_]);                 // a  (N,P,Q,K)
  bn1_.forward(frame, frame[a_], frame[b_]);    // b = relu(bn(a))
  conv2_.forward(frame[b_], frame[c_]);         // c  (N,P,Q,K)
  const void* s = shortcut_.forward(frame, x);  // s  (N,P,Q,K)
  bn2_.forward(frame, frame[c_], y, s);         // y = relu(bn(c) + s)
}

void BasicBlock::backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const {
  void* dc = frame[dc_];
  void* db = frame[db_];
  bn2_.backward(frame, frame[c_], y, dy, dc, dy);      // dc, and ds over dy
  conv2_.backward(frame, frame[b_], dc, db);           // db
  bn1_.backward(frame, frame[a_], frame[b_], db, db);  // da over db
  conv1_.backward(frame, x, db, dx);                   // dx
  shortcut_.backward(frame, x, dy, dx);                // dx += shortcut's
}

// --- Bottleneck ------------------------------------------------------------------------------------------------------

Bottleneck::Bottleneck(const BlockSpec& spec)
    : Cell(spec.name, spec.x, spec.type),
      conv1_(memory_, spec.name + ".conv1", conv1x1(spec.x, spec.num_filters)),
      bn1_(memory_, spec.name + ".bn1", bn_relu(conv1_.y())),
      conv2_(memory_, spec.name + ".conv2", conv3x3(conv1_.y(), spec.num_filters, spec.stride)),
      bn2_(memory_, spec.name + ".bn2", bn_relu(conv2_.y())),
      conv3_(memory_, spec.name + ".conv3", conv1x1(conv2_.y(), kExpansion * spec.num_filters)),
      bn3_(memory_, spec.name + ".bn3", bn_add_relu(conv3_.y())),
      shortcut_(memory_, spec, conv3_.y()),
      a_(memory_.saved(conv1_.y())),
      b_(memory_.saved(conv1_.y())),
      c_(memory_.saved(conv2_.y())),
      d_(memory_.saved(conv2_.y())),
      e_(memory_.saved(conv3_.y())),
      de_(memory_.scratch(conv3_.y())),
      dd_(memory_.scratch(conv2_.y())),
      db_(memory_.scratch(conv1_.y())) {
  set_output(conv3_.y());
}

void Bottleneck::plan(ops::Library& library) {
  conv1_.plan(library);
  bn1_.plan(library);
  conv2_.plan(library);
  bn2_.plan(library);
  conv3_.plan(library);
  bn3_.plan(library);
  shortcut_.plan(library);
}

void Bottleneck::load_weights(const Weights& weights) {
  conv1_.load_weights(weights);
  conv2_.load_weights(weights);
  conv3_.load_weights(weights);
  shortcut_.load_weights(weights);
}

void Bottleneck::forward(const Frame& frame, const void* x, void* y) const {
  conv1_.forward(x, frame[a_]);                 // a  (N,H,W,K)
  bn1_.forward(frame, frame[a_], frame[b_]);    // b = relu(bn(a))
  conv2_.forward(frame[b_], frame[c_]);         // c  (N,P,Q,K)
  bn2_.forward(frame, frame[c_], frame[d_]);    // d = relu(bn(c))
  conv3_.forward(frame[d_], frame[e_]);         // e  (N,P,Q,4K)
  const void* s = shortcut_.forward(frame, x);  // s  (N,P,Q,4K)
  bn3_.forward(frame, frame[e_], y, s);         // y = relu(bn(e) + s)
}

void Bottleneck::backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const {
  void* de = frame[de_];
  void* dd = frame[dd_];
  void* db = frame[db_];
  bn3_.backward(frame, frame[e_], y, dy, de, dy);      // de, and ds over dy
  conv3_.backward(frame, frame[d_], de, dd);           // dd
  bn2_.backward(frame, frame[c_], frame[d_], dd, dd);  // dc over dd
  conv2_.backward(frame, frame[b_], dd, db);           // db
  bn1_.backward(frame, frame[a_], frame[b_], db, db);  // da over db
  conv1_.backward(frame, x, db, dx);                   // dx
  shortcut_.backward(frame, x, dy, dx);                // dx += shortcut's
}

// --- ClassifierHead --------------------------------------------------------------------------------------------------

ClassifierHead::ClassifierHead(const Shape& x, std::int64_t num_classes, DataType type)
    : Cell("head", x, type),
      fc_(memory_, "fc", {.n = x.n, .num_inputs = x.c, .num_outputs = num_classes}),
      mean_(memory_.saved({x.n, 1, 1, x.c})),
      dmean_(memory_.scratch({x.n, 1, 1, x.c})) {
  set_logits({x.n, 1, 1, num_classes});
}

void ClassifierHead::plan(ops::Library& library) {
  pool_ = library.global_average_pool({.x = x(), .type = memory_.type()});
  fc_.plan(library);
}

void ClassifierHead::forward(const Frame& frame, const void* x, void* y) const {
  pool_->forward(x, frame[mean_]);                           // (N,C)
  fc_.forward(frame, frame[mean_], static_cast<float*>(y));  // (N,K)
}

void ClassifierHead::backward(const Frame& frame, const void*, const void*, void* dy, void* dx) const {
  fc_.backward(frame, frame[mean_], dy, frame[dmean_]);
  pool_->backward(frame[dmean_], dx);
}

}  // namespace convoy
