/// The snapshot for checkpoint.files = sharded: each rank writes its copy to a file of its own, in a thread, and tells
/// rank 0 by a message of a fixed size whether that succeeded.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/comm/tags.h"
#include "convoy/device/device.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint_parts.h"

#include "checkpoint/arena_tensors.h"
#include "checkpoint/background_writer.h"
#include "checkpoint/snapshot.h"

namespace convoy {

namespace {

template <std::size_t kSize>
void put(std::string_view text, std::array<char, kSize>& to) {
  to.fill('\0');
  std::ranges::copy(text.substr(0, kSize - 1), to.begin());
}

bool is_not_finite(float value) {
  return !std::isfinite(value);
}

/// content() lists the files of all ranks. Call not_finite() first: a rank whose parameters are not finite writes no
/// file.
class ShardedSnapshot final : public Snapshot {
 public:
  ShardedSnapshot(std::string directory, const TrainingStep& training)
      : Snapshot(training),
        directory_(std::move(directory)),
        owned_(training),
        memory_(runtime().device(),
                snapshot_bytes(runtime().plan(), runtime().grid().stage(), runtime().grid().is_root())) {
    const mpi::Communicator& world = runtime().grid().world();
    if (runtime().grid().is_root()) num_saves_ = io::last_save(directory_);
    world.broadcast(&num_saves_, sizeof num_saves_, 0);
    if (!runtime().grid().is_root()) return;
    reports_.resize(static_cast<std::size_t>(world.size()));
    received_.resize(reports_.size());
    num_received_ = received_.size();
  }

  void take(std::int64_t step) override {
    const ProcessGrid& grid = runtime().grid();
    owned_.copy([&](std::int64_t group, std::size_t bucket) {
      return memory_.floats() + group * owned_.shard().count + owned_.shard().offsets[bucket];
    });
    folder_ = io::parts_folder(step, ++num_saves_);
    mine_ = {};
    if (grid.is_root()) {
      counters_ = training().batch_counters();
      num_received_ = 1;
      for (std::size_t rank = 1; rank < reports_.size(); ++rank)
        received_[rank] =
            grid.beside_steps().start_receive(&reports_[rank], sizeof(Report), static_cast<int>(rank), tags::kSnapshot);
    }
    const std::string path = io::part_path(directory_, folder_, grid.world().rank());
    writer_.start([this, path] { write_part(path); });
  }

  void progress() override {
    if (writer_.is_busy() && writer_.is_done()) end_writing();
    sent_.test();
    while (num_received_ < received_.size() && received_[num_received_].test()) ++num_received_;
  }

  bool is_complete() const override {
    return !writer_.is_busy() && !sent_.active() && num_received_ == received_.size();
  }

  io::Checkpoint content() const override {
    const ProcessGrid& grid = runtime().grid();
    io::Checkpoint checkpoint;
    checkpoint.counters = counters_;
    io::CheckpointParts& parts = checkpoint.parts.emplace();
    parts.folder = folder_;
    for (std::size_t rank = 0; rank < reports_.size(); ++rank) {
      const Report& report = reports_[rank];
      if (report.failure.front() != '\0')
        fail("rank {} could not write its part of the checkpoint: {}", rank, report.failure.data());
      check_visible(static_cast<std::int64_t>(rank));
      parts.files.push_back({.size_bytes = report.size_bytes, .hash = report.hash.data()});
    }
    for (std::int64_t s = 0; s < grid.num_stages(); ++s) {
      const ArenaLayout& layout = runtime().plan().stages()[s].layout;
      for (const ArenaEntry& entry : layout.entries) {
        const io::NamedTensor tensor{.name = entry.spec.name, .dims = entry.spec.dims, .values = {}};
        checkpoint.model.push_back(tensor);
        if (training().has_ema()) checkpoint.ema.push_back(tensor);
        for (const std::string& state : training().optimizer().state_names())
          if (!entry.spec.is_statistic()) checkpoint.optimizer[state].push_back(tensor);
        parts.tensors[tensor.name].cuts_pixels_first = entry.spec.file_order == FileOrder::kChannelsBeforePixels;
      }
      for (std::int64_t r = 0; r < grid.num_replicas(); ++r)
        for (const ShardPiece& piece : pieces_of(layout, shard_of_rank(runtime(), r, s)))
          parts.tensors[piece.entry->spec.name].pieces.push_back(
              {.part = grid.world_rank(r, s), .first = piece.first, .count = piece.count});
    }
    for (auto& [name, list] : parts.tensors) std::ranges::sort(list.pieces, {}, &io::Piece::first);
    sort_as_network(runtime().plan().network(), checkpoint);
    return checkpoint;
  }

