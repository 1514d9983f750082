/// Layer and RMS normalisation on the CPU: each row is read from memory once, and again from the cache; bound by
/// memory.
#include "convoy/ops/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/cpu/lanes_simd.h"
#include "ops/cpu/normalisation/group_norm.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

constexpr int kChains = 4;                      // of additions, each of which waits for the one before
constexpr std::int64_t kMaxRowsPerBlock = 128;  // that are added in float32; blocks are added in double
constexpr std::int64_t kMinRowsPerBlock = 32;
constexpr std::int64_t kBlocksForThreads = 16;  // enough for threads to share few rows evenly, too
constexpr std::int64_t kMergedColumns = 16;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

template <typename V>
using Chains = V[kChains];

[[gnu::always_inline]] inline float sum_of(const Chains<Vec>& chains, float rest) {
  return sum_of_lanes(pairwise_sum<kChains>(chains)) + rest;
}

/// Calls add(i, V{}, chain) over all columns i: vectors first, then single values, which are one chain.
template <typename Add>
[[gnu::always_inline]] inline void for_chains(std::int64_t width, Add&& add) {
  std::int64_t i = 0;
  for (; i + kChains * kLanes <= width; i += kChains * kLanes)
    for (int chain = 0; chain < kChains; ++chain) add(i + chain * kLanes, Vec{}, chain);
  for (; i + kLanes <= width; i += kLanes) add(i, Vec{}, 0);
  for (; i < width; ++i) add(i, 0.0f, 0);
}

// --- Forward ----------------------------------------------------------------------------------------------------

template <typename T>
struct ForwardRows {
  const T* x;
  const float *gamma, *beta;  ///< beta is read with kCentred
  T* y;
  float *mean, *inv_std;  ///< mean is written with kCentred
  std::int64_t width;
  float epsilon;
};

/// The mean over the columns of term(i, V{}).
template <typename Term>
[[gnu::always_inline]] inline float mean_of(std::int64_t width, Term&& term) {
  Chains<Vec> sums = {};
  float rest = 0;
  for_chains(width, [&]<typename V>(std::int64_t i, V, int chain) {
    if constexpr (std::is_same_v<V, Vec>) {
      sums[chain] += term(i, V{});
    } else {
      rest += term(i, V{});
    }
  });
  return sum_of(sums, rest) / static_cast<float>(width);
}

template <bool kCentred, typename T>
void normalise_row(const ForwardRows<T>& args, std::int64_t row) {
  const std::int64_t width = args.width;
  const T* x = args.x + row * width;
  T* y = args.y + row * width;
  const float mean = kCentred ? mean_of(width, [=]<typename V>(std::int64_t i, V) { return read<V>(x + i); }) : 0;
  const float variance = mean_of(width, [=]<typename V>(std::int64_t i, V) {
    const V centred = read<V>(x + i) - mean;
    return V(centred * centred);
  });
  const float inv_std = 1.0f / std::sqrt(variance + args.epsilon);
  if (kCentred) args.mean[row] = mean;
  args.inv_std[row] = inv_std;
  for_lanes(0, width, [&]<typename V>(std::int64_t i, V) {
    if constexpr (kCentred)
      write(y + i, V((read<V>(x + i) - mean) * inv_std * read<V>(args.gamma + i) + read<V>(args.beta + i)));
    else
      write(y + i, V(read<V>(x + i) * inv_std * read<V>(args.gamma + i)));
  });
}

// --- Backward ---------------------------------------------------------------------------------------------------

template <typename T>
struct BackwardRows {
  const T *dy, *x;
  const float *gamma, *mean, *inv_std;  ///< mean is read with kCentred
  T* dx;
  const T* addend;  ///< read with kAdds
  std::int64_t width;
};

/// The sums dgamma and dbeta of a block of rows.
struct ParameterSums {
  float *dgamma, *dbeta;
};

/// The means over the columns of g = gamma dy, which is 0 without kCentred, and of g h, h = (x - mean) inv_std.
struct GradientMeans {
  float g, gh;
};

/// Computes the means of a row. With kSums, also adds dy h to dgamma and, with kCentred, dy to dbeta.
template <bool kCentred, bool kSums, typename T>
[[gnu::always_inline]] inline GradientMeans sum_row(const BackwardRows<T>& args, std::int64_t row,
                                                    [[maybe_unused]] const ParameterSums& sums) {
  const T *dy = args.dy + row * args.width, *x = args.x + row * args.width;
  const float mean = kCentred ? args.mean[row] : 0, inv_std = args.inv_std[row];
  Chains<Vec> g_sums = {}, gh_sums = {};
  float g_rest = 0, gh_rest = 0;
  for_chains(args.width, [&]<typename V>(std::int64_t i, V, int chain) {
    const V gamma = read<V>(args.gamma + i), d = read<V>(dy + i), dh = d * ((read<V>(x + i) - mean) * inv_std);
    if constexpr (kSums) {
      write(sums.dgamma + i, V(read<V>(sums.dgamma + i) + dh));
      if constexpr (kCentred) write(sums.dbeta + i, V(read<V>(sums.dbeta + i) + d));
    }
    if constexpr (std::is_same_v<V, Vec>) {
      g_sums[chain] += gamma * d;
      gh_sums[chain] += gamma * dh;
    } else {
      g_rest += gamma * d;
      gh_rest += gamma * dh;
    }
  });
  const auto count = static_cast<float>(args.width);
  return {kCentred ? sum_of(g_sums, g_rest) / count : 0, sum_of(gh_sums, gh_rest) / count};
}

