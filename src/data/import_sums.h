/// Exchanges the progress of an import between ranks that work independently for minutes or hours: a few times per
/// second, they add up the numbers of samples that they have read.
#pragma once

#include <array>
#include <cstdint>

#include "convoy/comm/communicator.h"
#include "convoy/data/import.h"

namespace convoy {

/// The progress of one piece of an import's work. Every rank calls add() after each sample, and end() once at the end.
/// Only end() waits for other ranks.
class ImportSums {
 public:
  /// Rank 0 calls `show` with the number of samples, of `total`, that all ranks have read. `work` is the name of the
  /// work that it shows: "importing". Called by all ranks of `group`. `work` and `show` must outlive the object.
  ImportSums(const mpi::Communicator& group, const char* work, std::int64_t total, const ShowImport& show);

  /// Counts a sample that was read; is_good says whether it can be used. Returns false if a rank has failed: the caller
  /// must stop and call end().
  bool add(bool is_good);
  /// Waits until all ranks have called end(), or until one has called end(true). `failed` says whether this rank has
  /// failed.
  void end(bool failed);

 private:
  struct Counts {
    std::int64_t done = 0;               ///< number of samples that were read, good or bad
    std::int64_t skipped = 0;            ///< number of bad samples
    std::int64_t ended = 0, failed = 0;  ///< number of ranks that have called end(), that have failed
  };
  void step(bool waits);

  mpi::Communicator group_;
  const char* work_;
  std::int64_t total_;
  const ShowImport& show_;
  Counts mine_;
  /// Buffers of the sum that is in flight: the Counts of this rank, and their sums over all ranks.
  std::array<std::int64_t, 4> sent_ = {}, sums_ = {};
  mpi::Request request_;
  bool in_flight_ = false;
  bool over_ = false;
  double next_seconds_ = 0;
};

}  // namespace convoy
