/// The snapshot for checkpoint.files = sharded: each rank writes its copy to a file of its own, and tells rank 0
/// whether that succeeded.
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

/// A snapshot in one file per rank. content() lists the files of all ranks. Call not_finite() first: a rank whose
/// parameters are not finite writes no file.
class ShardedSnapshot final : public Snapshot {
 public:
  /// Allocates snapshot_bytes() of host memory. `directory` is the folder of the checkpoints. All ranks of the grid
  /// call it.
  ShardedSnapshot(std::string directory, const TrainingStep& training);

  void take(std::int64_t step) override;
  void progress() override;
  bool is_complete() const override;
  io::Checkpoint content() const override;
  std::string not_finite() const override;

 private:
  /// The message of a rank to rank 0 about its file. Texts that are too long are cut.
  struct Report {
    std::int64_t size_bytes = 0;
    std::array<char, 33> hash = {};         ///< hash of the file, in hexadecimal digits
    std::array<char, 200> not_finite = {};  ///< name of a tensor that is not finite; empty: all are
    std::array<char, 400> failure = {};     ///< why the file was not written; empty: it was written
  };

  std::vector<io::PartEntry> entries() const;
  void write_part(const std::string& path);
  void end_writing();
  void check_visible(std::int64_t rank) const;

  std::string directory_;
  OwnedValues owned_;
  HostBuffer memory_;           ///< floats: this rank's shard of each group, one after the other
  std::int64_t num_saves_ = 0;  ///< number of the latest save, which is a part of the folder's name
  std::string folder_;          ///< folder of the files of the latest save, in directory_
  Report mine_;                 ///< about this rank's file
  mpi::Request sent_;
  /// On rank 0, by rank: the reports, which are received in this order.
  std::vector<Report> reports_;
  std::vector<mpi::Request> received_;
  std::size_t num_received_ = 0;
  std::map<std::string, std::int64_t> counters_;  ///< on rank 0: TrainingStep::batch_counters() at take()
  BackgroundWriter writer_;  ///< the last member: its thread ends before the members that it reads are destroyed
};

}  // namespace convoy
