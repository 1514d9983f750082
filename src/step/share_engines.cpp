/// Rank 0 measures the engines once, and all ranks use them.
#include "step/share_engines.h"

#include <filesystem>
#include <system_error>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/ops/engine_cache.h"

#include "plan/step_plan.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFormerEnginesFile = "plans.txt";

// Returns the file to read: `file`, or the one that an earlier version wrote in its place.
std::string file_to_read(const std::string& file) {
  const fs::path path(file), former = path.parent_path() / kFormerEnginesFile;
  std::error_code unknown;
  const bool is_former = path.filename() == kEnginesFile && !fs::exists(path, unknown) && fs::exists(former, unknown);
  return is_former ? former.string() : file;
}

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

void share_engines(const Network& network, const mpi::Communicator& world, const std::string& file,
                   ops::Backend& backend) {
  ops::EngineCache* engine_cache = backend.engine_cache();
  if (engine_cache == nullptr) return;
  mpi::on_root(world, [&] {
    if (*engine_cache == ops::EngineCache()) *engine_cache = read_engines(file_to_read(file));
    for (const auto& cell : network) cell->create_ops(backend);
  });
  *engine_cache = ops::EngineCache::parse(world.broadcast(engine_cache->serialise(), 0));
}

}  // namespace convoy
