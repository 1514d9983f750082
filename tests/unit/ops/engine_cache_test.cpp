/// The cache of engines that is sent between ranks and stored in files.
#include "convoy/ops/engine_cache.h"

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/messages.h"

namespace convoy::ops {
namespace {

TEST(EngineCache, FindsWhatWasInsertedLast) {
  EngineCache cache;
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.insert("a", "1");
  cache.insert("a", "2");
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(*cache.find("a"), "2");
  EXPECT_EQ(cache.find("b"), nullptr);
}

TEST(EngineCache, IsTheSameBehindItsText) {
  EngineCache cache;
  EXPECT_EQ(EngineCache::parse(cache.serialise()), cache);
  cache.insert("GPU, forward 2x3x3x4", "engine 7, knob 2");
  cache.insert("", "");
  EXPECT_EQ(EngineCache::parse(cache.serialise()), cache);
}

TEST(EngineCache, HasOneTextWhateverTheOrderOfInsertion) {
  EngineCache one, other;
  one.insert("a", "1");
  one.insert("b", "2");
  other.insert("b", "2");
  other.insert("a", "1");
  EXPECT_EQ(one.serialise(), other.serialise());
}

TEST(EngineCache, RefusesTextOfOthersNamingTheLine) {
  for (const auto& tested :
       {std::pair{"", "line 1"}, std::pair{"plans\n", "line 1"}, std::pair{"convoy plans 1", "line 1"},
        std::pair{"convoy plans 1\nkey\n", "line 2"}, std::pair{"convoy plans 1\nkey\tvalue\nkey\tcut", "line 3"},
        std::pair{"convoy plans 1\nkey\tvalue\tand more\n", "line 2"}}) {
    EXPECT_CONTAINS(test::message_of<Error>([&] { EngineCache::parse(tested.first); }), tested.second);
  }
}

}  // namespace
}  // namespace convoy::ops
