/// Measured once, by rank 0.
#include "train/share_plans.h"

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"

#include "io/atomic_file.h"

namespace convoy {

namespace {

// A file that cannot be used only costs the time to measure again.
ops::PlanCache read_plans(const std::string& file) {
  try {
    const auto text = io::read_text(file);
    return text ? ops::PlanCache::parse(*text) : ops::PlanCache();
  } catch (const Error& error) {
    log_warning(fmt::format("{} is not used: {}", file, error.what()));
    return {};
  }
}

}  // namespace

void share_plans(const Network& network, const mpi::Communicator& world, const std::string& file,
                 ops::Library& library) {
  ops::PlanCache* plans = library.plans();
  if (plans == nullptr) return;
  mpi::on_root(world, [&] {
    if (*plans == ops::PlanCache()) *plans = read_plans(file);
    for (const auto& cell : network) cell->create_ops(library);
  });
  *plans = ops::PlanCache::parse(world.broadcast(plans->serialise(), 0));
}

}  // namespace convoy
