/// The emulated GPU: the guarantees for kernels, the errors that it must find, and its 16-bit numbers against double.
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "unit/messages.h"

namespace convoy {
namespace {

template <typename... Parameters, typename... Arguments>
cudaError_t start(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

/// The message of a kernel's failure.
template <typename... Parameters, typename... Arguments>
std::string failure_of(void (*kernel)(Parameters...), dim3 block, Arguments... arguments) {
  return test::message_of<emulation::Failure>([&] { start(kernel, {1}, block, arguments...); });
}

// --- Guarantees for kernels ----------------------------------------------------------------------------------

__global__ void count_threads(int* hits) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  ++hits[block * blockDim.x * blockDim.y * blockDim.z + thread];
}

TEST(Emulation, RunsEveryThreadOfEveryBlockOnce) {
  std::vector<int> hits(3 * 4 * 5 * 6 * 2 * 2 + 1);
  ASSERT_EQ(start(count_threads, {3, 4, 5}, {6, 2, 2}, hits.data()), cudaSuccess);
  EXPECT_EQ(hits.back(), 0);
  hits.pop_back();
  EXPECT_EQ(hits, std::vector<int>(hits.size(), 1));
}

/// Sums a block's values, each time adding the upper half to the lower half.
__global__ void sum_blocks(const int* values, int* sums) {
  __shared__ int partial[256];
  const int t = static_cast<int>(threadIdx.x);
  partial[t] = values[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int half = static_cast<int>(blockDim.x) / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

TEST(Emulation, BarriersOrderSharedMemory) {
  constexpr int kBlocks = 40, kThreads = 256;
  std::vector<int> values(kBlocks * kThreads), sums(kBlocks);
  std::iota(values.begin(), values.end(), 0);
  for (int repeat = 0; repeat < 2; ++repeat) {  // threads in both orders
    ASSERT_EQ(start(sum_blocks, {kBlocks}, {kThreads}, values.data(), sums.data()), cudaSuccess);
    for (int b = 0; b < kBlocks; ++b) {
      EXPECT_EQ(sums[b], std::accumulate(&values[b * kThreads], &values[b * kThreads] + kThreads, 0));
    }
  }
}

/// A kernel without the barrier that it needs between writing and reading.
__global__ void race(int* out) {
  __shared__ int shared[64];
  const int t = static_cast<int>(threadIdx.x);
  shared[t] = -1;
  __syncthreads();
  shared[t] = t;
  out[t] = shared[63 - t];
}

TEST(Emulation, AForgottenBarrierShows) {
  std::vector<int> out(64), want(64);
  for (int t = 0; t < 64; ++t) want[t] = 63 - t;
  start(race, {1}, {64}, out.data());
  EXPECT_NE(out, want);
}

__global__ void shuffle_all(int* xor_sum, int* down, int* up, int* from, double* halves, unsigned* votes) {
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  int sum = t;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  xor_sum[t] = sum;
  down[t] = __shfl_down_sync(~0u, t, 3);
  up[t] = __shfl_up_sync(~0u, t, 5, 16);
  from[t] = __shfl_sync(~0u, t, 33);
  double value = 0.5 * t;
  if (lane < 8) value = __shfl_xor_sync(0xffu, value, 1);
  halves[t] = value;
  votes[t] = __ballot_sync(~0u, lane % 3 == 0);
}

TEST(Emulation, ShufflesHandOverWhatTheProgrammingGuideSays) {
  std::vector<int> xor_sum(64), down(64), up(64), from(64);
  std::vector<double> halves(64);
  std::vector<unsigned> votes(64);
  start(shuffle_all, {1}, {64}, xor_sum.data(), down.data(), up.data(), from.data(), halves.data(), votes.data());
  for (int t = 0; t < 64; ++t) {
    const int warp = t / 32 * 32, lane = t % 32;
    EXPECT_EQ(xor_sum[t], 32 * warp + 31 * 16);
    EXPECT_EQ(down[t], lane + 3 < 32 ? t + 3 : t);
    EXPECT_EQ(up[t], lane % 16 >= 5 ? t - 5 : t);
    EXPECT_EQ(from[t], warp + 1);
    EXPECT_EQ(halves[t], 0.5 * (lane < 8 ? t ^ 1 : t));
    EXPECT_EQ(votes[t], 0x49249249u);
  }
}

/// A kernel whose last block to end reads what all blocks have written.
__global__ void last_block(unsigned* counter, unsigned* values, unsigned* seen) {
  values[blockIdx.x] = blockIdx.x + 1;
  __threadfence();
  if (atomicInc(counter, gridDim.x - 1) == gridDim.x - 1) {
    for (unsigned b = 0; b < gridDim.x; ++b) *seen += values[b];
  }
}

TEST(Emulation, TheLastBlockIsFoundByAnAtomicCounterThatWrapsAround) {
  unsigned counter = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<unsigned> values(10);
    unsigned seen = 0;
    start(last_block, {10}, {1}, &counter, values.data(), &seen);
    EXPECT_EQ(seen, 55u);
    EXPECT_EQ(counter, 0u);
  }
}

__global__ void leave_early(int* out, int stay) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= stay) return;
  __syncthreads();
  out[t] = 1;
}

TEST(Emulation, ThreadsThatHaveEndedHoldUpNoBarrier) {
  for (const int stay : {0, 1, 40, 96}) {
    std::vector<int> out(96);
    start(leave_early, {1}, {96}, out.data(), stay);
    EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0), stay);
  }
}

