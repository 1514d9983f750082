/// AttentionOp against double loops.
#include "reference/attention.h"

#include <algorithm>

#include "convoy/base/error.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::AttentionSpec;
using ops::DrawKey;
using reference::attention_index;
using reference::AttentionWeights;
using reference::Lengths;

constexpr DrawKey kKey{.seed = 0x123456789abcdef0, .step = 0xfedcba9876, .micro_batch = 7};

struct Case {
  AttentionSpec spec;
  Lengths lengths;
};

/// Lengths of 1, odd lengths and full lengths; numbers of keys near the sizes of vectors, tiles and blocks; draws that
/// begin in the middle of a block; all widths of heads.
std::vector<Case> cases() {
  return {{{.n = 1, .length = 1, .num_heads = 1, .head_width = 16}, {1}},
          {{.n = 4, .length = 7, .num_heads = 2, .head_width = 16}, {7, 1, 4, 0}},
          {{.n = 2, .length = 16, .num_heads = 1, .head_width = 32}, {16, 15}},
          {{.n = 2, .length = 33, .num_heads = 3, .head_width = 32}, {33, 18}},
          {{.n = 1, .length = 70, .num_heads = 1, .head_width = 64}, {65}},
          {{.n = 1, .length = 34, .num_heads = 1, .head_width = 128}, {33}},
          {{.n = 1, .length = 98, .num_heads = 1, .head_width = 32}, {97}}};
}

std::int64_t qkv_count(const AttentionSpec& spec) {
  return spec.n * spec.length * 3 * spec.width();
}

/// A copy of an object in memory that host and device read.
template <typename T>
class Shared {
 public:
  Shared(Device& device, const std::vector<T>& values)
      : memory_(device, std::ssize(values) * static_cast<std::int64_t>(sizeof(T))) {
    std::ranges::copy(values, at());
  }
  T* at() const { return reinterpret_cast<T*>(memory_.data()); }

 private:
  HostBuffer memory_;
};

/// The results of a device.
struct Results {
  DeviceArray y, log_sum_exp, dqkv;
};

/// Bounds of the errors, to first order, with r the rounding of factors to the type, relative but for the smallest:
///   z        D + 4 roundings of at most scale sum |q k|; the rounded maximum or log_sum_exp is one more of that size
///   p        relative: errors of z and of log_sum_exp, T + 8 roundings of the sum, the power and the quotient
///   y, dv    sums of T products of m p, whose factors are off by r and by what p is
///   dp, dy y sums of D products; the latter also has the error of y, and of its storage
///   dz       p (dp - dy y), rounded by r; then sums of T products
struct Bounds {
  Array y, log_sum_exp, dqkv;
};

Bounds bounds(const AttentionSpec& spec, const AttentionWeights& w, const Array& qkv, const Lengths& lengths,
              const Array& dy, const Array& y) {
  const auto [T, D] = std::pair(static_cast<double>(spec.length), static_cast<double>(spec.head_width));
  const bool rounds = spec.type != DataType::kFloat32;
  const double r = rounds ? reference::rounding_error(spec.type, 1) : 0,
               smallest = rounds ? reference::rounding_error(spec.type, 0) : 0;
  const Array large = absolute(qkv), large_dy = absolute(dy);
  const AttentionWeights of_large = reference::attention_weights(spec, large, lengths, nullptr);
  const auto row = [&](std::size_t pair) { return pair / index(spec.length); };

  Bounds b{.y = {}, .log_sum_exp = Array(w.log_sum_exp.size()), .dqkv = {}};
  for (std::size_t i = 0; i < w.p.size(); ++i) {
    double& error = b.log_sum_exp[row(i)];
    error = std::max(error, kRounding * ((D + 6) * of_large.z[i] + T + 8));
  }
  AttentionWeights error = w;  // of m p
  const auto p_error = [&](std::size_t i) { return 2 * b.log_sum_exp[row(i)]; };
  for (std::size_t i = 0; i < w.p.size(); ++i)
    error.p[i] = error.p[i] * (p_error(i) + r + (T + 3) * kRounding) + smallest;
  b.y = reference::attention(spec, error, large, lengths);

  const Array dp = reference::attention_dp(spec, w, large, lengths, large_dy);
  Array y_dy(w.log_sum_exp.size()), y_dy_error(y_dy.size()), dz_error(dp.size());
  for (std::size_t i = 0; i < y_dy.size(); ++i) {
    const auto head = static_cast<std::int64_t>(row(i)), word = static_cast<std::int64_t>(i) % spec.length;
    const std::size_t at = attention_index(spec, 1, 0, head, word);
    for (std::size_t d = at; d < at + index(spec.head_width); ++d) {
      y_dy[i] += large_dy[d] * std::abs(y[d]);
      y_dy_error[i] += large_dy[d] * (b.y[d] + reference::rounding_error(spec.type, std::abs(y[d]) + b.y[d]));
    }
    y_dy_error[i] += D * kRounding * y_dy[i];
  }
  for (std::size_t i = 0; i < dp.size(); ++i) {
    const double size = dp[i] + y_dy[row(i)];
    dz_error[i] = w.p[i] * (size * (p_error(i) + r + (D + T + 6) * kRounding) + y_dy_error[row(i)]) + smallest;
  }
  b.dqkv = reference::attention_products(spec, error, dz_error, large, lengths, large_dy);
  return b;
}

