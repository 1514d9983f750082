/// convoy info, convoy check, convoy compare, convoy join, convoy export: what files hold, whether they are whole,
/// where two differ, one file of many, weights for other programs. Rank 0 works.
#include <cstdio>
#include <functional>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/inference/inference.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/inspect.h"
#include "convoy/run/compare.h"

#include "commands/commands.h"
#include "commands/machine_info.h"

namespace convoy::commands {

namespace {

// On rank 0, path after path; one that `work` fails on, or says no to, does not keep it from the others.
ExitStatus for_each_path(const Request& request, const mpi::Session& session,
                         const std::function<bool(const std::string& path)>& work) {
  if (request.arguments.empty())
    refuse("convoy {} needs checkpoints, data sets or shards, as in convoy {} data/fashion runs/a/checkpoints/*.h5",
           request.command, request.command);
  if (session.world().rank() != 0) return ExitStatus::kDone;
  bool is_well = true;
  for (const std::string& path : request.arguments) {
    try {
      is_well = work(path) && is_well;
    } catch (const Error& error) {
      std::fflush(stdout);
      log_error(error.what());
      is_well = false;
    }
  }
  return is_well ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace

ExitStatus info(const Request& request, mpi::Session& session) {
  if (request.arguments.empty()) return print_machine(session);
  return for_each_path(request, session, [](const std::string& path) {
    fmt::print("{}\n", io::describe(path));
    return true;
  });
}

ExitStatus check(const Request& request, mpi::Session& session) {
  if (request.is_preflight) return check_parameters(request, session);
  return for_each_path(request, session, [](const std::string& path) {
    bool is_whole = true;
    for (const io::Verdict& verdict : io::verify(path)) {
      fmt::print("{}: {}\n", verdict.path, verdict.damage.value_or("whole"));
      is_whole = is_whole && !verdict.damage;
    }
    return is_whole;
  });
}

ExitStatus join(const Request& request, mpi::Session& session) {
  return for_each_path(request, session, [](const std::string& path) {
    fmt::print("{}: {}\n", path, io::join_checkpoint(path) ? "now one file" : "is one file already");
    return true;
  });
}

ExitStatus compare(const Request& request, mpi::Session& session) {
  if (request.arguments.size() != 2)
    refuse("convoy compare needs two run directories or two files of weights, as in convoy compare runs/a runs/b");
  if (session.world().rank() != 0) return ExitStatus::kDone;
  const Comparison comparison = convoy::compare(request.arguments[0], request.arguments[1]);
  fmt::print("{}", comparison.text);
  return comparison.equal ? ExitStatus::kDone : ExitStatus::kFailed;
}

ExitStatus export_weights(const Request& request, mpi::Session& session) {
  if (session.world().rank() == 0) convoy::export_weights(request);
  return ExitStatus::kDone;
}

}  // namespace convoy::commands
