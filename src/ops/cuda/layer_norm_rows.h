/// Layer normalisation's view of an activation: rows, on each of which a part of a warp, a team, works together; the
/// number of lanes of a team, and the values that each lane keeps in registers. Included only by layer_norm.cu.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "convoy/ops/layer_norm.h"

#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kTeamThreads = 256;  // of a block
constexpr int kMaxTeam = 32;

/// The division of rows among teams. Lane l of a team has the packs l, l + lanes, ... of kWidth neighbouring values.
struct RowTeams {
  RowTeams(const LayerNormSpec& spec, int pack_width)
      : num_rows(spec.num_rows),
        width(static_cast<int>(spec.width)),
        lanes(static_cast<int>(
            std::min(std::bit_ceil(static_cast<unsigned>(spec.width / pack_width)), unsigned{kMaxTeam}))) {}

  std::int64_t num_rows;
  int width;
  int lanes;  ///< number of lanes of a team, a power of two that follows from C alone, and so do the bits

  LaunchShape shape() const {
    return {{static_cast<unsigned>(ceil_div(num_rows, kTeamThreads / lanes))}, {kTeamThreads}};
  }

  __device__ int my_lane() const { return static_cast<int>(threadIdx.x) & (lanes - 1); }
  __device__ std::int64_t my_row() const {
    return std::int64_t{blockIdx.x} * (kTeamThreads / lanes) + static_cast<int>(threadIdx.x) / lanes;
  }
  /// Returns the sum over the team to all of its lanes. All lanes of the warp must call it.
  __device__ float sum(float mine) const {
    for (int distance = lanes / 2; distance > 0; distance /= 2) mine += __shfl_xor_sync(~0u, mine, distance);
    return mine;
  }

  /// Calls body(k, column) for each pack of the lane: for those that it keeps, at most kPacks, or with kPacks = 0 for
  /// all.
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

/// A lane's part of one row: kept in registers as it is stored, or with kPacks = 0 read again each time, from the
/// cache.
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

/// Calls work(Width<k>{}) with the smallest number of packs of 16 bytes that a lane must keep, 1, 2 or 4; with 0 if
/// that is more than kMaxPacks, or if the width of rows allows only narrow accesses.
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
