/// Finds the rank that holds up all others: from the status that each rank reports, and from the state of the processes
/// of ranks that do not answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "watchdog/status_board.h"

namespace convoy {

/// Whether a rank answers, and if not, why.
enum class Reach : std::uint8_t {
  kAnswers,
  kLeft,         ///< it has done all its work, has said goodbye and has ended
  kEnded,        ///< its process has ended without a goodbye
  kStopped,      ///< its process exists but does not run: it was stopped by SIGSTOP
  kTraced,       ///< its process exists but does not run: a debugger holds it
  kSilent,       ///< its process does not answer; the reason is not known
  kUnreachable,  ///< its host does not answer: the host is down, or the network between
};

/// Returns a description: "does not run: its process was stopped (SIGSTOP) ...".
const char* describe(Reach reach);

/// What is known about a rank of the job.
struct RankReport {
  int rank = 0;
  std::string host;
  std::string process_space;  ///< result of process_space() on that rank
  std::int64_t process = 0;   ///< its process ID
  Reach reach = Reach::kAnswers;
  RankStatus status;  ///< the last status that was received from it
};

/// Returns the ranks that the rank of `report` waits for, by its instruction: a neighbouring stage of its replica, the
/// other replicas of its stage, or all other ranks; outside of a step always all other ranks. Empty if it waits for
/// none or has not answered.
std::vector<int> awaited_ranks(const RankReport& report, const std::vector<RankReport>& all);

/// Returns the indices of all elements of `reports`, in the order in which the ranks are likely to be the cause of the
/// standstill. First come ranks that have ended, then others that do not answer, then those that wait for no rank, the
/// longest standing first, then those that have left. The others follow from the end of each chain of waits to its
/// beginning.
std::vector<std::size_t> culprits_first(const std::vector<RankReport>& reports);

/// Returns the ranks of a cycle of waits: each waits for the next, and the last for the first. A cycle exists if all
/// ranks answer and each waits for another. Empty if there is no cycle.
std::vector<int> ring_of_waits(const std::vector<RankReport>& reports);

/// Returns one line that says what is wrong: a rank has ended, messages between two hosts do not arrive, or a rank
/// makes no progress.
std::string describe_standstill(const std::vector<RankReport>& reports);

/// Returns what a rank does: "does not run: its process was stopped (SIGSTOP) ...", "Forward 3 of step 120: computes",
/// "RecvActivation 3 of step 120: waits for rank 2". `all` are the reports of all ranks.
std::string describe(const RankReport& report, const std::vector<RankReport>& all);

/// The largest number of ranks that roll_call_table() lists.
inline constexpr std::size_t kMaxLines = 32;
/// Returns a table with a heading and one line per rank, in the order of culprits_first(); the first kMaxLines ranks
/// only.
std::string roll_call_table(const std::vector<RankReport>& reports);

}  // namespace convoy
