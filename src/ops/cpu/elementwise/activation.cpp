/// Activations on the CPU. Compiled without contraction; the values at the end also use whole vectors. So a value's
/// result does not depend on where its range begins.
#include "ops/cpu/elementwise/activation.h"

#include <algorithm>
#include <bit>
#include <memory>

// Only if vectors are as wide as the intrinsics' (clang-tidy's are not).
#if defined(__FMA__) && __BIGGEST_ALIGNMENT__ >= 32
#include <immintrin.h>
#define CONVOY_HAS_FMA 1
#else
#define CONVOY_HAS_FMA 0
#endif

#include "ops/activation_math.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kWorthThreads = 1 << 15;  // below, waking threads costs more than the loop

struct VectorMath {
  using V = Vec;

  [[gnu::always_inline]] static Vec multiply_add(Vec a, Vec b, Vec c) {
#if CONVOY_HAS_FMA && __BIGGEST_ALIGNMENT__ == 64
    return _mm512_fmadd_ps(a, b, c);
#elif CONVOY_HAS_FMA
    return _mm256_fmadd_ps(a, b, c);
#else
    return a * b + c;
#endif
  }

  [[gnu::always_inline]] static Vec product_error(Vec a, Vec b, Vec product) {
#if CONVOY_HAS_FMA
    return multiply_add(a, b, -product);
#else
    // Dekker 1971: the products of halves, of 12 bits each, are exact.
    const Vec a1 = upper_bits(a), a2 = a - a1, b1 = upper_bits(b), b2 = b - b1;
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
#endif
  }

  [[gnu::always_inline]] static Vec magnitude(Vec x) {
    return masked(x, 0x7fffffffu);
  }

  [[gnu::always_inline]] static Vec add_to_exponent(Vec v, Vec n) {
    return std::bit_cast<Vec>(std::bit_cast<WordVec>(v) + (std::bit_cast<WordVec>(n) << 23));
  }

 private:
  [[gnu::always_inline]] static Vec upper_bits(Vec v) {
    return masked(v, 0xfffff000u);
  }
  [[gnu::always_inline]] static Vec masked(Vec v, std::uint32_t bits) {
    return std::bit_cast<Vec>(std::bit_cast<WordVec>(v) & bits);
  }
};

using Formulas = ActivationMath<VectorMath>;

/// Loads the first `count` lanes, with zeros in the others.
template <typename T>
Vec load_first(const T* p, std::int64_t count) {
  T values[kLanes] = {};
  std::copy_n(p, count, values);
  return read<Vec>(values);
}
template <typename T>
void store_first(T* p, Vec v, std::int64_t count) {
  T values[kLanes];
  write(values, v);
  std::copy_n(values, count, p);
}

template <typename T, typename Function>
void map(const T* x, T* y, Range range, Function&& f) {
  std::int64_t i = range.begin;
  for (; i + kLanes <= range.end; i += kLanes) write(y + i, f(read<Vec>(x + i)));
  if (i < range.end) store_first(y + i, f(load_first(x + i, range.end - i)), range.end - i);
}

template <typename T, typename Function>
void map(const T* x, const T* dy, T* dx, Range range, Function&& f) {
  std::int64_t i = range.begin;
  for (; i + kLanes <= range.end; i += kLanes) write(dx + i, f(read<Vec>(x + i), read<Vec>(dy + i)));
  const std::int64_t rest = range.end - i;
  if (rest > 0) store_first(dx + i, f(load_first(x + i, rest), load_first(dy + i, rest)), rest);
}

template <typename T>
void activate_values(const ActivationSpec& spec, const T* x, T* y, Range range) {
  const ActivationNumbers numbers{spec.factor, spec.constant};
  with_activation(spec.activation, [&]<Activation f>(ActivationTag<f>) {
    map(x, y, range, [=](Vec v) { return Formulas::value<f>(v, numbers); });
  });
}

template <typename T>
void differentiate_values(const ActivationSpec& spec, const T* x, const T* dy, T* dx, Range range) {
  const ActivationNumbers numbers{spec.factor, spec.constant};
  with_activation(spec.activation, [&]<Activation f>(ActivationTag<f>) {
    map(x, dy, dx, range, [=](Vec v, Vec dv) { return Formulas::gradient<f>(v, dv, numbers); });
  });
}

/// Calls loop(T*{}, the calling thread's range) on each thread.
template <typename Loop>
void in_parts(const ActivationSpec& spec, int threads, Loop&& loop) {
  const bool alone = spec.count < kWorthThreads || threads == 1;
  with_storage(spec.type, [&]<typename T>() {
#pragma omp parallel num_threads(threads) if (!alone)
    loop(static_cast<T*>(nullptr), my_part_of(spec.count));
  });
}

class CpuActivation final : public ActivationOp {
 public:
  CpuActivation(const ActivationSpec& spec, const Workspace& workspace) : spec_(spec), workspace_(workspace) {}

  void forward(const void* x, void* y) override { activate(spec_, x, y, workspace_.threads()); }

  void backward(const void* x, const void* dy, void* dx) override {
    if (spec_.activation == Activation::kAffine) x = dy;  // whose derivative does not depend on x
    in_parts(spec_, workspace_.threads(), [=, this]<typename T>(T*, Range range) {
      differentiate_values(spec_, values_at<T>(x), values_at<T>(dy), values_at<T>(dx), range);
    });
  }

 private:
  ActivationSpec spec_;
  const Workspace& workspace_;
};

}  // namespace

void activate(const ActivationSpec& spec, const void* x, void* y, int threads) {
  in_parts(spec, threads,
           [=]<typename T>(T*, Range range) { activate_values(spec, values_at<T>(x), values_at<T>(y), range); });
}

template <>
std::unique_ptr<ActivationOp> make_op(const ActivationSpec& spec, const Resources& resources) {
  return std::make_unique<CpuActivation>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
