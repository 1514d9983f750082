/// Times the CPU's operations in f32 and in bf16, in turn: the gain of half the bytes in loops bound by memory, and the
/// cost of products on a processor without bf16 products.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <boost/program_options.hpp>
#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/median.h"
#include "convoy/base/random.h"
#include "convoy/device/device.h"
#include "convoy/ops/backend.h"
#include "convoy/ops/elementwise.h"
#include "convoy/ops/operations.h"

namespace convoy::bench {

namespace {

struct Options {
  std::int64_t samples = 16, size = 56, channels = 64, threads = 1, rounds = 15;
};

/// Creates operations on tensors of one type and one shape.
class Bench {
 public:
  using Run = std::function<void()>;

  Bench(ops::Backend& backend, const Shape& x, DataType type) : backend_(backend), x_(x), type_(type) {
    const std::int64_t count = std::max(x.count(), 9 * x.c * x.c);  // they also hold the convolution's weights
    std::vector<float> values(count);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random_normal({.seed = 1}, i));
    for (int i = 0; i < 5; ++i) {
      tensors_.emplace_back(backend.device(), count * size_of(type));
      backend.elementwise().round_to(type, values.data(), tensors_.back().data(), count);
    }
    floats_ = Buffer(backend.device(), count * kFloatBytes);
    for (int i = 0; i < 6; ++i) {
      channels_.emplace_back(backend.device(), x.c * kFloatBytes);
      std::fill_n(channels_.back().floats(), x.c, 0.5f);
    }
    bytes_ = Buffer(backend.device(), x.count());
    tokens_ =
        integers(x.pixels(), [&](std::int64_t i) { return i * i % x.pixels(); });  // uses some rows often, others never
    lengths_ = integers(x.n, [&](std::int64_t) { return x.length(); });
  }