// --- Errors that it must find --------------------------------------------------------------------------------

__global__ void three_quarters_at_barrier() {
  if (threadIdx.x >= 48) __syncwarp();
  __syncthreads();
}

__global__ void two_barriers() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void half_a_warp(float* out) {
  if (threadIdx.x < 16) *out = __shfl_xor_sync(~0u, 1.0f, 1);
  __syncthreads();
}

__global__ void ended_lanes(float* out) {
  if (threadIdx.x < 16) *out = __shfl_down_sync(~0u, 1.0f, 1);
}

__global__ void outside_mask(int* out) {
  if (threadIdx.x < 8) *out = __shfl_xor_sync(0xf0u, 1, 1);
}

__global__ void from_outside_mask(int* out) {
  if (threadIdx.x < 8) *out = __shfl_sync(0xffu, 1, 9);
}

TEST(Emulation, ABarrierThatNotAllLiveThreadsReachIsAFailure) {
  const std::string text = failure_of(three_quarters_at_barrier, {64});
  EXPECT_CONTAINS(text, "is stuck: of 64 threads");
  EXPECT_CONTAINS(text, "48 wait in a barrier");
  EXPECT_CONTAINS(text, "emulation_test.cpp");
  EXPECT_CONTAINS(failure_of(two_barriers, {64}), "two barriers");
}

TEST(Emulation, AShuffleWhoseLanesDoNotAllComeIsAFailure) {
  float value = 0;
  int number = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {  // threads in both orders: an odd number of kernels each time
    EXPECT_CONTAINS(failure_of(half_a_warp, {32}, &value), "is stuck");
    EXPECT_CONTAINS(failure_of(half_a_warp, {16}, &value), "has ended or never was");
    EXPECT_CONTAINS(failure_of(ended_lanes, {32}, &value), "has ended or never was");
    EXPECT_CONTAINS(failure_of(outside_mask, {32}, &number), "without being in its mask");
    EXPECT_CONTAINS(failure_of(from_outside_mask, {32}, &number), "not in the mask");
  }
}

TEST(Emulation, GoesOnAfterAFailure) {
  EXPECT_CONTAINS(failure_of(two_barriers, {64}), "two barriers");
  std::vector<int> values(256, 1), sums(1);
  ASSERT_EQ(start(sum_blocks, {1}, {256}, values.data(), sums.data()), cudaSuccess);
  EXPECT_EQ(sums[0], 256);
}

