/// The results of checks: sends the findings of all ranks to rank 0, which collects them as verdicts, and shows them in
/// a table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/comm/gather.h"

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

/// Whether at least one verdict has the outcome kFails.
bool any_fails(const std::vector<Verdict>& verdicts);

/// Returns a table with a line for each verdict, and a last line that counts them.
std::string describe(const std::vector<Verdict>& verdicts);

/// The verdicts of all checks so far; on rank 0 only.
class Report {
 public:
  /// All ranks of `world` call it. `world` must outlive the report.
  explicit Report(const mpi::Communicator& world);

  /// Adds a finding of rank 0 for the check of this name; ignored on other ranks. Does not wait for other ranks.
  void add(const std::string& check, Finding finding);
  /// Adds a verdict that summarises the findings of all ranks for this check. All ranks call it.
  void add_of_all(const std::string& check, const Finding& mine);
  /// Adds the result of agree() for the texts `mine` of all ranks, which must be equal. All ranks call it.
  void add_agreement(const std::string& check, const std::string& mine, Outcome if_different,
                     const std::string& remedy);
  /// Returns the texts `mine` of all ranks, by rank, on rank 0; empty on other ranks. A text must not contain '\0'. All
  /// ranks call it.
  std::vector<std::string> gather(const std::string& mine) const { return mpi::gather_texts(world_, mine); }

  const mpi::Communicator& world() const { return world_; }
  bool is_root() const { return world_.rank() == 0; }
  /// Names of the hosts, by rank, on rank 0; empty on other ranks.
  const std::vector<std::string>& hosts() const { return hosts_; }
  const std::vector<Verdict>& verdicts() const { return verdicts_; }

 private:
  const mpi::Communicator& world_;
  std::vector<std::string> hosts_;
  std::vector<Verdict> verdicts_;
};

}  // namespace convoy::preflight