  Run batch_norm_forward(bool residual) const {
    return [this, op = batch_norm(residual)] {
      op->forward({.branches = {branch(tensor(0))}, .residual = tensor(1), .y = tensor(2), .mask = bytes()});
    };
  }
  Run batch_norm_backward(bool residual, bool in_parts = false) const {
    const ops::BatchNormBackward args{.branches = {gradient_branch(tensor(1), tensor(3))},
                                      .dy = tensor(0),
                                      .dy_addend = in_parts ? tensor(2) : nullptr,
                                      .mask = bytes(),
                                      .dresidual = tensor(4)};
    return [args, op = batch_norm(residual)] { op->backward(args); };
  }
  // The end of a residual block whose shortcut is normalised: by two operations, or by one operation for both.
  Run two_batch_norms_forward() const {
    const std::shared_ptr<ops::BatchNormOp> plain = backend_.create<ops::BatchNormOp>({.x = x_, .type = type_});
    return [this, plain, joining = batch_norm(true)] {
      plain->forward({.branches = {branch(tensor(1))}, .y = tensor(3)});
      joining->forward({.branches = {branch(tensor(0))}, .residual = tensor(3), .y = tensor(2), .mask = bytes()});
    };
  }
  Run two_batch_norms_backward() const {
    const std::shared_ptr<ops::BatchNormOp> plain = backend_.create<ops::BatchNormOp>({.x = x_, .type = type_});
    const ops::BatchNormBackward of_b{.branches = {gradient_branch(tensor(2), tensor(4))}, .dy = tensor(4)};
    return [joining = batch_norm_backward(true), plain, of_b] {
      joining();
      plain->backward(of_b);
    };
  }
  Run batch_norm_sum_forward() const {
    return [this, op = batch_norm_sum()] {
      op->forward({.branches = {branch(tensor(0)), branch(tensor(1))}, .y = tensor(2), .mask = bytes()});
    };
  }
  Run batch_norm_sum_backward() const {
    const ops::BatchNormBackward args{
        .branches = {gradient_branch(tensor(1), tensor(3)), gradient_branch(tensor(2), tensor(4))},
        .dy = tensor(0),
        .mask = bytes()};
    return [args, op = batch_norm_sum()] { op->backward(args); };
  }
  Run convolution(int direction) const {
    const std::shared_ptr<ops::ConvolutionOp> op =
        backend_.create<ops::ConvolutionOp>({.x = x_, .num_filters = x_.c, .kernel = 3, .padding = 1, .type = type_});
    op->load_weights(tensor(1));
    return [this, op, direction] {
      if (direction == 0) op->forward(tensor(0), tensor(2));
      if (direction == 1) op->backward_input(tensor(0), tensor(2));
      if (direction == 2) op->backward_weight(tensor(0), tensor(1), floats_.floats());
    };
  }
  Run max_pool(bool forward) const {
    const std::shared_ptr<ops::MaxPoolOp> op = backend_.create<ops::MaxPoolOp>({x_, 3, 2, 1, type_});
    op->forward(tensor(0), tensor(1), bytes());
    return [this, op, forward] {
      if (forward) return op->forward(tensor(0), tensor(1), bytes());
      op->backward(tensor(1), bytes(), tensor(2));
    };
  }
  /// One operation for the work of the two above.
  Run batch_norm_max_pool(bool forward) const {
    const std::shared_ptr<ops::BatchNormOp> op = backend_.create<ops::BatchNormOp>(
        {.x = x_, .relu = true, .type = type_, .pooling = ops::PoolingSpec{x_, 3, 2, 1, type_}});
    const auto run_forward = [this, op] {
      op->forward({.branches = {branch(tensor(0))}, .y = tensor(1), .winner = bytes()});
    };
    if (forward) return run_forward;
    run_forward();
    return [this, op] {
      op->backward({.branches = {gradient_branch(tensor(0), tensor(2))}, .dy = tensor(1), .winner = bytes()});
    };
  }
  Run global_average_pool(bool forward) const {
    const std::shared_ptr<ops::GlobalAveragePoolOp> op = backend_.create<ops::GlobalAveragePoolOp>({x_, type_});
    return [this, op, forward] { forward ? op->forward(tensor(0), tensor(1)) : op->backward(tensor(1), tensor(2)); };
  }
  Run shortcut(bool forward) const {
    const std::shared_ptr<ops::ChannelCopyOp> op = backend_.create<ops::ChannelCopyOp>(
        {.x = x_, .num_channels = 2 * x_.c, .count = x_.c, .stride = 2, .type = type_});
    return [this, op, forward] {
      forward ? op->forward(tensor(0), tensor(1)) : op->backward(tensor(1), tensor(2), tensor(2));
    };
  }
  // Uses as many words as pixels, in sequences of one sample each.
  Run layer_norm(bool forward) const {
    const std::shared_ptr<ops::LayerNormOp> op =
        backend_.create<ops::LayerNormOp>({.num_rows = x_.pixels(), .width = x_.c, .type = type_});
    float *mean = floats_.floats(), *inv_std = mean + x_.pixels();
    return [this, op, forward, mean, inv_std] {
      if (forward) return op->forward({tensor(0), channel(0), channel(1), tensor(1), mean, inv_std});
      op->backward({.dy = tensor(1),
                    .x = tensor(0),
                    .gamma = channel(0),
                    .mean = mean,
                    .inv_std = inv_std,
                    .dx = tensor(2),
                    .dgamma = channel(2),
                    .dbeta = channel(3)});
    };
  }
  Run embedding(bool forward) const {
    const std::shared_ptr<ops::EmbeddingOp> op = backend_.create<ops::EmbeddingOp>(
        {.n = x_.n, .length = x_.length(), .num_rows = x_.pixels(), .width = x_.c, .type = type_});
    const auto* tokens = reinterpret_cast<const std::int32_t*>(tokens_.data());
    return [this, op, forward, tokens] {
      forward ? op->forward(tokens, tensor(0), tensor(1)) : op->backward_weight(tokens, tensor(1), floats_.floats());
    };
  }
  Run sequence_mean(bool forward) const {
    const std::shared_ptr<ops::SequenceMeanOp> op =
        backend_.create<ops::SequenceMeanOp>({.n = x_.n, .length = x_.length(), .width = x_.c, .type = type_});
    const auto* lengths = reinterpret_cast<const std::int32_t*>(lengths_.data());
    return [this, op, forward, lengths] {
      forward ? op->forward(tensor(0), lengths, tensor(1)) : op->backward(tensor(1), lengths, tensor(2));
    };
  }
  Run add() const {
    return [this] { backend_.elementwise().add(type_, tensor(0), tensor(1), tensor(2), x_.count()); };
  }
  Run round_to() const {
    return [this] { backend_.elementwise().round_to(type_, floats_.floats(), tensor(0), x_.count()); };
  }

