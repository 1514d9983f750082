/// convoy info, convoy check, convoy compare, convoy join, convoy watch: shows what files hold, checks that they are
/// whole, compares two, joins many into one, and shows a run in the terminal. Runs in one process, without MPI.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/host_name.h"
#include "convoy/base/log.h"
#include "convoy/base/print.h"
#include "convoy/base/text.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/inspect.h"
#include "convoy/io/run_lock.h"
#include "convoy/model/network.h"

#include "checkpoint/make_metadata.h"
#include "commands/commands.h"
#include "commands/machine_info.h"
#include "dashboard/dashboard.h"
#include "preflight/report.h"
#include "run/compare.h"
#include "run/network_info.h"

namespace convoy::commands {

namespace {

constexpr const char *kPaths = "paths of checkpoints, data sets or shards",
                     *kExample = "data/fashion runs/a/checkpoints/*.h5";

// Works on path after path. Refuses a request without paths, and then names the `needed` ones with an `example`. If
// `work` throws or returns false for one, the others are still tried. A path of the wrong kind determines the exit
// status rather than one that is damaged.
ExitStatus for_each_path(const Request& request, const char* needed, const char* example,
                         const std::function<bool(const std::string& path)>& work) {
  if (request.arguments.empty()) refuse("convoy {0} needs {1}, as in convoy {0} {2}", request.command, needed, example);
  ExitStatus status = ExitStatus::kDone;
  const auto note = [&](ExitStatus other) { status = std::max(status, other); };
  for (const std::string& path : request.arguments) {
    try {
      if (!work(path)) note(ExitStatus::kFailed);
    } catch (const Error& error) {
      std::fflush(stdout);
      log_error(error.what());
      note(dynamic_cast<const RequestError*>(&error) ? ExitStatus::kWrongRequest : ExitStatus::kFailed);
    }
  }
  return status;
}

// Locks the run of a checkpoint. A training writes parts of its next checkpoint into the same folder, and until it is
// complete they look like remains.
std::optional<io::RunLock> lock_run_of(const std::string& checkpoint) {
  namespace fs = std::filesystem;
  const fs::path run = fs::absolute(checkpoint).lexically_normal().parent_path().parent_path();
  std::error_code unknown;
  if (!fs::is_regular_file(run / "lock", unknown)) return std::nullopt;
  return std::optional<io::RunLock>(std::in_place, run.string());
}

bool exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

// Returns why a word is not the name of a network; nothing if it names a network.
std::optional<std::string> find_fault_in_name(const std::string& word) {
  if (word.find_first_of("./") != std::string::npos) return "it is a path";
  try {
    check_network_name(lower_case(word));
    return std::nullopt;
  } catch (const RequestError& error) {
    return error.what();
  }
}

void print_network_of_checkpoint(const Request& request, const std::string& path) {
  const Parameters& params = request.params;
  if (const std::string unread = describe_unread_network(request, path); !unread.empty()) log_warning(unread);
  const io::Checkpoint checkpoint = io::decode_checkpoint(io::read_checkpoint_file(path), path);
  print("{}\n", describe_network(params, with_size(checkpoint.metadata, params.augment)));
}

// Describes a network, by its name or file, or files. A name that is a network's means the network; "./NAME" the file.
void print_info(const Request& request, const std::string& argument) {
  const Parameters& params = request.params;
  const std::optional<std::string> fault = find_fault_in_name(argument);
  if (!fault || argument.ends_with(".lua")) {
    print("{}\n", describe_network(with_network(params, argument)));
    return;
  }
  try {
    print("{}\n", io::describe(argument));
  } catch (const RequestError& error) {
    if (argument.find_first_of("./") != std::string::npos || exists(argument)) throw;
    refuse("{}. If it is the name of a network: {}", error.what(), *fault);
  }
  std::error_code unknown;
  if (std::filesystem::is_regular_file(argument, unknown) && io::is_checkpoint_file(argument))
    print_network_of_checkpoint(request, argument);
  else if (!params.info.draw.empty())
    refuse("info.draw = {} is a picture of a network, and {} has none. Name a network or a checkpoint.",
           params.info.draw, argument);
}

}  // namespace

ExitStatus info(const Request& request) {
  if (request.arguments.empty()) {
    print("{}", describe_machine_and_ranks({host_name()}, {describe_own_processors()}));
    return ExitStatus::kDone;
  }
  if (!request.params.info.draw.empty() && request.arguments.size() > 1)
    refuse("info.draw = {} is a picture of one network, but {} arguments are given.", request.params.info.draw,
           request.arguments.size());
  for (const char* const key : {"model.name", "model.file"})
    if (request.given_on_command_line(key))
      refuse("convoy info takes a network as its argument, not as --{}: convoy info {}", key,
             shown_value(key, request.params));
  return for_each_path(request, kPaths, kExample, [&](const std::string& argument) {
    print_info(request, argument);
    return true;
  });
}

ExitStatus info_of_ranks(const Request&, WatchdogSession& watchdog) {
  const preflight::Report ranks(watchdog.world());  // used because it gathers texts
  const std::vector<std::string> processors = ranks.gather(describe_own_processors());
  if (ranks.is_root()) print("{}", describe_machine_and_ranks(ranks.hosts(), processors));
  return ExitStatus::kDone;
}

ExitStatus check_files(const Request& request) {
  return for_each_path(request, kPaths, kExample, [](const std::string& path) {
    bool is_whole = true;
    for (const io::Verdict& verdict : io::verify(path)) {
      print("{}: {}\n", verdict.path, verdict.damage.value_or("whole"));
      is_whole = is_whole && !verdict.damage;
    }
    return is_whole;
  });
}

ExitStatus join(const Request& request) {
  return for_each_path(request, "sharded checkpoints", "runs/a/checkpoints/*.h5", [](const std::string& path) {
    const std::optional<io::RunLock> lock = lock_run_of(path);
    print("{}: {}\n", path, io::join_checkpoint(path) ? "now one file" : "is one file already");
    return true;
  });
}

ExitStatus compare(const Request& request) {
  if (request.arguments.size() != 2)
    refuse("convoy compare needs two run directories or two files of weights, as in convoy compare runs/a runs/b");
  const Comparison comparison = convoy::compare(request.arguments[0], request.arguments[1]);
  print("{}", comparison.text);
  return comparison.equal ? ExitStatus::kDone : ExitStatus::kFailed;
}

ExitStatus watch(const Request& request) {
  if (request.arguments.size() != 1) refuse("convoy watch needs one run directory, as in convoy watch runs/convoy");
  return watch_run(request.arguments.front(), request.params.watch.once);
}

}  // namespace convoy::commands
