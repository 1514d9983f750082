/// One clock for all ranks: rank 0's, as far as messages can tell it.
#pragma once

#include <functional>

#include "convoy/base/clock.h"
#include "convoy/comm/communicator.h"

namespace convoy {

using Clock = std::function<double()>;

/// Rank 0's clock, seen from another rank at one moment.
struct ClockReading {
  double at_seconds = 0;      ///< when it was read, on this rank's clock
  double offset_seconds = 0;  ///< rank 0's clock less this rank's
  double error_seconds = 0;   ///< by how much the offset may be wrong, either way
};

/// Reads rank 0's clock: asks it for the time repeatedly. Rank 0 gave its answer at some moment between question and
/// answer, so the middle is wrong by at most half the round trip; the shortest round trip counts. Cristian 1989,
/// "Probabilistic clock synchronization". All ranks of the group call it, and rank 0 serves one after the other.
/// `clock` is now_seconds(), except in tests.
ClockReading read_root_clock(const mpi::Communicator& group, const Clock& clock = now_seconds);

/// Converts this rank's times to rank 0's clock, by a reading before them and one after: clocks drift, and the drift is
/// assumed to be even. If both readings allow that the two are one clock, as on one node, they are taken for one.
class RootClock {
 public:
  RootClock(const ClockReading& before, const ClockReading& after) : before_(before), after_(after) {}

  /// Returns rank 0's time at `seconds` of this rank's clock, which are between the two readings.
  double at(double seconds) const;
  double error_seconds() const;

 private:
  bool is_one_clock() const;

  ClockReading before_, after_;
};

}  // namespace convoy
