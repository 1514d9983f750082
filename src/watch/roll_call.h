/// Which rank holds up all others: from what each says of itself, and from how those that say nothing are silent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "watch/status_board.h"

namespace convoy {

/// How a rank was reached.
enum class Reach : std::uint8_t {
  kAnswers,
  kLeft,         ///< it has done all its work and said goodbye
  kEnded,        ///< its process has ended: the connection was closed
  kStopped,      ///< its process exists but does not run: SIGSTOP
  kTraced,       ///< its process exists but does not run: a debugger holds it
  kSilent,       ///< its process does not answer; why is not known
  kUnreachable,  ///< its host does not answer: it is down, or the network between
};

/// Returns "does not run: its process was stopped (SIGSTOP) ...".
const char* describe(Reach reach);

struct RankReport {
  int rank = 0;
  std::string host;
  std::string process_space;  ///< process_space() of that rank
  std::int64_t process = 0;   ///< its number in that space
  Reach reach = Reach::kAnswers;
  RankStatus status;  ///< the last that it said
};

/// The ranks that this one waits for, by its instruction: a neighbouring stage of its replica, the other replicas of
/// its stage, or all. Empty if it waits for none.
std::vector<int> awaited_ranks(const RankReport& report, const std::vector<RankReport>& all);

/// Indices into `reports`, the culprits first: ranks that have ended; others that do not answer; then those that wait
/// for no rank, the longest standing first, and after them those that have left; then the others, from the end of each
/// chain of waits to its beginning.
std::vector<std::size_t> culprits_first(const std::vector<RankReport>& reports);

/// Returns the ranks of a ring of waits, each of which waits for the next, and the last for the first. Such a ring
/// exists if every rank waits for another and all answer; empty otherwise.
std::vector<int> ring_of_waits(const std::vector<RankReport>& reports);

/// Says in one line what is wrong: a rank has ended; messages do not get through between two hosts; a rank stands
/// still.
std::string describe_standstill(const std::vector<RankReport>& reports);

/// Says what a rank does: "does not run: its process was stopped (SIGSTOP)", "computes Forward 3 of step 120", "waits
/// in RecvActivation 3 of step 120 for rank 2".
std::string describe(const RankReport& report, const std::vector<RankReport>& all);

/// Largest number of ranks that roll_call_table() lists.
inline constexpr std::size_t kMaxLines = 32;
/// Returns a table with a line per rank, with a heading; of more than kMaxLines ranks only the first.
std::string roll_call_table(const std::vector<RankReport>& reports);

}  // namespace convoy
