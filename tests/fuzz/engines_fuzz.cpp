/// The file of cuDNN's engines that a run directory keeps. What is accepted is written, and is the same when it is read
/// back.
#include "convoy/ops/engine_cache.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using convoy::ops::EngineCache;
  return convoy::fuzz::read_or_refuse([&] {
    const EngineCache cache = EngineCache::parse(convoy::fuzz::Input(data, size).rest());
    convoy::fuzz::require(EngineCache::parse(cache.serialise()) == cache, "a written file is read as it was");
  });
}
