/// Residual cells: each forward is the figure of the paper, each backward its mirror.
#include "model/residual_cells.h"

namespace convoy {

ops::ConvolutionSpec conv3x3(const Shape& x, std::int64_t num_filters, std::int64_t stride) {
  return {.x = x, .num_filters = num_filters, .kernel = 3, .stride = stride, .padding = 1};
}

namespace {

ops::ConvolutionSpec conv1x1(const Shape& x, std::int64_t num_filters, std::int64_t stride = 1) {
  return {.x = x, .num_filters = num_filters, .kernel = 1, .stride = stride, .padding = 0};
}

// The network's first layer: nobody asks for the images' gradient.
ops::ConvolutionSpec first_layer(ops::ConvolutionSpec spec) {
  spec.needs_dx = false;
  return spec;
}

// The k-th of a block, with torchvision's names: conv1 and bn1, ...
ConvBatchNormSpec kth(int k, const BlockSpec& block, const ops::ConvolutionSpec& convolution) {
  return {.conv = fmt::format("{}.conv{}", block.name, k),
          .bn = fmt::format("{}.bn{}", block.name, k),
          .convolution = convolution};
}

// It reads the one before and nothing else does.
ConvBatchNormSpec behind(ConvBatchNorm& before, ConvBatchNormSpec spec) {
  spec.before = &before;
  return spec;
}

// The last of a block: the shortcut joins before the ReLU.
ConvBatchNormSpec joining(ConvBatchNormSpec spec) {
  spec.residual = true;
  return spec;
}

}  // namespace

// --- ImageNetStem ----------------------------------------------------------------------------------------------------

ImageNetStem::ImageNetStem(const Shape& x, std::int64_t num_filters, DataType type)
    : Cell("stem", x, type),
      conv1_(memory_, {.conv = "conv1",
                       .bn = "bn1",
                       .convolution =
                           first_layer({.x = x, .num_filters = num_filters, .kernel = 7, .stride = 2, .padding = 3})}),
      pool_spec_{.x = conv1_.y(), .kernel = 3, .stride = 2, .padding = 1, .type = type},
      b_(memory_.saved(conv1_.y())),
      winner_(memory_.noted_bytes(pool_spec_.y().count())),
      db_(memory_.scratch(conv1_.y())) {
  set_output(pool_spec_.y());
}

void ImageNetStem::plan(ops::Library& library) {
  conv1_.plan(library);
  pool_ = library.max_pool(pool_spec_);
}

void ImageNetStem::forward(const Frame& frame, const void* x, void* y) const {
  conv1_.forward(frame, x, frame[b_]);  // b = relu(bn(conv(x)))
  pool_->forward(frame[b_], y, frame.bytes(winner_));
}

void ImageNetStem::recompute(const Frame& frame, const void* x) const {
  conv1_.recompute(frame, x, frame[b_]);
}

void ImageNetStem::backward(const Frame& frame, const void* x, const void*, void* dy, void* dx) const {
  void* db = frame[db_];
  pool_->backward(dy, frame.bytes(winner_), db);
  conv1_.backward(frame, x, frame[b_], {.dy = db, .da = db, .dx = dx});
}

void ImageNetStem::backward_weight(const Frame& frame, const void* x) const {
  conv1_.backward_weight(frame, x);
}

// --- SmallImageStem --------------------------------------------------------------------------------------------------

SmallImageStem::SmallImageStem(const SmallImageStemSpec& spec)
    : Cell("stem", spec.x, spec.type),
      conv1_(memory_, {.conv = "conv1",
                       .bn = "bn1",
                       .convolution = first_layer(conv3x3(spec.x, spec.num_filters)),
                       .relu = spec.relu}) {
  set_output(conv1_.y());
}

void SmallImageStem::plan(ops::Library& library) {
  conv1_.plan(library);
}

void SmallImageStem::forward(const Frame& frame, const void* x, void* y) const {
  conv1_.forward(frame, x, y);
}

void SmallImageStem::recompute(const Frame& frame, const void* x) const {
  conv1_.recompute(frame, x);  // y is stored
}

void SmallImageStem::backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const {
  conv1_.backward(frame, x, y, {.dy = dy, .da = dy, .dx = dx});
}

void SmallImageStem::backward_weight(const Frame& frame, const void* x) const {
  conv1_.backward_weight(frame, x);
}

// --- BlockShortcut ---------------------------------------------------------------------------------------------------

BlockShortcut::BlockShortcut(CellMemory& memory, const BlockSpec& spec, const Shape& y)
    : x_(spec.x), type_(memory.type()) {
  if (spec.x == y) return;
  s_ = memory.scratch(y);
  if (spec.shortcut == ShortcutKind::kPadding) {
    padding_spec_ = ops::ShortcutSpec{.x = spec.x,
                                      .stride = spec.stride,
                                      .num_channels = y.c,
                                      .channels_before = (y.c - spec.x.c) / 2,
                                      .type = type_};
    return;
  }
  projection_.emplace(Projection{.conv = ConvBatchNorm(memory, {.conv = spec.name + ".downsample.0",
                                                                .bn = spec.name + ".downsample.1",
                                                                .convolution = conv1x1(spec.x, y.c, spec.stride),
                                                                .relu = false}),
                                 .dx_part = memory.scratch(spec.x)});
}

void BlockShortcut::plan(ops::Library& library) {
  elementwise_ = &library.elementwise();
  if (padding_spec_) padding_ = library.shortcut(*padding_spec_);
  if (projection_) projection_->conv.plan(library);
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
    projection_->conv.forward(frame, x, frame[s_]);
    return frame[s_];
  }
  return x;
}