// Without lengths, each sequence has spec.length words.
Results run_attention(ops::Backend& backend, const AttentionSpec& spec, const Lengths& lengths, const DrawKey* key,
                      const Array& qkv, const Array& dy) {
  const Shared<std::int32_t> shared_lengths(backend.device(), lengths.empty() ? Lengths{0} : lengths);
  const std::int32_t* device_lengths = lengths.empty() ? nullptr : shared_lengths.at();
  const Shared<DrawKey> device_key(backend.device(), {key == nullptr ? DrawKey{} : *key});
  const DrawKey* key_there = key == nullptr ? nullptr : device_key.at();
  const DeviceArray device_qkv(backend, qkv, spec.type), device_dy(backend, dy, spec.type);
  Results got{{backend, std::ssize(dy), spec.type},
              {backend, spec.n * spec.num_heads * spec.length},
              {backend, std::ssize(qkv), spec.type}};
  const auto op = backend.create<ops::AttentionOp>(spec);
  op->forward(
      {.qkv = device_qkv, .lengths = device_lengths, .key = key_there, .y = got.y, .log_sum_exp = got.log_sum_exp});
  op->backward({.dy = device_dy,
                .qkv = device_qkv,
                .y = got.y,
                .log_sum_exp = got.log_sum_exp,
                .lengths = device_lengths,
                .key = key_there,
                .dqkv = got.dqkv});
  backend.device().synchronize();
  return got;
}

class AttentionTest : public OpTest {
 protected:
  Results run(const AttentionSpec& spec, const Lengths& lengths, const DrawKey* key, const Array& qkv,
              const Array& dy) {
    return run_attention(*backend_, spec, lengths, key, qkv, dy);
  }

  void expect_equals_loops(const AttentionSpec& spec, const Lengths& lengths, const DrawKey* key, double radius = 1) {
    SCOPED_TRACE(fmt::format("{} sequences of {} words, {} heads of width {}, {}, {} dropped", spec.n, spec.length,
                             spec.num_heads, spec.head_width, to_string(spec.type), key == nullptr ? 0 : spec.dropout));
    const Array qkv = rounded(spec.type, random_array(qkv_count(spec), 1, 0, radius)),
                dy = rounded(spec.type, random_array(qkv_count(spec) / 3, 2));
    const Results got = run(spec, lengths, key, qkv, dy);
    const AttentionWeights w = reference::attention_weights(spec, qkv, lengths, key);
    const Array y = reference::attention(spec, w, qkv, lengths);
    const Bounds allowed = bounds(spec, w, qkv, lengths, dy, y);
    expect_close("y", got.y, y, allowed.y);
    expect_close("log_sum_exp", got.log_sum_exp, w.log_sum_exp, allowed.log_sum_exp);
    expect_close("dqkv", got.dqkv, reference::attention_gradient(spec, w, qkv, lengths, dy), allowed.dqkv);
  }
};

TEST_P(AttentionTest, EqualsDoubleLoops) {
  for (const DataType type : types()) {
    for (auto [spec, lengths] : cases()) {
      spec.type = type;
      expect_equals_loops(spec, lengths, nullptr);
    }
  }
}

TEST_P(AttentionTest, EqualsDoubleLoopsWithDropout) {
  for (const DataType type : types()) {
    for (auto [spec, lengths] : cases()) {
      spec.type = type;
      spec.layer = 0x9ddfea08eb382d69;
      spec.dropout = 0.3f;
      expect_equals_loops(spec, lengths, &kKey);
    }
  }
}

// z is up to 8 * 8 * sqrt(32) = 362: exp z exceeds float32, and most weights are 0.
TEST_P(AttentionTest, StaysFiniteForLargeProducts) {
  for (const DataType type : types()) {
    expect_equals_loops({.n = 1, .length = 40, .num_heads = 1, .head_width = 32, .type = type}, {40}, nullptr, 8);
  }
}

TEST_P(AttentionTest, ReadsNothingPastTheLength) {
  for (const DataType type : types()) {
    const AttentionSpec spec{.n = 2, .length = 37, .num_heads = 2, .head_width = 32, .dropout = 0.5f, .type = type};
    const Lengths lengths = {5, 20};
    Array qkv = random_array(qkv_count(spec), 1), dy = random_array(qkv_count(spec) / 3, 2);
    const Results clean = run(spec, lengths, &kKey, qkv, dy);
    for (std::int64_t n = 0; n < spec.n; ++n) {
      for (std::int64_t t = lengths[index(n)]; t < spec.length; ++t) {
        const std::int64_t row = n * spec.length + t;
        std::fill_n(qkv.begin() + row * 3 * spec.width(), 3 * spec.width(), NAN);
        std::fill_n(dy.begin() + row * spec.width(), spec.width(), NAN);
      }
    }
    const Results spoilt = run(spec, lengths, &kKey, qkv, dy);
    EXPECT_EQ(bits(clean.y), bits(spoilt.y)) << to_string(type);
    EXPECT_EQ(bits(clean.dqkv), bits(spoilt.dqkv)) << to_string(type);
  }
}

