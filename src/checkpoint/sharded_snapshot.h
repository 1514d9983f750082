/// Takes snapshots for checkpoint.files = sharded: each rank writes what it copied to a file of its own, and tells rank
/// 0 whether that succeeded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/device/device.h"

#include "checkpoint/background_writer.h"
#include "checkpoint/owned_values.h"
#include "checkpoint/snapshot.h"

namespace convoy {

/// A snapshot in one file per rank. content() lists the files that all ranks have written; not_finite() is called
/// first, since a rank with such values writes no file.
class ShardedSnapshot final : public Snapshot {
 public:
  /// Allocates snapshot_bytes() of memory. All ranks.
  ShardedSnapshot(std::string directory, const RankRuntime& runtime);

  void take(std::int64_t step) override;
  void progress() override;
  bool is_complete() const override;
  io::Checkpoint content() const override;
  std::string not_finite() const override;

 private:
  /// A rank's message to rank 0. Texts that are too long are cut.
  struct Report {
    std::int64_t size_bytes = 0;
    std::array<char, 33> hash = {};
    std::array<char, 200> not_finite = {};  ///< a tensor's name, or empty
    std::array<char, 400> failure = {};     ///< why the file was not written, or empty
  };

  std::vector<io::PartEntry> entries() const;
  void write_part(const std::string& path);
  void end_writing();
  void check_visible(std::int64_t rank) const;

  std::string directory_;
  OwnedValues owned_;
  HostBuffer memory_;  ///< shards by group
  std::int64_t num_saves_ = 0;
  std::string folder_;  ///< folder of the latest save
  Report mine_;
  mpi::Request sent_;
  /// Rank 0, by rank: the reports, which are received in this order.
  std::vector<Report> reports_;
  std::vector<mpi::Request> received_;
  std::size_t num_received_ = 0;
  std::map<std::string, std::int64_t> counters_;  ///< used on rank 0
  BackgroundWriter writer_;                       ///< last member: its thread ends before what it reads is destroyed
};

}  // namespace convoy