void BlockShortcut::recompute(const Frame& frame, const void* x) const {
  if (projection_) projection_->conv.recompute(frame, x);  // without ReLU nobody asks for its y
}

void BlockShortcut::backward(const Frame& frame, const void* x, void* ds, void* dx) const {
  if (padding_) {
    padding_->backward(ds, dx);
  } else if (projection_) {
    void* dx_part = frame[projection_->dx_part];
    projection_->conv.backward(frame, x, nullptr, {.dy = ds, .da = ds, .dx = dx_part});
    elementwise_->add(type_, dx, dx_part, dx, x_.count());
  } else {
    elementwise_->add(type_, dx, ds, dx, x_.count());
  }
}

void BlockShortcut::backward_weight(const Frame& frame, const void* x) const {
  if (projection_) projection_->conv.backward_weight(frame, x);
}

// --- BasicBlock ------------------------------------------------------------------------------------------------------

BasicBlock::BasicBlock(const BlockSpec& spec)
    : Cell(spec.name, spec.x, spec.type),
      conv1_(memory_, kth(1, spec, conv3x3(spec.x, spec.num_filters, spec.stride))),
      conv2_(memory_, behind(conv1_, joining(kth(2, spec, conv3x3(conv1_.y(), spec.num_filters))))),
      shortcut_(memory_, spec, conv2_.y()),
      b_(memory_.saved(conv1_.y())),
      dc_(memory_.scratch(conv2_.y())),
      db_(memory_.scratch(conv1_.y())) {
  set_output(conv2_.y());
}

void BasicBlock::plan(ops::Library& library) {
  conv1_.plan(library);
  conv2_.plan(library);
  shortcut_.plan(library);
}

void BasicBlock::load_weights(const Weights& weights) {
  conv1_.load_weights(weights);
  conv2_.load_weights(weights);
  shortcut_.load_weights(weights);
}

void BasicBlock::forward(const Frame& frame, const void* x, void* y) const {
  conv1_.forward(frame, x, frame[b_]);          // b = relu(bn(conv1(x)))      (N,P,Q,K)
  const void* s = shortcut_.forward(frame, x);  // s                           (N,P,Q,K)
  conv2_.forward(frame, frame[b_], y, s);       // y = relu(bn(conv2(b)) + s)  (N,P,Q,K)
}

void BasicBlock::recompute(const Frame& frame, const void* x) const {
  conv1_.recompute(frame, x, frame[b_]);
  shortcut_.recompute(frame, x);
  conv2_.recompute(frame, frame[b_]);  // the join is stored: y
}

void BasicBlock::backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const {
  void* db = frame[db_];
  const bool summed = conv2_.sums_gradients_before(frame);
  conv2_.backward(frame, frame[b_], y, {.dy = dy, .da = frame[dc_], .dx = db, .dresidual = dy});  // db; ds over dy
  conv1_.backward(frame, x, frame[b_], {.dy = db, .summed = summed, .da = db, .dx = dx});         // dx
  shortcut_.backward(frame, x, dy, dx);                                                           // dx += shortcut's
}