TEST_P(AttentionTest, WithoutLengthsAllWordsAreThere) {
  for (const DataType type : types()) {
    const AttentionSpec spec{.n = 2, .length = 37, .num_heads = 2, .head_width = 32, .dropout = 0.5f, .type = type};
    const Array qkv = random_array(qkv_count(spec), 1), dy = random_array(qkv_count(spec) / 3, 2);
    const Results with = run(spec, {37, 37}, &kKey, qkv, dy), without = run(spec, {}, &kKey, qkv, dy);
    EXPECT_EQ(bits(with.y), bits(without.y)) << to_string(type);
    EXPECT_EQ(bits(with.dqkv), bits(without.dqkv)) << to_string(type);
  }
}

TEST_P(AttentionTest, DropsNothingWithoutAKeyOrWithAShareOfZero) {
  AttentionSpec spec{.n = 1, .length = 21, .num_heads = 2, .head_width = 16};
  const Array qkv = random_array(qkv_count(spec), 1), dy = random_array(qkv_count(spec) / 3, 2);
  const auto nothing = bits(run(spec, {21}, &kKey, qkv, dy).y);
  spec.dropout = 0.5f;
  EXPECT_EQ(bits(run(spec, {21}, nullptr, qkv, dy).y), nothing);
  EXPECT_NE(bits(run(spec, {21}, &kKey, qkv, dy).y), nothing);
}

TEST_P(AttentionTest, GivesTheSameBitsInEveryRun) {
  for (const DataType type : types()) {
    const AttentionSpec spec{.n = 2, .length = 70, .num_heads = 2, .head_width = 32, .dropout = 0.1f, .type = type};
    const Array qkv = random_array(qkv_count(spec), 1), dy = random_array(qkv_count(spec) / 3, 2);
    std::vector<std::vector<std::uint32_t>> first;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Results got = run(spec, {70, 30}, &kKey, qkv, dy);
      const std::vector<std::vector<std::uint32_t>> results = {bits(got.y), bits(got.log_sum_exp), bits(got.dqkv)};
      if (first.empty()) first = results;
      EXPECT_EQ(first, results);
    }
  }
}

// The scratch memory contains all z of a block of queries, and keys and values of one head, but nothing of size T x T.
TEST_P(AttentionTest, ScratchMemoryGrowsWithTheLengthAndNotWithItsSquare) {
  const auto scratch_bytes = [&](std::int64_t length) {
    const auto backend = another_backend();
    const auto op = backend->create<ops::AttentionOp>({.n = 2, .length = length, .num_heads = 4, .head_width = 32});
    return backend->scratch_bytes();
  };
  EXPECT_GT(scratch_bytes(1024), 0);
  EXPECT_LE(scratch_bytes(4096), 4 * scratch_bytes(1024));
}

// Each head is computed by one thread, whichever is free.
TEST(AttentionOnTheCpu, GivesTheSameBitsForAnyNumberOfThreads) {
  const AttentionSpec spec{.n = 3, .length = 70, .num_heads = 2, .head_width = 32, .dropout = 0.1f};
  const Array qkv = random_array(qkv_count(spec), 1), dy = random_array(qkv_count(spec) / 3, 2);
  std::vector<std::vector<std::uint32_t>> first;
  for (const int threads : {1, 2, 3, 5}) {
    const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
    const Results got = run_attention(*backend, spec, {70, 30, 64}, &kKey, qkv, dy);
    const std::vector<std::vector<std::uint32_t>> results = {bits(got.y), bits(got.log_sum_exp), bits(got.dqkv)};
    if (first.empty()) first = results;
    EXPECT_EQ(first, results) << threads << " threads";
  }
}

TEST_P(AttentionTest, RefusesWhatNoDeviceComputes) {
  const auto message = [&](const AttentionSpec& spec) -> std::string {
    try {
      backend_->create<ops::AttentionOp>(spec);
      return "created";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_NE(message({.n = 1, .length = 8, .num_heads = 2, .head_width = 24}).find("16, 32, 64, 128"),
            std::string::npos);
  EXPECT_NE(message({.n = 1, .length = 8, .num_heads = 2, .head_width = 32, .dropout = 1}).find("less than 1"),
            std::string::npos);
  EXPECT_NE(
      message({.n = 1 << 11, .length = 1 << 12, .num_heads = 2, .head_width = 32, .dropout = 0.5f}).find("weights"),
      std::string::npos);
}

CONVOY_RUN_ON_ALL_BACKENDS(AttentionTest);

}  // namespace
}  // namespace convoy
