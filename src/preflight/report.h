/// Sends the findings of all ranks to rank 0, which collects them as verdicts.
#pragma once

#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

#include "preflight/verdict.h"

namespace convoy::preflight {

/// The verdicts of all checks so far; on rank 0 only.
class Report {
 public:
  /// All ranks of `world` call it. `world` must outlive the report.
  explicit Report(const mpi::Communicator& world);

  /// Adds a finding of rank 0 for the check of this name; ignored on other ranks. Does not wait for other ranks.
  void add(const std::string& check, Finding finding);
  /// Adds a verdict that summarises the findings of all ranks for this check. Returns whether any of them is kFails.
  /// All ranks call it.
  bool add_of_all(const std::string& check, const Finding& mine);
  /// Adds the result of agree() for the texts `mine` of all ranks, which must be equal. All ranks call it.
  void add_agreement(const std::string& check, const std::string& mine, Outcome if_different,
                     const std::string& remedy);
  /// Returns the texts `mine` of all ranks, by rank, on rank 0; empty on other ranks. A text must not contain '\0'. All
  /// ranks call it.
  std::vector<std::string> gather(const std::string& mine) const;

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