void BasicBlock::backward_weight(const Frame& frame, const void* x) const {
  conv2_.backward_weight(frame, frame[b_]);
  conv1_.backward_weight(frame, x);
  shortcut_.backward_weight(frame, x);
}

// --- Bottleneck ------------------------------------------------------------------------------------------------------

Bottleneck::Bottleneck(const BlockSpec& spec)
    : Cell(spec.name, spec.x, spec.type),
      conv1_(memory_, kth(1, spec, conv1x1(spec.x, spec.num_filters))),
      conv2_(memory_, behind(conv1_, kth(2, spec, conv3x3(conv1_.y(), spec.num_filters, spec.stride)))),
      conv3_(memory_, behind(conv2_, joining(kth(3, spec, conv1x1(conv2_.y(), kExpansion * spec.num_filters))))),
      shortcut_(memory_, spec, conv3_.y()),
      b_(memory_.saved(conv1_.y())),
      d_(memory_.saved(conv2_.y())),
      de_(memory_.scratch(conv3_.y())),
      dd_(memory_.scratch(conv2_.y())),
      db_(memory_.scratch(conv1_.y())) {
  set_output(conv3_.y());
}

void Bottleneck::plan(ops::Library& library) {
  conv1_.plan(library);
  conv2_.plan(library);
  conv3_.plan(library);
  shortcut_.plan(library);
}

void Bottleneck::load_weights(const Weights& weights) {
  conv1_.load_weights(weights);
  conv2_.load_weights(weights);
  conv3_.load_weights(weights);
  shortcut_.load_weights(weights);
}

void Bottleneck::forward(const Frame& frame, const void* x, void* y) const {
  conv1_.forward(frame, x, frame[b_]);          // b = relu(bn(conv1(x)))      (N,H,W,K)
  conv2_.forward(frame, frame[b_], frame[d_]);  // d = relu(bn(conv2(b)))      (N,P,Q,K)
  const void* s = shortcut_.forward(frame, x);  // s                           (N,P,Q,4K)
  conv3_.forward(frame, frame[d_], y, s);       // y = relu(bn(conv3(d)) + s)  (N,P,Q,4K)
}

void Bottleneck::recompute(const Frame& frame, const void* x) const {
  conv1_.recompute(frame, x, frame[b_]);
  conv2_.recompute(frame, frame[b_], frame[d_]);
  shortcut_.recompute(frame, x);
  conv3_.recompute(frame, frame[d_]);  // the join is stored: y
}

void Bottleneck::backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const {
  void* dd = frame[dd_];
  void* db = frame[db_];
  const bool d_summed = conv3_.sums_gradients_before(frame), b_summed = conv2_.sums_gradients_before(frame);
  conv3_.backward(frame, frame[d_], y, {.dy = dy, .da = frame[de_], .dx = dd, .dresidual = dy});     // dd; ds over dy
  conv2_.backward(frame, frame[b_], frame[d_], {.dy = dd, .summed = d_summed, .da = dd, .dx = db});  // db
  conv1_.backward(frame, x, frame[b_], {.dy = db, .summed = b_summed, .da = db, .dx = dx});          // dx
  shortcut_.backward(frame, x, dy, dx);                                                              // dx += shortcut's
}

void Bottleneck::backward_weight(const Frame& frame, const void* x) const {
  conv3_.backward_weight(frame, frame[d_]);
  conv2_.backward_weight(frame, frame[b_]);
  conv1_.backward_weight(frame, x);
  shortcut_.backward_weight(frame, x);
}

// --- ClassifierHead --------------------------------------------------------------------------------------------------

ClassifierHead::ClassifierHead(const Shape& x, std::int64_t num_classes, DataType type)
    : Cell("head", x, type),
      fc_(memory_, "fc", {.n = x.n, .num_inputs = x.c, .num_outputs = num_classes}),
      mean_(memory_.noted({x.n, 1, 1, x.c})),
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

void ClassifierHead::recompute(const Frame&, const void*) const {}

void ClassifierHead::backward(const Frame& frame, const void*, const void*, void* dy, void* dx) const {
  fc_.backward(frame, frame[mean_], dy, frame[dmean_]);
  pool_->backward(frame[dmean_], dx);
}

void ClassifierHead::backward_weight(const Frame& frame, const void*) const {
  fc_.backward_weight(frame, frame[mean_]);
}

}  // namespace convoy
