/// The program: reads the request and runs its command.
#include <csignal>
#include <exception>

#include "convoy/comm/launch.h"
#include "convoy/comm/session.h"
#include "convoy/params/parse.h"

#include "commands/commands.h"
#include "watchdog/watchdog_session.h"

namespace {

struct Asked {
  convoy::Request request;
  std::exception_ptr refusal;  ///< what is wrong with the command line or a parameter file

  const convoy::Request& get() const {
    if (refusal) std::rethrow_exception(refusal);
    return request;
  }
};

Asked read_request(int argc, char** argv) {
  try {
    return {.request = convoy::parse_command_line(argc, argv), .refusal = nullptr};
  } catch (...) {
    return {.request = {}, .refusal = std::current_exception()};
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error with a message, like a full disk, not a crash
  // 1. What is asked for, and of how many processes: several refuse together, as perhaps only some see the reason
  const convoy::Launch launch = convoy::find_launch();
  const Asked asked = read_request(argc, argv);
  const bool needs_ranks = asked.refusal ? convoy::commands::needs_ranks(argc, argv, launch.is_launched)
                                         : convoy::commands::needs_ranks(asked.request, launch.is_launched);
  // 2. Do it, in the first of them alone
  if (!needs_ranks) {
    if (launch.rank > 0) return 0;
    return convoy::mpi::run_guarded_alone([&] { return convoy::commands::run_alone(asked.get(), launch); });
  }
  // or on all ranks, which are watched from before MPI starts until it has ended
  const convoy::RunParams& params = asked.request.params.run;
  convoy::StartWatchdog start(convoy::start_spec(params));
  return convoy::mpi::run_guarded(argc, argv, [&](convoy::mpi::Session& session) {
    const convoy::Request& request = asked.get();
    convoy::WatchdogSession watchdog(params, session);
    start.end();
    return convoy::commands::run(request, launch, watchdog);
  });
}
