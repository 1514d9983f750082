/// Exchanges the progress of ranks that work independently for minutes or hours: sums of what all have done, a few
/// times per second.
#pragma once

#include <array>
#include <cstdint>

#include "convoy/comm/communicator.h"
#include "convoy/data/import.h"

namespace convoy {

/// Progress of one piece of work. Every rank calls add() after each sample and end() at last; no rank waits for another
/// before that.
class ImportRounds {
 public:
  /// Shows on rank 0, by `show`, how much of `total` all ranks have done; `work` names it.
  ImportRounds(const mpi::Communicator& group, const char* work, std::int64_t total, const ShowImport& show);

  /// Counts a sample that was read. Returns false if a rank has failed: the caller must stop.
  bool add(bool is_good);
  /// Waits until all ranks have ended, or one has failed.
  void end(bool failed);

 private:
  struct Counts {
    std::int64_t done = 0;     ///< samples read, good or bad
    std::int64_t skipped = 0;  ///< bad samples
    std::int64_t ended = 0, failed = 0;
  };
  void step(bool waits);

  mpi::Communicator group_;
  const char* work_;
  std::int64_t total_;
  const ShowImport& show_;
  Counts mine_;
  std::array<std::int64_t, 4> sent_ = {}, sums_ = {};  ///< Counts of this rank, and of all
  mpi::Request round_;
  bool in_flight_ = false;
  bool over_ = false;
  double next_seconds_ = 0;
};

}  // namespace convoy
