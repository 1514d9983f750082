/// The finding of a check, and the table of all findings.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace convoy::preflight {

/// The outcome of a check, from the best to the worst.
enum class Outcome : char { kOk, kNotChecked, kWarning, kFails };

/// The finding of one rank.
struct Finding {
  Outcome outcome = Outcome::kOk;
  std::string text;

  bool operator==(const Finding&) const = default;
};

inline Finding ok(std::string text) {
  return {Outcome::kOk, std::move(text)};
}
inline Finding not_checked(std::string text) {
  return {Outcome::kNotChecked, std::move(text)};
}
inline Finding warning(std::string text) {
  return {Outcome::kWarning, std::move(text)};
}
inline Finding fails(std::string text) {
  return {Outcome::kFails, std::move(text)};
}

/// A line of the table.
struct Verdict {
  std::string check;  ///< name of the check: "memory"
  Finding finding;
};

/// Summarises the findings of the ranks: the worst outcome, with each text once and the ranks that found it on their
/// hosts, of which only the first few are named. If all ranks found the same, returns that finding. `findings` has at
/// least one entry; both lists are by rank.
Finding summarise(const std::vector<Finding>& findings, const std::vector<std::string>& hosts);

/// Judges texts, by rank, that must be the same on all ranks. If they are, returns that text. Else returns the outcome
/// `if_different` with the text of most ranks, those of the others, and the sentence `remedy`.
Finding agree(const std::vector<std::string>& texts, const std::vector<std::string>& hosts, Outcome if_different,
              const std::string& remedy);

/// Returns "rank 3 on node2" for one rank, and for several "5 of 8 ranks (rank 1 on node1, rank 3 on node2, rank 4 on
/// node2, ...)".
std::string name_ranks(const std::vector<std::int64_t>& ranks, const std::vector<std::string>& hosts);

/// Returns whether at least one verdict fails.
bool any_fails(const std::vector<Verdict>& verdicts);

/// Returns a table with a line for each verdict, and a line that counts them.
std::string describe(const std::vector<Verdict>& verdicts);

}  // namespace convoy::preflight
