/// See parameter_checks.h.
#include "preflight/parameter_checks.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

#include "calibrate/run_layout.h"

namespace convoy::preflight {

namespace {

constexpr const char* kCheck = "parameters";

// Reports each problem in a line if all ranks have the same problems. They differ only if a host lacks files.
void add_problems(const std::vector<std::string>& mine, Report& report) {
  const std::vector<std::string> texts = report.gather(fmt::format("{}", fmt::join(mine, "\n")));
  if (!report.is_root()) return;
  if (std::all_of(texts.begin(), texts.end(), [&](const std::string& text) { return text == texts.front(); })) {
    for (const std::string& problem : mine) report.add(kCheck, fails(problem));
    return;
  }
  std::vector<Finding> findings;
  for (const std::string& text : texts) findings.push_back(text.empty() ? ok("") : fails(text));
  report.add(kCheck, summarise(findings, report.hosts()));
}

// Returns what is wrong with the grid for this number of ranks and this network; "" if nothing is. The result is the
// same on all ranks.
std::string find_grid_problem(const Parameters& params, std::int64_t num_ranks) {
  try {
    requested_grid(params, num_ranks);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

ParameterState check_parameters(const Request& request, Report& report) {
  const mpi::Communicator& world = report.world();
  const std::string mine = fmt::format("{:016x}", std::hash<std::string>{}(render(request.params)));
  const std::string of_root = world.broadcast(mine, 0);
  ParameterState state{.is_common = world.max(mine == of_root ? 0 : 1) == 0};
  if (world.max(request.problems.empty() ? 0 : 1) > 0) {
    add_problems(request.problems, report);
    return state;
  }
  const std::string problem = state.is_common ? find_grid_problem(request.params, world.size()) : "";
  state.is_sound = state.is_common && problem.empty();
  if (problem.empty())
    report.add_agreement(kCheck, "no key is refused; fingerprint " + mine, Outcome::kFails,
                         "Give all hosts the same parameter files.");
  else
    report.add(kCheck, fails(problem));
  for (const std::string& doubt : warnings_for(request.params)) report.add(kCheck, warning(doubt));
  return state;
}

}  // namespace convoy::preflight
