/// Rank 0 measures the engines once, and all ranks use them.
#include "plan/share_engines.h"

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/ops/engine_cache.h"
#include "convoy/params/run_parameters.h"

namespace convoy {

namespace {

// A file that cannot be used costs only the time to measure again.
ops::EngineCache read_engines(const std::string& file) {
  try {
    const auto text = io::read_text(file);
    return text ? ops::EngineCache::parse(*text) : ops::EngineCache();
  } catch (const Error& error) {
    log_warning(fmt::format("{} is not used: {}", file, error.what()));
    return {};
  }
}

}  // namespace

std::string engines_path(const RunParams& run) {
  return run.plans.empty() ? run.directory + "/plans.txt" : run.plans;
}

void share_engines(const Network& network, const mpi::Communicator& world, const std::string& file,
                   ops::Backend& backend) {
  ops::EngineCache* engine_cache = backend.engine_cache();
  if (engine_cache == nullptr) return;
  mpi::on_root(world, [&] {
    if (*engine_cache == ops::EngineCache()) *engine_cache = read_engines(file);
    for (const auto& cell : network) cell->create_ops(backend);
  });
  *engine_cache = ops::EngineCache::parse(world.broadcast(engine_cache->serialise(), 0));
}

}  // namespace convoy
