/// convoy info, convoy check: what files hold and whether they are whole. Rank 0 works.
#include <cstdio>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/io/inspect.h"

#include "commands/commands.h"

namespace convoy::commands {

namespace {

void need_files(const Request& request) {
  if (request.arguments.empty())
    refuse("convoy {} needs checkpoints, data sets or shards, as in convoy {} data/fashion runs/a/checkpoints/*.h5",
           request.command, request.command);
}

}  // namespace

ExitStatus info(const Request& request, mpi::Session& session) {
  need_files(request);
  if (session.world().rank() != 0) return ExitStatus::kDone;
  ExitStatus status = ExitStatus::kDone;
  for (const std::string& path : request.arguments) {
    try {
      fmt::print("{}\n", io::describe(path));
    } catch (const Error& error) {
      std::fflush(stdout);
      log_error(error.what());
      status = ExitStatus::kFailed;
    }
  }
  return status;
}

ExitStatus check(const Request& request, mpi::Session& session) {
  need_files(request);
  if (session.world().rank() != 0) return ExitStatus::kDone;
  bool whole = true;
  for (const std::string& path : request.arguments) {
    try {
      for (const io::Verdict& verdict : io::verify(path)) {
        fmt::print("{}: {}\n", verdict.path, verdict.damage.value_or("whole"));
        whole = whole && !verdict.damage;
      }
    } catch (const Error& error) {
      std::fflush(stdout);
      log_error(error.what());
      whole = false;
    }
  }
  return whole ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace convoy::commands
