/// Converts the times of all ranks to one clock, that of rank 0, as precisely as messages can compare clocks.
#pragma once

#include <functional>

#include "convoy/base/clock.h"
#include "convoy/comm/communicator.h"

namespace convoy {

using Clock = std::function<double()>;

/// The result of reading rank 0's clock from another rank once.
struct ClockReading {
  double at_seconds = 0;      ///< time of the reading on this rank's clock
  double offset_seconds = 0;  ///< rank 0's clock minus this rank's clock
  double error_seconds = 0;   ///< maximal error of the offset, in either direction
};

/// Reads rank 0's clock by asking rank 0 for its time repeatedly. Rank 0 has read its clock at some moment between
/// question and answer, so assuming the middle is wrong by at most half the round trip; the shortest round trip is
/// used. Cristian 1989, "Probabilistic clock synchronization". All ranks of the group call it, and rank 0 answers them
/// one after the other. `clock` is now_seconds(), except in tests.
ClockReading read_root_clock(const mpi::Communicator& group, const Clock& clock = now_seconds);

/// Converts this rank's times to rank 0's clock, from a reading before these times and one after them. Clocks drift,
/// and the drift is assumed to be even. If both offsets are within their error of 0, as on one node, both ranks are
/// assumed to have the same clock.
class RootClock {
 public:
  RootClock(const ClockReading& before, const ClockReading& after) : before_(before), after_(after) {}

  /// Converts `seconds`, a time of this rank's clock between the two readings, to rank 0's clock.
  double at(double seconds) const;
  /// Maximal error of a converted time in seconds, in either direction.
  double error_seconds() const;

 private:
  bool is_one_clock() const;

  ClockReading before_, after_;
};

}  // namespace convoy
