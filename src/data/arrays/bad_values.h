/// Counts the values of an import that are NaN or infinite, by input and channel, and remembers the first places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/io/sample_store.h"

namespace convoy {

/// "input 'table', channel 'alcohol'"
std::string describe_channel(const io::ArrayInfo& input, std::int64_t channel);

class BadValues {
 public:
  explicit BadValues(const std::vector<io::ArrayInfo>& inputs);

  /// Looks at a record and counts its values that are not finite. Returns what is wrong with it, as "its input 'x',
  /// channel 3, is NaN"; empty if all values are finite or will be filled (ArrayInfo::fills_missing).
  std::string look(std::span<const std::byte> record);
  /// Counts a sample that cannot be used. `number` orders the samples of an import; `place` says where it is.
  void add_sample(std::int64_t number, const std::string& place, const std::string& reason);

  /// Adds up the counts of all ranks, and finds the first places of all. All ranks of the group call it.
  void gather(const mpi::Communicator& group);
  std::int64_t num_samples() const { return num_samples_; }
  /// Returns the counts as a text: "3 of input 'x', channel 'alcohol'"; empty if all values are finite.
  std::string describe_channels() const;
  /// Returns the counts and the places as a text: "NaN or infinite values: 3 of input 'x', channel 'alcohol'. First:
  /// 'wine.csv:18' (its input ...)".
  std::string describe() const;

 private:
  struct Place {
    std::int64_t number = 0;
    std::string text;
  };
  void keep_first();

  std::vector<io::ArrayInfo> inputs_;
  std::vector<std::int64_t> counts_;  ///< of the channels of all inputs, one after the other
  std::int64_t num_samples_ = 0;
  std::vector<Place> places_;  ///< the first, in the order of the samples
};

}  // namespace convoy
