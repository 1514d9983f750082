/// Chooses the width of a kernel's memory accesses: the largest that divides the number of neighbouring values.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "ops/cuda/element.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

template <int kWidth>
using Width = std::integral_constant<int, kWidth>;

/// Calls `work` with the largest Width, in values of T, that divides `count`: that of 16 bytes, 4 values, or 1 value.
template <typename T, typename Work>
void with_width(std::int64_t count, Work&& work) {
  if constexpr (kWidest < T >> 4) {
    if (count % kWidest<T> == 0) return work(Width<kWidest<T>>{});
  }
  if (count % 4 == 0) return work(Width<4>{});
  work(Width<1>{});
}

/// Creates Op<T, kWidth>(spec, context), where T is the C++ type that stores spec.type, and kWidth is the largest width
/// of accesses to `count` neighbouring values.
template <template <typename, int> typename Op, typename Contract>
std::unique_ptr<Contract> make_wide(std::int64_t count, const typename Contract::Spec& spec, Context& context) {
  std::unique_ptr<Contract> op;
  with_type(spec.type, [&]<typename T>(T*) {
    with_width<T>(count, [&]<int kWidth>(Width<kWidth>) { op = std::make_unique<Op<T, kWidth>>(spec, context); });
  });
  return op;
}

}  // namespace convoy::ops::cuda
