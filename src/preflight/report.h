/// Brings what all ranks have found to rank 0, which keeps the verdicts.
#pragma once

#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

#include "preflight/verdict.h"

namespace convoy::preflight {

class Report {
 public:
  /// All ranks of world, which outlives this.
  explicit Report(const mpi::Communicator& world);

  /// Rank 0's own finding; of others nothing is kept. Does not wait.
  void add(const std::string& check, Finding finding);
  /// Each rank's finding, summarised. All ranks; says whether it fails on any.
  bool add_of_all(const std::string& check, const Finding& mine);
  /// What must be the same on all ranks, as agree() has it. All ranks.
  void add_agreement(const std::string& check, const std::string& mine, Outcome if_different,
                     const std::string& remedy);
  /// Each rank's text, by rank, on rank 0; elsewhere empty. A text holds no zero. All ranks.
  std::vector<std::string> gather(const std::string& mine) const;

  const mpi::Communicator& world() const { return world_; }
  bool is_root() const { return world_.rank() == 0; }
  const std::vector<std::string>& hosts() const { return hosts_; }  ///< by rank; on rank 0
  const std::vector<Verdict>& verdicts() const { return verdicts_; }

 private:
  const mpi::Communicator& world_;
  std::vector<std::string> hosts_;
  std::vector<Verdict> verdicts_;
};

}  // namespace convoy::preflight
