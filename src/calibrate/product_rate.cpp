/// Times a linear layer's forward at growing sizes, and at the final size again and again until enough time has passed.
#include "calibrate/product_rate.h"

#include <algorithm>
#include <memory>

#include "convoy/base/clock.h"
#include "convoy/device/device.h"
#include "convoy/ops/operations.h"

#include "calibrate/fill.h"

namespace convoy {

namespace {

constexpr std::int64_t kMinSide = 128, kMaxSide = 8192;  // rows and columns of all three matrices
constexpr double kLargeSeconds = 0.01;  // a product of this length keeps all cores or multiprocessors busy

constexpr int kMinRounds = 3;
constexpr double kEnoughSeconds = 0.3;

/// The product y = x w^T of square matrices.
class Product {
 public:
  Product(ops::Backend& backend, DataType type, std::int64_t side)
      : device_(backend.device()),
        spec_{.n = side, .num_inputs = side, .num_outputs = side, .type = type, .y_type = type},
        op_(backend.create<ops::LinearOp>(spec_)),
        x_(device_, side * side * size_of(type)),
        w_(device_, x_.size_bytes()),
        b_(device_, side * size_of(type)),
        y_(device_, x_.size_bytes()) {
    for (const Buffer* input : {&x_, &w_}) fill(backend, type, input->data(), side * side);
    time_once();  // the first use of code and memory is slower
  }

  double flop() const { return spec_.forward_flop(); }
  double time_once() const {
    const double start = now_seconds();
    op_->forward(x_.data(), w_.data(), b_.data(), {.y = y_.data()});
    device_.synchronize();
    return now_seconds() - start;
  }

 private:
  Device& device_;
  ops::LinearSpec spec_;
  std::unique_ptr<ops::LinearOp> op_;
  Buffer x_, w_, b_, y_;
};

}  // namespace

double measure_product_rate(ops::Backend& backend, DataType type) {
  double best = 0;
  for (std::int64_t side = kMinSide; side <= kMaxSide; side *= 2) {
    const Product product(backend, type, side);
    const double seconds = product.time_once();
    best = std::max(best, product.flop() / seconds);
    if (seconds < kLargeSeconds && side < kMaxSide) continue;
    const double begin = now_seconds();
    for (int round = 0; round < kMinRounds || now_seconds() - begin < kEnoughSeconds; ++round)
      best = std::max(best, product.flop() / product.time_once());
    break;
  }
  return best;
}

}  // namespace convoy
