/// Measured once, by rank 0.
#include "train/share_plans.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"

namespace convoy {

namespace {

// A file that cannot be used only costs the time to measure again.
ops::PlanCache read_plans(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return {};
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  try {
    return ops::PlanCache::parse(text);
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
    for (const auto& cell : network) cell->plan(library);
  });
  *plans = ops::PlanCache::parse(world.broadcast(plans->serialise(), 0));
}

}  // namespace convoy
