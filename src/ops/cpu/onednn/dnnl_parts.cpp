/// The sum of the results of parts.
#include "ops/cpu/onednn/dnnl_parts.h"

#include <algorithm>

#include "ops/cpu/parallel.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kBlock = 4096;  // sums that stay in the nearest cache

}  // namespace

void add_in_order(float* sum, const float* parts, std::int64_t count, std::int64_t num, std::int64_t stride,
                  int threads) {
  in_parts(count, threads, [=](Range range) {
    for (std::int64_t begin = range.begin; begin < range.end; begin += kBlock) {
      const std::int64_t end = std::min(begin + kBlock, range.end);
      for (std::int64_t p = 0; p < num; ++p)
        for (std::int64_t i = begin; i < end; ++i) sum[i] += parts[p * stride + i];
    }
  });
}

}  // namespace convoy::ops::cpu
