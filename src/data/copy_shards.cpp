/// Writes one file per node with all its copies; its ranks write it together, and all open it.
#include "convoy/data/copy_shards.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/host_name.h"
#include "convoy/base/log.h"
#include "convoy/base/print.h"
#include "convoy/base/text.h"
#include "convoy/comm/memory_limits.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/stop_signals.h"

namespace convoy {

namespace {

constexpr const char* kMemory = "/dev/shm";

std::string directory_of(const std::string& to) {
  return to == "memory" ? kMemory : to;
}

/// A shard of one of the sets, and the position of its copy.
struct Copy {
  io::Dataset* set = nullptr;
  std::int64_t shard = 0;
  std::int64_t offset = 0;  ///< position in the node's file
  int writer = 0;           ///< number of the writing rank on the node
  std::int64_t bytes() const { return set->body_bytes(shard); }
};

// Returns the first shards that fit: those of data.train, then the others.
std::vector<Copy> list_copies(std::span<io::Dataset* const> sets, std::int64_t room_bytes) {
  std::vector<Copy> copies;
  std::int64_t end = 0;
  for (io::Dataset* set : sets)
    for (std::int64_t s = 0; s < set->num_shards(); ++s) {
      const std::int64_t bytes = set->body_bytes(s);
      if (bytes > room_bytes - end) continue;
      copies.push_back({.set = set, .shard = s, .offset = end});
      end += bytes;
    }
  return copies;
}

// Assigns the largest shards first, each to the rank with the smallest sum.
void assign_writers(std::vector<Copy>& copies, int num_writers) {
  std::vector<Copy*> by_size;
  for (Copy& copy : copies) by_size.push_back(&copy);
  std::ranges::stable_sort(by_size, [](const Copy* a, const Copy* b) { return a->bytes() > b->bytes(); });
  std::vector<std::int64_t> sums(static_cast<std::size_t>(num_writers), 0);
  for (Copy* copy : by_size) {
    const auto min = std::ranges::min_element(sums);
    copy->writer = static_cast<int>(min - sums.begin());
    *min += copy->bytes();
  }
}

/// The name of a file, until all ranks of the node have opened it.
class BriefName {
 public:
  BriefName() = default;
  ~BriefName() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  BriefName(const BriefName&) = delete;
  BriefName& operator=(const BriefName&) = delete;

  void make_file(const std::string& to) {
    std::string path = directory_of(to) + "/convoy-shards-XXXXXX";
    const FileDescriptor file(mkostemp(path.data(), O_CLOEXEC));
    if (!file.is_open())
      refuse("data.copy_to = {}: no file can be made in '{}' on {}: {}", to, directory_of(to), host_name(),
             std::generic_category().message(errno));
    path_ = std::move(path);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Makes and opens the node's file. All ranks of world.
std::shared_ptr<const FileDescriptor> open_file_of_node(const std::string& to, const mpi::Communicator& node,
                                                        const mpi::Communicator& world) {
  BriefName name;  // set on the node's first rank
  mpi::on_all(world, [&] {
    if (node.rank() == 0) name.make_file(to);
  });
  const std::string path = node.broadcast(name.path(), 0);
  std::shared_ptr<const FileDescriptor> file;
  mpi::on_all(world, [&] {
    file = std::make_shared<const FileDescriptor>(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file->is_open())
      refuse("data.copy_to = {}: '{}' on {} cannot be opened by all ranks of the node: {}", to, path, host_name(),
             std::generic_category().message(errno));
  });
  return file;
}

// Writes this rank's copies. Returns for each copy how many are missing on the node: 0 or 1. All ranks of world.
std::vector<std::int64_t> write_copies(const std::vector<Copy>& copies, const FileDescriptor& file,
                                       const ShardCopies& asked, const mpi::Communicator& node,
                                       const mpi::Communicator& world) {
  std::vector<std::int64_t> mine(copies.size(), 0), missing(copies.size(), 0);
  mpi::on_all(world, [&] {
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const Copy& copy = copies[i];
      if (copy.writer != node.rank()) continue;
      const auto offset = static_cast<std::uint64_t>(copy.offset);
      std::optional<std::string> reason = "a stop was requested";
      if (!stop_is_requested()) reason = copy.set->copy_body(copy.shard, file, offset, asked.on_progress);
      if (!reason) continue;
      mine[i] = 1;
      fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, copy.offset, copy.bytes());  // if it can
      log_warning(fmt::format(
          "data.copy_to = {}: '{}' ({}) is not copied on {}: {}. Its samples are read from the original file", asked.to,
          copy.set->shard_path(copy.shard), human_bytes(copy.bytes()), host_name(), *reason));
    }
  });
  node.start_sum(mine, missing).wait();
  return missing;
}

/// Number of shards and their bytes.
struct Sum {
  std::int64_t shards = 0, bytes = 0;
};

void report(const std::string& to, const Sum& all, const Sum& copied, double seconds) {
  print("data.copy_to: {} of {} shards, {} of {}, copied to {} in {:.1f} s\n", copied.shards, all.shards,
        human_bytes(copied.bytes), human_bytes(all.bytes), directory_of(to), seconds);
  if (copied.shards < all.shards)
    log_warning(
        fmt::format("data.copy_to = {}: at least one node has copies of only {} of {} shards ({} of {}). The other "
                    "shards are read from their original files, in every epoch",
                    to, copied.shards, all.shards, human_bytes(copied.bytes), human_bytes(all.bytes)));
}

}  // namespace

std::int64_t room_for_copies(const std::string& to) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(directory_of(to), error);
  if (error) refuse("data.copy_to = {}: '{}' on {}: {}", to, directory_of(to), host_name(), error.message());
  std::int64_t room = static_cast<std::int64_t>(space.available / 10 * 9);
  if (to != "memory") return room;
  if (const std::int64_t available = available_memory(); available > 0) room = std::min(room, available / 2);
  for (const MemoryLimit& limit : find_memory_limits("")) room = std::min(room, limit.bytes / 2);
  return room;
}

void copy_shards(const ShardCopies& asked, std::span<io::Dataset* const> sets, const mpi::Communicator& world) {
  const double start = now_seconds();
  const mpi::Communicator node = world.split_by_node();
  std::int64_t room = 0;
  mpi::on_all(world, [&] { room = std::min(asked.max_bytes, room_for_copies(asked.to)); });
  const auto file = open_file_of_node(asked.to, node, world);
  std::vector<Copy> copies = list_copies(sets, -node.max(-room));
  assign_writers(copies, node.size());
  const std::vector<std::int64_t> missing = write_copies(copies, *file, asked, node, world);
  Sum all, copied;
  for (const io::Dataset* set : sets)
    for (std::int64_t s = 0; s < set->num_shards(); ++s) ++all.shards, all.bytes += set->body_bytes(s);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (missing[i] > 0) continue;
    copies[i].set->read_from_copy(copies[i].shard, file, static_cast<std::uint64_t>(copies[i].offset));
    ++copied.shards, copied.bytes += copies[i].bytes();
  }
  copied = {.shards = -world.max(-copied.shards), .bytes = -world.max(-copied.bytes)};
  if (world.rank() == 0) report(asked.to, all, copied, now_seconds() - start);
}

}  // namespace convoy
