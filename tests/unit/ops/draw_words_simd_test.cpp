/// The vectors of random words of the CPU's operations, compiled with the same flags as these.
#include "ops/cpu/draw_words_simd.h"

#include <gtest/gtest.h>

#include "reference/dropout.h"

namespace convoy {
namespace {

using ops::DrawKey;
using ops::cpu::LayerWords;

TEST(LayerWords, EqualPhiloxWordByWord) {
  for (const DrawKey& key : {DrawKey{}, DrawKey{.seed = 0x123456789abcdef0, .step = 0xfedcba9876, .micro_batch = 5},
                             DrawKey{.seed = ~0ull, .step = ~0ull, .micro_batch = 0xffffffff}}) {
    for (const std::uint64_t layer : {0ull, 0x9ddfea08eb382d69ull}) {
      const std::uint64_t mixed = key.seed ^ layer;
      const LayerWords words(key, layer);
      // The last draw goes beyond the largest block, after which blocks begin again at 0.
      for (const std::uint32_t block : {0u, 1u, 7u, 0x89abcdefu, 0xfffffffeu}) {
        ops::cpu::WordVec drawn[LayerWords::kNumVectors];
        words.draw(block, drawn);
        for (std::int64_t i = 0; i < LayerWords::kNumWords; ++i) {
          const reference::Words want =
              reference::philox({block + static_cast<std::uint32_t>(i / 4), static_cast<std::uint32_t>(key.micro_batch),
                                 static_cast<std::uint32_t>(key.step), static_cast<std::uint32_t>(key.step >> 32)},
                                static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32));
          ASSERT_EQ(drawn[i / ops::cpu::kLanes][i % ops::cpu::kLanes], want[reference::index(i % 4)])
              << "word " << i << " after block " << block;
        }
      }
    }
  }
}

}  // namespace
}  // namespace convoy