 private:
  std::shared_ptr<ops::BatchNormOp> batch_norm(bool residual) const {
    return backend_.create<ops::BatchNormOp>({.x = x_, .relu = true, .residual = residual, .type = type_});
  }
  std::shared_ptr<ops::BatchNormOp> batch_norm_sum() const {
    return backend_.create<ops::BatchNormOp>({.x = x_, .relu = true, .num_branches = 2, .type = type_});
  }
  ops::BatchNormForward::Branch branch(const void* x) const {
    return {.x = x,
            .gamma = channel(0),
            .beta = channel(1),
            .mean = channel(2),
            .inv_std = channel(3),
            .var_unbiased = channel(4)};
  }
  ops::BatchNormBackward::Branch gradient_branch(const void* x, void* dx) const {
    return {.x = x,
            .gamma = channel(0),
            .beta = channel(1),
            .mean = channel(0),
            .inv_std = channel(1),
            .var_unbiased = channel(1),
            .dx = dx,
            .dgamma = channel(4),
            .dbeta = channel(5),
            .drunning_mean = channel(2),
            .drunning_var = channel(3)};
  }
  template <typename Value>
  Buffer integers(std::int64_t count, Value&& value) const {
    Buffer buffer(backend_.device(), count * static_cast<std::int64_t>(sizeof(std::int32_t)));
    for (std::int64_t i = 0; i < count; ++i)
      reinterpret_cast<std::int32_t*>(buffer.data())[i] = static_cast<std::int32_t>(value(i));
    return buffer;
  }
  void* tensor(std::size_t i) const { return tensors_[i].data(); }
  std::uint8_t* bytes() const { return reinterpret_cast<std::uint8_t*>(bytes_.data()); }
  float* channel(std::size_t i) const { return channels_[i].floats(); }

