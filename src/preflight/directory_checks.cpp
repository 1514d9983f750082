/// See directory_checks.h.
#include "preflight/directory_checks.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/file_descriptor.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/run_lock.h"
#include "convoy/params/parameters.h"

#include "run/memory_report.h"
#include "run/restart.h"

namespace convoy::preflight {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMinProbeBytes = std::int64_t{1} << 20, kMaxProbeBytes = std::int64_t{64} << 20;
constexpr const char* kProbeName = "preflight-probe";

// The directory, or the nearest one above it that exists.
fs::path find_existing(const std::string& directory) {
  std::error_code error;
  fs::path path = fs::absolute(directory, error).lexically_normal();
  while (!fs::exists(path, error) && path.has_parent_path() && path != path.parent_path()) path = path.parent_path();
  return path;
}

// Directories that are made here are removed again.
class TemporaryDirectories {
 public:
  explicit TemporaryDirectories(const std::string& directory) {
    std::error_code error;
    for (fs::path path = fs::absolute(directory, error).lexically_normal(); !fs::exists(path, error);
         path = path.parent_path()) {
      made_.push_back(path);
      if (path == path.parent_path()) break;
    }
    io::make_directory(directory);
  }
  ~TemporaryDirectories() {
    std::error_code not_empty;  // another process uses it by now
    for (const fs::path& path : made_) fs::remove(path, not_empty);
  }
  TemporaryDirectories(const TemporaryDirectories&) = delete;
  TemporaryDirectories& operator=(const TemporaryDirectories&) = delete;

 private:
  std::vector<fs::path> made_;  ///< the deepest first
};

// No two neighbouring blocks are alike: a file system may compress.
std::vector<std::byte> probe_bytes(std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  std::uint64_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

std::int64_t bytes_of_checkpoints(const std::string& directory) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code vanished;
    const std::uintmax_t size = entry->file_size(vanished);
    if (!vanished && entry->path().extension() == ".h5") bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

// At most: some may fall on the same step.
std::int64_t count_checkpoints(const CheckpointParams& params, const StepCount& steps) {
  const double period = params.every_epochs * static_cast<double>(steps.per_epoch);
  const double by_epochs = period > 0 ? static_cast<double>(steps.total) / period : 0;
  const std::int64_t by_steps = params.every_steps > 0 ? steps.total / params.every_steps : 0;
  const std::int64_t at_end = 1;
  return std::min<std::int64_t>(steps.total, std::llround(std::ceil(by_epochs)) + by_steps + at_end);
}

// The file has been synchronised: its pages are not needed for writing any more.
void drop_cached_pages(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.is_open()) posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace

Finding judge_space(const DiskSpace& space, const CheckpointParams& params, std::int64_t num_checkpoints) {
  const std::int64_t num_kept = params.keep == 0 ? num_checkpoints : std::min(params.keep, num_checkpoints);
  const std::int64_t num_files = num_kept + (params.best ? 1 : 0) + 1;
  const std::int64_t needed = num_files * space.checkpoint_bytes, there = space.free_bytes + space.used_bytes;
  const std::string text = fmt::format("{} checkpoints of {} need {}; {} are available", num_files,
                                       human_bytes(space.checkpoint_bytes), human_bytes(needed), human_bytes(there));
  if (needed <= there) return ok(text);
  return fails(text + ". Make room, choose another run.directory, or a smaller checkpoint.keep (0 keeps all)");
}

Finding look_at_directory(const std::string& directory) {
  const fs::path there = find_existing(directory);
  std::error_code error;
  if (!fs::is_directory(there, error))
    return fails(fmt::format("run.directory = {} cannot be used: {} is not a directory. Choose another run.directory",
                             directory, there.string()));
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    return fails(fmt::format("run.directory = {}: {} cannot be written: {}. Choose a directory that you may write to",
                             directory, there.string(), std::strerror(errno)));
  if (const auto holder = io::find_lock_holder(directory))
    return fails(fmt::format("run.directory = {} is in use by {}. Wait for it, or choose another", directory, *holder));
  return ok(fmt::format("{} {}", directory,
                        fs::exists(directory, error) ? "exists, and no other run uses it" : "can be created"));
}

Finding probe_directory(const std::string& directory, std::int64_t bytes) {
  try {
    const TemporaryDirectories made(directory);
    const std::string path = fmt::format("{}/{}-{}", directory, kProbeName, getpid());
    const std::vector<std::byte> written = probe_bytes(std::clamp(bytes, kMinProbeBytes, kMaxProbeBytes));
    const double begin = now_seconds();
    io::write_file_atomically(path, written);
    const double seconds = now_seconds() - begin;
    drop_cached_pages(path);  // so that the disk itself is read
    const bool is_same = io::read_file(path) == written;
    std::error_code error;
    if (!fs::remove(path, error)) return fails(fmt::format("{} cannot be removed: {}", path, error.message()));
    if (!is_same) return fails(fmt::format("{} held other bytes than were written: do not trust this disk", path));
    const auto size = static_cast<double>(written.size());
    const std::string speed = fmt::format("{} written to {} at {:.0f} MB/s", human_bytes(std::ssize(written)),
                                          directory, size / seconds / 1e6);
    if (bytes == 0) return ok(speed);
    const double whole_seconds = seconds * static_cast<double>(bytes) / size;
    return ok(fmt::format("{}; a checkpoint of {} will take about {:.2g} s", speed, human_bytes(bytes), whole_seconds));
  } catch (const Error& error) {
    return fails(error.what());
  }
}

void check_directory(const Parameters& params, const RunPlan* plan, bool writes, Report& report) {
  const std::string directory = checkpoint_directory(params);
  const Finding found = look_at_directory(params.run.directory);
  report.add("directory", found);
  const std::int64_t bytes = plan == nullptr ? 0 : checkpoint_bytes(plan->step);
  if (!writes) {
    report.add("disk", not_checked("a dry run writes nothing; convoy check measures the disk"));
  } else if (found.outcome == Outcome::kFails) {
    report.add("disk", not_checked("the directory cannot be used"));
  } else {
    report.add("disk", probe_directory(directory, bytes));
  }
  if (plan == nullptr) return report.add("space", not_checked("there is no plan"));
  std::error_code error;
  const fs::space_info space = fs::space(find_existing(directory), error);
  if (error)
    return report.add("space",
                      not_checked(fmt::format("the system does not report the free space: {}", error.message())));
  report.add("space", judge_space({.free_bytes = static_cast<std::int64_t>(space.available),
                                   .used_bytes = bytes_of_checkpoints(directory),
                                   .checkpoint_bytes = bytes},
                                  params.checkpoint, count_checkpoints(params.checkpoint, plan->steps)));
}

}  // namespace convoy::preflight
