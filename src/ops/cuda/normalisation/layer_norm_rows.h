/// Divides the rows of an activation among the threads of the kernels of layer normalisation and softmax: a team, which
/// is a warp or a part of one, computes one row. Each lane of a team can keep a part of the row in registers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kTeamThreads = 256;  // number of threads of a block
constexpr int kMaxTeam = 32;       // maximum number of lanes of a team

/// The division of rows among teams of lanes. Lane l of a team has the packs l, l + lanes, ... of its row. A pack is
/// pack_width neighbouring values.
struct RowTeams {
  RowTeams(std::int64_t rows, std::int64_t row_width, int pack_width)
      : num_rows(rows),
        width(static_cast<int>(row_width)),
        lanes(static_cast<int>(
            std::min(std::bit_ceil(static_cast<unsigned>(row_width / pack_width)), unsigned{kMaxTeam}))) {}

  std::int64_t num_rows;
  int width;
  int lanes;  ///< number of lanes of a team, a power of two; it depends on C alone, so that the bits do, too

  LaunchShape shape() const {
    return {{static_cast<unsigned>(ceil_div(num_rows, kTeamThreads / lanes))}, {kTeamThreads}};
  }

  __device__ int my_lane() const { return static_cast<int>(threadIdx.x) & (lanes - 1); }
  __device__ std::int64_t my_row() const {
    return std::int64_t{blockIdx.x} * (kTeamThreads / lanes) + static_cast<int>(threadIdx.x) / lanes;
  }
  /// Returns the sum of `mine` over the lanes of the team, in each of its lanes. All lanes of the warp must call it.
  __device__ float sum(float mine) const {
    for (int distance = lanes / 2; distance > 0; distance /= 2) mine += __shfl_xor_sync(~0u, mine, distance);
    return mine;
  }
  /// Returns the largest number of the lanes of the team that is not NaN, in each of its lanes. All lanes of the warp
  /// must call it.
  __device__ float largest(float mine) const {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      mine = fmaxf(mine, __shfl_xor_sync(~0u, mine, distance));
    return mine;
  }

  /// Calls body(k, column) for each pack of the lane, whose first value is at `column` of the row. If the lane keeps
  /// its packs in registers, it has at most kPacks, and k counts them. If kPacks is 0, k is 0.
  template <int kPacks, int kWidth, typename Body>
  __device__ void for_my_packs(Body&& body) const {
    const int first = my_lane() * kWidth, step = lanes * kWidth;
    if constexpr (kPacks > 0) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        if (first + k * step < width) body(k, first + k * step);
      }
    } else {
      for (int column = first; column < width; column += step) body(0, column);
    }
  }
};

/// A lane's part of one row: up to kPacks packs, which are kept in registers in their storage type. If kPacks is 0,
/// get() reads the row's memory again each time, usually from the cache.
template <typename T, int kWidth, int kPacks>
class LaneOfRow {
 public:
  __device__ LaneOfRow(const RowTeams& teams, const T* row) : row_(row) {
    if constexpr (kPacks > 0) {
      teams.for_my_packs<kPacks, kWidth>(
          [&](int k, int column) { kept_[k] = *reinterpret_cast<const Pack<T, kWidth>*>(row + column); });
    }
  }
  __device__ void get(int k, int column, float (&to)[kWidth]) const {
    if constexpr (kPacks > 0) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) to[i] = to_float(kept_[k].values[i]);
    } else {
      load<kWidth>(row_ + column, to);
    }
  }

 private:
  const T* row_;
  Pack<T, kWidth> kept_[kPacks > 0 ? kPacks : 1];
};

/// Calls work(Width<k>{}), where k = 1, 2 or 4 packs of 16 bytes are enough for a lane's part of a row. k is 0, so that
/// nothing is kept in registers, if more than kMaxPacks were needed or if the rows' width allows only narrower
/// accesses.
template <typename T, int kWidth, int kMaxPacks, typename Work>
void with_packs(const RowTeams& teams, Work&& work) {
  if constexpr (kWidth == kWidest<T>) {
    const int packs = static_cast<int>(ceil_div(teams.width, teams.lanes * kWidth));
    if (packs == 1) return work(Width<1>{});
    if (packs == 2) return work(Width<2>{});
    if constexpr (kMaxPacks == 4) {
      if (packs <= 4) return work(Width<4>{});
    }
  }
  work(Width<0>{});
}

}  // namespace

}  // namespace convoy::ops::cuda