  ops::Backend& backend_;
  Shape x_;
  DataType type_;
  std::vector<Buffer> tensors_, channels_;
  Buffer floats_, bytes_, tokens_, lengths_;
};

struct Measured {
  const char* name;
  Bench::Run (*plan)(const Bench&);
};

constexpr Measured kMeasured[] = {
    {"batch norm forward", [](const Bench& b) { return b.batch_norm_forward(false); }},
    {"batch norm forward, residual", [](const Bench& b) { return b.batch_norm_forward(true); }},
    {"batch norm backward", [](const Bench& b) { return b.batch_norm_backward(false); }},
    {"batch norm backward, residual", [](const Bench& b) { return b.batch_norm_backward(true); }},
    {"batch norm backward, in parts", [](const Bench& b) { return b.batch_norm_backward(true, true); }},
    {"two batch norms forward", [](const Bench& b) { return b.two_batch_norms_forward(); }},
    {"two batch norms forward, in one", [](const Bench& b) { return b.batch_norm_sum_forward(); }},
    {"two batch norms backward", [](const Bench& b) { return b.two_batch_norms_backward(); }},
    {"two batch norms backward, in one", [](const Bench& b) { return b.batch_norm_sum_backward(); }},
    {"max pool forward", [](const Bench& b) { return b.max_pool(true); }},
    {"max pool backward", [](const Bench& b) { return b.max_pool(false); }},
    {"batch norm, max pool forward", [](const Bench& b) { return b.batch_norm_max_pool(true); }},
    {"batch norm, max pool backward", [](const Bench& b) { return b.batch_norm_max_pool(false); }},
    {"global average pool forward", [](const Bench& b) { return b.global_average_pool(true); }},
    {"global average pool backward", [](const Bench& b) { return b.global_average_pool(false); }},
    {"shortcut forward", [](const Bench& b) { return b.shortcut(true); }},
    {"shortcut backward", [](const Bench& b) { return b.shortcut(false); }},
    {"layer norm forward", [](const Bench& b) { return b.layer_norm(true); }},
    {"layer norm backward", [](const Bench& b) { return b.layer_norm(false); }},
    {"embedding forward", [](const Bench& b) { return b.embedding(true); }},
    {"embedding backward", [](const Bench& b) { return b.embedding(false); }},
    {"mean over a sequence forward", [](const Bench& b) { return b.sequence_mean(true); }},
    {"mean over a sequence backward", [](const Bench& b) { return b.sequence_mean(false); }},
    {"add", [](const Bench& b) { return b.add(); }},
    {"round", [](const Bench& b) { return b.round_to(); }},
    {"convolution forward", [](const Bench& b) { return b.convolution(0); }},
    {"convolution by input", [](const Bench& b) { return b.convolution(1); }},
    {"convolution by weight", [](const Bench& b) { return b.convolution(2); }},
};

double seconds_of(const Bench::Run& run) {
  const double start = now_seconds();
  run();
  return now_seconds() - start;
}

void measure(const Options& options) {
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = options.threads});
  const Shape x = Shape::images(options.samples, options.size, options.size, options.channels);
  const Bench f32(*backend, x, DataType::kFloat32), bf16(*backend, x, DataType::kBfloat16);
  fmt::print("{}, {}, medians of {} rounds\n", to_string(x), backend->device().description(), options.rounds);
  fmt::print("  {:<32}{:>9}{:>10}{:>14}\n", "", "f32, ms", "bf16, ms", "bf16 / f32");
  for (const Measured& measured : kMeasured) {
    const Bench::Run in_f32 = measured.plan(f32), in_bf16 = measured.plan(bf16);
    in_f32(), in_bf16();  // warms pages and caches
    std::vector<double> f32_seconds, bf16_seconds, ratios;
    for (std::int64_t round = 0; round < options.rounds; ++round) {
      f32_seconds.push_back(seconds_of(in_f32));
      bf16_seconds.push_back(seconds_of(in_bf16));
      ratios.push_back(bf16_seconds.back() / f32_seconds.back());
    }
    fmt::print("  {:<32}{:>9.3f}{:>10.3f}{:>14.2f}\n", measured.name, 1e3 * median(f32_seconds),
               1e3 * median(bf16_seconds), median(ratios));
  }
}

Options parse(int argc, char** argv) {
  namespace po = boost::program_options;
  Options options;
  po::options_description description("bench_ops");
  const auto add = [&](const char* name, auto& value, const char* text) {
    description.add_options()(name, po::value(&value)->default_value(value), text);
  };
  description.add_options()("help", "this text");
  add("samples", options.samples, "N");
  add("size", options.size, "H and W");
  add("channels", options.channels, "C, and K of the convolution");
  add("threads", options.threads, "that compute");
  add("rounds", options.rounds, "timed, of each operation in both types");
  po::variables_map map;
  po::store(po::parse_command_line(argc, argv, description), map);
  po::notify(map);
  if (map.contains("help")) {
    std::cout << description;
    std::exit(0);
  }
  return options;
}

}  // namespace

}  // namespace convoy::bench

int main(int argc, char** argv) {
  try {
    convoy::bench::measure(convoy::bench::parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_ops: {}\n", error.what());
    return 1;
  }
}
