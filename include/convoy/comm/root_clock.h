/// One clock for all ranks: rank 0's, as far as messages can tell it.
#pragma once

#include <functional>

#include "convoy/base/clock.h"
#include "convoy/comm/communicator.h"

namespace convoy {

using Clock = std::function<double()>;

/// Rank 0's clock, seen from another rank at one moment.
struct ClockReading {
  double at_seconds = 0;      ///< this rank's clock
  double offset_seconds = 0;  ///< rank 0's clock less this rank's
  double error_seconds = 0;   ///< by how much the offset may be wrong, either way
};

/// Asks rank 0 for the time, again and again. Its answer was given at some moment between question and answer, so the
/// middle is wrong by half the round trip at most: the shortest one counts. Cristian 1989, "Probabilistic clock
/// synchronization". All ranks of the group; one after the other. `clock`: now_seconds(), but in tests.
ClockReading read_root_clock(const mpi::Communicator& group, const Clock& clock = now_seconds);

/// This rank's seconds as rank 0's, from a reading before and one after: clocks drift, evenly as far as this knows.
/// Where both readings allow that the two are one clock, as on one node, they are taken for one.
class RootClock {
 public:
  RootClock(const ClockReading& before, const ClockReading& after) : before_(before), after_(after) {}

  /// `seconds` of this rank, between the readings.
  double at(double seconds) const;
  double error_seconds() const;

 private:
  bool is_one_clock() const;

  ClockReading before_, after_;
};

}  // namespace convoy
