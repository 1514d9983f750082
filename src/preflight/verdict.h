/// The result of a check, and the table of all results.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace convoy::preflight {

/// The outcome of a check, from the best to the worst.
enum class Outcome : char { kOk, kNotChecked, kWarning, kFails };

/// What a check has found on one rank, or on all ranks together.
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

/// A line of the table of results.
struct Verdict {
  std::string check;  ///< name of the check: "memory"
  Finding finding;
};

/// Summarises the findings of all ranks: the worst outcome, and each text once with the ranks that found it, of which
/// only the first few are named. If all ranks have found the same, returns that finding. `findings` (at least one) and
/// `hosts` are by rank.
Finding summarise(const std::vector<Finding>& findings, const std::vector<std::string>& hosts);

/// Compares the texts of all ranks, which must be equal. If they are, returns that text with the outcome kOk. Otherwise
/// returns the outcome `if_different` with the text of most ranks, those of the others, and the sentence `remedy`.
/// `texts` and `hosts` are by rank.
Finding agree(const std::vector<std::string>& texts, const std::vector<std::string>& hosts, Outcome if_different,
              const std::string& remedy);

/// Returns "rank 3 on node2" for one rank, and for several "5 of 8 ranks (rank 1 on node1, rank 3 on node2, rank 4 on
/// node2, ...)".
std::string name_ranks(const std::vector<std::int64_t>& ranks, const std::vector<std::string>& hosts);

/// Whether at least one verdict has the outcome kFails.
bool any_fails(const std::vector<Verdict>& verdicts);

/// Returns a table with a line for each verdict, and a last line that counts them.
std::string describe(const std::vector<Verdict>& verdicts);

}  // namespace convoy::preflight
