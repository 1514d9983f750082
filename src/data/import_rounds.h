/// How ranks that work apart for minutes or hours hear of each other: sums of what all have done, a few times a second.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "convoy/comm/communicator.h"

namespace convoy {

/// Of one rank, or of all.
struct ImportCounts {
  std::int64_t done = 0;     ///< images looked at, good or bad
  std::int64_t skipped = 0;  ///< bad ones
};

/// One piece of work. Every rank calls pulse() between images and end() at last; no rank waits for another before that.
class ImportRounds {
 public:
  /// `show` hears what all ranks have done, on rank 0.
  ImportRounds(const mpi::Communicator& group, std::function<void(const ImportCounts&)> show);

  /// False where a rank has failed: stop.
  bool pulse(const ImportCounts& mine);
  /// Until all ranks have ended, or one has failed.
  void end(const ImportCounts& mine, bool failed);

 private:
  struct State {
    std::int64_t done = 0, skipped = 0, ended = 0, failed = 0;
  };
  void step();

  mpi::Communicator group_;
  std::function<void(const ImportCounts&)> show_;
  State mine_;
  std::array<std::int64_t, 4> sent_ = {}, sums_ = {};
  mpi::Request round_;
  bool under_way_ = false;
  bool over_ = false;
  double next_seconds_ = 0;
};

}  // namespace convoy
