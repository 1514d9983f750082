/// Prefetches memory that a loop will read soon, in cases that the processor's own prefetching does not recognise.
#pragma once

#include <cstdint>

namespace convoy::ops::cpu {

inline constexpr std::int64_t kCacheLineBytes = 64;

enum class CacheLevel { kFirst, kSecond };

/// Prefetches `count` values into the cache of this level.
template <CacheLevel level = CacheLevel::kFirst, typename T>
[[gnu::always_inline]] inline void prefetch(const T* values, std::int64_t count) {
  constexpr int kLocality = level == CacheLevel::kFirst ? 3 : 2;
  const auto* bytes = reinterpret_cast<const char*>(values);
  for (std::int64_t at = 0; at < count * static_cast<std::int64_t>(sizeof(T)); at += kCacheLineBytes)
    __builtin_prefetch(bytes + at, 0, kLocality);
}

}  // namespace convoy::ops::cpu