TEST(Emulation, RefusesGridsThatAGpuRefuses) {
  EXPECT_EQ(start(two_barriers, {1}, {1025}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(two_barriers, {0}, {32}), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(two_barriers, {1, 65536}, {32}), cudaErrorInvalidConfiguration);
}

__global__ void copy_four(const float* from, float* to) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

TEST(EmulationDeathTest, AMisalignedVectorAccessEndsTheProgram) {
  alignas(16) float from[8] = {}, to[8] = {};
  start(copy_four, {1}, {1}, from + 4, to + 4);
  EXPECT_DEATH(start(copy_four, {1}, {1}, from + 1, to), "misaligned address");
  EXPECT_DEATH(start(copy_four, {1}, {1}, from, to + 2), "misaligned address");
}

// --- 16-bit numbers ------------------------------------------------------------------------------------------

/// All finite values of a format from its definition: 1 bit of sign, `exponent_bits`, the rest fraction.
struct Format {
  int exponent_bits;

  int fraction_bits() const { return 15 - exponent_bits; }
  int infinity() const { return 0x7fff >> fraction_bits() << fraction_bits(); }
  /// The value of bits >= 0. The bits of infinity give the number after the largest value, from which rounding counts.
  double value(int bits) const {
    const int exponent = bits >> fraction_bits(), fraction = bits & ((1 << fraction_bits()) - 1);
    const int offset = (1 << (exponent_bits - 1)) - 1;
    if (exponent == 0) return std::ldexp(fraction, 1 - offset - fraction_bits());
    return std::ldexp(fraction + (1 << fraction_bits()), exponent - offset - fraction_bits());
  }
};

template <typename T, typename ToFloat, typename FromFloat>
void expect_conversions(const Format& format, ToFloat to_float, FromFloat from_float) {
  const auto rounded = [&](double value) { return from_float(static_cast<float>(value)).bits; };
  for (int bits = 0; bits < format.infinity(); ++bits) {
    for (const int sign : {0, 0x8000}) {
      const double factor = sign == 0 ? 1 : -1, value = factor * format.value(bits);
      const auto stored = static_cast<std::uint16_t>(bits | sign);
      ASSERT_EQ(to_float(T{stored}), value) << std::hex << stored;
      ASSERT_EQ(rounded(value), stored) << value;

      // The middle between this value and the next is exact in float32, and so are its neighbours. Ties go to even.
      const auto middle = static_cast<float>((value + factor * format.value(bits + 1)) / 2);
      const int next = (bits + 1) | sign, even = bits % 2 == 0 ? stored : next;
      ASSERT_EQ(rounded(middle), even) << middle;
      ASSERT_EQ(rounded(std::nextafter(middle, 0.0f)), stored) << middle;
      ASSERT_EQ(rounded(std::nextafter(middle, static_cast<float>(factor) * HUGE_VALF)), next) << middle;
    }
  }
  for (const int sign : {0, 0x8000}) {
    const float infinity = sign == 0 ? HUGE_VALF : -HUGE_VALF;
    const auto stored = static_cast<std::uint16_t>(format.infinity() | sign);
    EXPECT_EQ(to_float(T{stored}), infinity);
    EXPECT_EQ(from_float(infinity).bits, stored);
    for (int bits = format.infinity() + 1; bits < 0x8000; ++bits) {
      ASSERT_TRUE(std::isnan(to_float(T{static_cast<std::uint16_t>(bits | sign)})));
    }
  }
  EXPECT_EQ(from_float(std::nanf("")).bits, 0x7fff);
}

TEST(Emulation, Bfloat16IsExactForEveryValueAndRoundsToNearestEven) {
  expect_conversions<__nv_bfloat16>({8}, __bfloat162float, __float2bfloat16_rn);
}

TEST(Emulation, Float16IsExactForEveryValueAndRoundsToNearestEven) {
  expect_conversions<__half>({5}, __half2float, __float2half_rn);
}

}  // namespace
}  // namespace convoy
