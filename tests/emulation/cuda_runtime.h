/// Replaces the CUDA toolkit's header of this name, so that a host compiler builds the same .cu files and tests run
/// them without a GPU. It has the functions that Convoy's kernels use, and reports errors that a GPU would not:
/// barriers and shuffles that not all threads reach.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <math.h>  // NOLINT(modernize-deprecated-headers): device code calls fmaxf and isfinite without std

#include "emulation/machine.h"
#include "emulation/streams.h"

// NOLINTBEGIN: names are CUDA's

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static  // of one block at a time

// --- Vector types and built-in variables ---------------------------------------------------------------------

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  unsigned x, y, z;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

inline constinit thread_local uint3 threadIdx = {}, blockIdx = {};
inline constinit thread_local dim3 blockDim = {}, gridDim = {};
inline constexpr int warpSize = 32;

// --- Threads of a block and lanes of a warp ------------------------------------------------------------------

inline void __syncthreads(const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  convoy::emulation::wait_for_block(where);
}
inline void __syncwarp(unsigned mask = ~0u,
                       const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  convoy::emulation::exchange_in_warp(mask, 0, convoy::emulation::lane(), where);
}
inline unsigned __ballot_sync(unsigned mask, int predicate,
                              const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  return convoy::emulation::exchange_in_warp(mask, predicate != 0, convoy::emulation::lane(), where).votes;
}
inline int __any_sync(unsigned mask, int predicate,
                      const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  return __ballot_sync(mask, predicate, where) != 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  return __ballot_sync(mask, predicate, where) == mask;
}

namespace convoy::emulation {

template <typename T>
T shuffle(unsigned mask, T value, unsigned source, const CallSite& where) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange_in_warp(mask, bits, source, where).value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace convoy::emulation

// By the programming guide, a lane whose source is outside of its `width` lanes gets its own value.
template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  const unsigned lane = convoy::emulation::lane(), low = static_cast<unsigned>(width - 1);
  return convoy::emulation::shuffle(mask, value, (lane & ~low) | (static_cast<unsigned>(source) & low), where);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                  const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  const unsigned lane = convoy::emulation::lane(), source = lane ^ static_cast<unsigned>(lanes);
  const unsigned end = (lane | static_cast<unsigned>(width - 1)) + 1;
  return convoy::emulation::shuffle(mask, value, source < end ? source : lane, where);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = 32,
                   const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  const unsigned lane = convoy::emulation::lane(), source = lane + lanes;
  const unsigned end = (lane | static_cast<unsigned>(width - 1)) + 1;
  return convoy::emulation::shuffle(mask, value, source < end ? source : lane, where);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = 32,
                 const convoy::emulation::CallSite& where = convoy::emulation::CallSite::current()) {
  const unsigned lane = convoy::emulation::lane(), begin = lane & ~static_cast<unsigned>(width - 1);
  return convoy::emulation::shuffle(mask, value, lane >= begin + lanes ? lane - lanes : lane, where);
}

// --- Memory --------------------------------------------------------------------------------------------------

template <typename T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "sums of floating-point numbers must not depend on an order");
  const T before = *at;
  *at = before + value;
  return before;
}
inline unsigned atomicInc(unsigned* at, unsigned last) {
  const unsigned before = *at;
  *at = before >= last ? 0 : before + 1;
  return before;
}
template <typename T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  const T before = *at;
  *at = value;
  return before;
}
template <typename T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>);
  const T before = *at;
  if (value > before) *at = value;
  return before;
}
template <typename T>
T atomicOr(T* at, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>);
  const T before = *at;
  *at = before | value;
  return before;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// Hints to caches.
template <typename T>
T __ldg(const T* from) {
  return *from;
}
template <typename T>
T __ldcs(const T* from) {
  return *from;
}
template <typename T>
T __ldcg(const T* from) {
  return *from;
}
template <typename T>
void __stcs(T* to, std::type_identity_t<T> value) {
  *to = value;
}
template <typename T>
void __stcg(T* to, std::type_identity_t<T> value) {
  *to = value;
}

// --- Arithmetic ----------------------------------------------------------------------------------------------

inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __fsqrt_rn(float a) {
  return std::sqrt(a);
}
inline float __frcp_rn(float a) {
  return 1.0f / a;
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline float rsqrtf(float a) {
  return 1.0f / std::sqrt(a);
}
inline double rsqrt(double a) {
  return 1.0 / std::sqrt(a);
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline float __expf(float a) {
  return std::exp(a);
}
inline float __logf(float a) {
  return std::log(a);
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float __double2float_rn(double a) {
  return static_cast<float>(a);
}
inline unsigned __float_as_uint(float a) {
  return std::bit_cast<unsigned>(a);
}
inline float __uint_as_float(unsigned a) {
  return std::bit_cast<float>(a);
}
inline int __float_as_int(float a) {
  return std::bit_cast<int>(a);
}
inline float __int_as_float(int a) {
  return std::bit_cast<float>(a);
}
inline int __popc(unsigned a) {
  return std::popcount(a);
}
inline int __clz(int a) {
  return std::countl_zero(static_cast<unsigned>(a));
}
inline int __ffs(int a) {
  return a == 0 ? 0 : std::countr_zero(static_cast<unsigned>(a)) + 1;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
template <typename T>
requires std::is_arithmetic_v<T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
requires std::is_arithmetic_v<T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}

// --- Launches ------------------------------------------------------------------------------------------------

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  void* attrs;
  unsigned numAttrs;
};

namespace convoy::emulation {

/// Whether a launch is within the limits of every GPU since Volta.
inline bool launchable(const cudaLaunchConfig_t& config) {
  const auto [gx, gy, gz] = config.gridDim;
  const auto [bx, by, bz] = config.blockDim;
  const bool some = gx > 0 && gy > 0 && gz > 0 && bx > 0 && by > 0 && bz > 0;
  return some && gx <= 0x7fffffffu && gy <= 65535 && gz <= 65535 && bx <= 1024 && by <= 1024 && bz <= 64 &&
         bx * by * bz <= 1024 && config.dynamicSmemBytes == 0;
}

}  // namespace convoy::emulation

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  if (!convoy::emulation::launchable(*config)) return cudaErrorInvalidConfiguration;
  const auto run = [grid = config->gridDim, block = config->blockDim, kernel,
                    held = std::tuple<Parameters...>(arguments...)] {
    convoy::emulation::run_grid({grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                                [&] { std::apply(kernel, held); });
  };
  return convoy::emulation::enqueue(config->stream, run);
}

// NOLINTEND