/// Computes dx = inv_std (g - mean_C(g) - h mean_C(g h)) [+ addend] of a row.
template <bool kCentred, bool kSums, bool kAdds, typename T>
void differentiate_row(const BackwardRows<T>& args, std::int64_t row, const ParameterSums& sums) {
  const GradientMeans means = sum_row<kCentred, kSums>(args, row, sums);
  const T *dy = args.dy + row * args.width, *x = args.x + row * args.width;
  T* dx = args.dx + row * args.width;
  [[maybe_unused]] const T* addend = args.addend + (kAdds ? row * args.width : 0);
  const float mean = kCentred ? args.mean[row] : 0, inv_std = args.inv_std[row];
  for_lanes(0, args.width, [&]<typename V>(std::int64_t i, V) {
    const V h = (read<V>(x + i) - mean) * inv_std;
    const V slope = (read<V>(args.gamma + i) * read<V>(dy + i) - means.g - h * means.gh) * inv_std;
    write(dx + i, kAdds ? V(read<V>(addend + i) + slope) : slope);
  });
}

template <typename T, bool kCentred>
class CpuLayerNorm final : public LayerNormOp {
 public:
  CpuLayerNorm(const LayerNormSpec& spec, Workspace& workspace)
      : spec_(spec),
        num_blocks_(std::max(ceil_div(spec.num_rows, kMaxRowsPerBlock),
                             std::min(kBlocksForThreads, ceil_div(spec.num_rows, kMinRowsPerBlock)))),
        workspace_(workspace) {
    workspace_.reserve(num_blocks_ * 2 * spec.width * kFloatBytes);
  }

  void forward(const LayerNormForward& args) override {
    const ForwardRows<T> rows{values_at<T>(args.x), args.gamma,  args.beta,    values_at<T>(args.y), args.mean,
                              args.inv_std,         spec_.width, spec_.epsilon};
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range mine = my_part_of(spec_.num_rows);
      for (std::int64_t row = mine.begin; row < mine.end; ++row) normalise_row<kCentred>(rows, row);
    }
  }

  void backward(const LayerNormBackward& args) override {
    if (args.dgamma == nullptr) {
      args.addend != nullptr ? backward_as<false, true>(args) : backward_as<false, false>(args);
    } else {
      args.addend != nullptr ? backward_as<true, true>(args) : backward_as<true, false>(args);
    }
  }

 private:
  ParameterSums sums_of_block(std::int64_t block) const {
    auto* sums = reinterpret_cast<float*>(workspace_.scratch()) + block * 2 * spec_.width;
    return {sums, sums + spec_.width};
  }

  template <bool kSums, bool kAdds>
  void backward_as(const LayerNormBackward& args) const {
    const BackwardRows<T> rows{values_at<T>(args.dy), values_at<T>(args.x),      args.gamma, args.mean, args.inv_std,
                               values_at<T>(args.dx), values_at<T>(args.addend), spec_.width};
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range blocks = my_part_of(num_blocks_);
      for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
        const ParameterSums sums = sums_of_block(block);
        if constexpr (kSums) std::fill_n(sums.dgamma, 2 * spec_.width, 0.0f);
        const Range mine = part_of(spec_.num_rows, block, num_blocks_);
        for (std::int64_t row = mine.begin; row < mine.end; ++row)
          differentiate_row<kCentred, kSums, kAdds>(rows, row, sums);
      }
      if constexpr (kSums) {
#pragma omp barrier
        merge_my_columns(args.dgamma, args.dbeta);
      }
    }
  }

  /// Adds up the sums of blocks, block after block in double, for the calling thread's columns.
  void merge_my_columns(float* dgamma, float* dbeta) const {
    const Range tiles = my_part_of(ceil_div(spec_.width, kMergedColumns));
    for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const std::int64_t begin = tile * kMergedColumns, num = std::min(kMergedColumns, spec_.width - begin);
      double gammas[kMergedColumns] = {}, betas[kMergedColumns] = {};
      for (std::int64_t block = 0; block < num_blocks_; ++block) {
        const ParameterSums sums = sums_of_block(block);
        for (std::int64_t c = 0; c < num; ++c) {
          gammas[c] += static_cast<double>(sums.dgamma[begin + c]);
          betas[c] += static_cast<double>(sums.dbeta[begin + c]);
        }
      }
      for (std::int64_t c = 0; c < num; ++c) {
        dgamma[begin + c] = static_cast<float>(gammas[c]);
        if (kCentred) dbeta[begin + c] = static_cast<float>(betas[c]);
      }
    }
  }

  LayerNormSpec spec_;
  std::int64_t num_blocks_;
  Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<LayerNormOp> make_op(const LayerNormSpec& spec, const Resources& resources) {
  if (!spec.has_one_group()) return make_group_norm(spec, resources);
  return with_storage(spec.type, [&]<typename T>() -> std::unique_ptr<LayerNormOp> {
    if (spec.is_centred) return std::make_unique<CpuLayerNorm<T, true>>(spec, resources.workspace);
    return std::make_unique<CpuLayerNorm<T, false>>(spec, resources.workspace);
  });
}

}  // namespace convoy::ops::cpu