  std::string not_finite() const override {
    for (const Report& report : reports_)
      if (report.not_finite.front() != '\0') return report.not_finite.data();
    return "";
  }

 private:
  /// The message of a rank to rank 0 about its file. Texts that are too long are cut.
  struct Report {
    std::int64_t size_bytes = 0;
    std::array<char, 33> hash = {};         ///< hash of the file, in hexadecimal digits
    std::array<char, 200> not_finite = {};  ///< name of a tensor that is not finite; empty: all are
    std::array<char, 400> failure = {};     ///< why the file was not written; empty: it was written
  };

  // Returns the values that this rank copied, tensor by tensor.
  std::vector<io::PartEntry> entries() const {
    const std::vector<ShardPiece> pieces = pieces_of(runtime().stage().plan().layout, owned_.shard());
    std::vector<io::PartEntry> entries;
    for (std::int64_t group = 0; group < owned_.num_groups(); ++group) {
      const float* const copies = memory_.floats() + group * owned_.shard().count;
      for (const ShardPiece& piece : pieces) {
        if (piece.entry->spec.is_statistic() && !owned_.has_statistics(group)) continue;
        entries.push_back({.group = owned_.groups()[group],
                           .name = piece.entry->spec.name,
                           .values = {copies + piece.offset, static_cast<std::size_t>(piece.count)}});
      }
    }
    return entries;
  }

  // Writes this rank's file, in a thread of its own.
  void write_part(const std::string& path) {
    const std::vector<io::PartEntry> values = entries();
    for (const io::PartEntry& entry : values) {
      if (entry.group != owned_.groups().front() || std::ranges::none_of(entry.values, is_not_finite)) continue;
      return put(entry.name, mine_.not_finite);
    }
    const std::vector<std::byte> bytes = io::encode_part(values);
    io::make_directory(directory_ + "/" + folder_);
    io::write_file_atomically(path, bytes);
    const io::PartFile file = io::describe_part(bytes);
    mine_.size_bytes = file.size_bytes;
    put(file.hash, mine_.hash);
  }

  void end_writing() {
    const ProcessGrid& grid = runtime().grid();
    if (const std::exception_ptr error = writer_.wait().error) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& reason) {  // no memory, a full disk: rank 0 says so
        put(reason.what(), mine_.failure);
      }
    }
    if (grid.is_root()) {
      reports_.front() = mine_;
    } else {
      sent_ = grid.beside_steps().start_send(&mine_, sizeof mine_, 0, tags::kSnapshot);
    }
  }

  // Throws Error if rank 0 does not see a rank's file: nodes with disks of their own would write checkpoints that
  // cannot be read.
  void check_visible(std::int64_t rank) const {
    const std::string path = io::part_path(directory_, folder_, rank);
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error || size != static_cast<std::uintmax_t>(reports_[rank].size_bytes))
      fail(
          "rank 0 does not find '{}', or not with the size that rank {} has written. With checkpoint.files = sharded, "
          "run.directory must be on a file system that all nodes share",
          path, rank);
  }

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

}  // namespace

std::unique_ptr<Snapshot> make_sharded_snapshot(const std::string& directory, const TrainingStep& training) {
  return std::make_unique<ShardedSnapshot>(directory, training);
}

}  // namespace convoy
