/// The checkpoints of a run: their names, which is the newest whole one, which are too old to keep.
#include <filesystem>
#include <set>
#include <system_error>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

namespace convoy::io {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".h5";
constexpr std::string_view kBest = "best.h5";

/// The step in "step-00001234.h5"; nothing for other names.
std::optional<std::int64_t> step_of(std::string_view name) {
  if (name.size() <= kPrefix.size() + kSuffix.size() || !name.starts_with(kPrefix) || !name.ends_with(kSuffix))
    return {};
  const std::string_view digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  const auto step = parse_number<std::int64_t>(digits);
  return step && *step >= 0 ? step : std::nullopt;
}

bool is_left_over(std::string_view name) {
  if (!name.ends_with(kPartialSuffix)) return false;
  const std::string_view whole = name.substr(0, name.size() - std::string_view(kPartialSuffix).size());
  return step_of(whole) || whole == kBest;
}

fs::directory_iterator open_directory(const std::string& directory) {
  std::error_code error;
  fs::directory_iterator files(directory, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    fail("cannot look for checkpoints in '{}': {}", directory, error.message());
  }
  return error ? fs::directory_iterator() : files;
}

/// Steps and paths, the highest step first.
std::set<std::pair<std::int64_t, fs::path>, std::greater<>> list_checkpoints(const std::string& directory) {
  std::set<std::pair<std::int64_t, fs::path>, std::greater<>> found;
  for (const fs::directory_entry& file : open_directory(directory)) {
    if (const auto step = step_of(file.path().filename().string())) found.emplace(*step, file.path());
  }
  return found;
}

// Only warns: a file that cannot be removed costs disk space, not the run.
void remove_or_warn(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) log_warning(fmt::format("cannot remove '{}': {}", path.string(), error.message()));
}

using Skipped = std::function<void(const std::string& path, const std::string& reason)>;

/// Returns the checkpoint if it can be used; else nothing, and the reason is passed to `skipped`. `step` is the step in
/// its name; nothing: any.
std::optional<FoundCheckpoint> read_if_usable(const std::string& path, std::optional<std::int64_t> step,
                                              const Skipped& skipped) {
  try {
    FoundCheckpoint found{.path = path, .bytes = read_checkpoint_file(path), .state = {}};
    found.state = decode_state(found.bytes, path);
    if (!step || found.state.step == *step) return found;
    skipped(path,
            fmt::format("it holds step {}, not the step in its name: it was copied or renamed", found.state.step));
  } catch (const Error& error) {  // damaged, unreadable, of another format: the next older one may still serve
    skipped(path, error.what());
  }
  return std::nullopt;
}

/// Returns best.h5 if it can be used and is of a step above `step` and below `below`. Its name does not tell its step.
std::optional<FoundCheckpoint> read_best(const std::string& directory, std::int64_t step, std::int64_t below,
                                         const Skipped& skipped) {
  const std::string path = best_checkpoint_path(directory);
  std::error_code unknown;  // reading it then gives the reason
  if (fs::symlink_status(path, unknown).type() == fs::file_type::not_found) return std::nullopt;
  auto best = read_if_usable(path, std::nullopt, skipped);
  if (best && best->state.step > step && best->state.step < below) return best;
  return std::nullopt;
}

/// Returns the paths of the checkpoints of steps above `step`, up to `last`, including best.h5.
std::vector<fs::path> checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last) {
  std::vector<fs::path> paths;
  for (const auto& [of_file, path] : list_checkpoints(directory))
    if (of_file > step && of_file <= last) paths.push_back(path);
  const auto best = read_best(directory, step, last + 1, [](const auto&, const auto&) {});
  if (best) paths.emplace_back(best->path);
  return paths;
}

}  // namespace

std::string checkpoint_path(const std::string& directory, std::int64_t step) {
  return (fs::path(directory) / fmt::format("{}{:08}{}", kPrefix, step, kSuffix)).string();
}

std::string best_checkpoint_path(const std::string& directory) {
  return (fs::path(directory) / kBest).string();
}

bool join_checkpoint(const std::string& path) {
  try {
    std::vector<std::byte> bytes = read_checkpoint_file(path);
    if (!decode_checkpoint(bytes, path).parts) return false;
    write_file_atomically(path, join_parts(std::move(bytes), path, /*with_optimizer=*/true));
  } catch (const Error& error) {
    fail("'{}': {}", path, error.what());
  }
  remove_unlisted_parts(fs::path(path).parent_path().string());
  return true;
}

std::optional<FoundCheckpoint> find_newest_checkpoint(const std::string& directory, const Skipped& skipped,
                                                      std::int64_t below) {
  std::optional<FoundCheckpoint> newest;
  for (const auto& [step, path] : list_checkpoints(directory)) {
    if (step < below) newest = read_if_usable(path.string(), step, skipped);
    if (newest) break;
  }
  auto best = read_best(directory, newest ? newest->state.step : -1, below, skipped);
  return best ? std::move(best) : std::move(newest);
}

void remove_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last) {
  for (const fs::path& path : checkpoints_after(directory, step, last)) remove_or_warn(path);
}

void set_aside_checkpoints_after(const std::string& directory, std::int64_t step, std::int64_t last) {
  for (const fs::path& path : checkpoints_after(directory, step, last)) {
    std::error_code error;
    fs::rename(path, path.string() + ".suspect", error);
    if (error) log_warning(fmt::format("cannot rename '{}': {}", path.string(), error.message()));
  }
}

bool CheckpointKeeper::is_usable(const std::string& path, std::int64_t step) {
  if (const auto known = usable_.find(path); known != usable_.end()) return known->second;
  const auto found = read_if_usable(path, step, [&](const std::string&, const std::string& reason) {
    log_warning(fmt::format("{} does not count for checkpoint.keep: {}", path, reason));
  });
  return usable_[path] = found.has_value();
}

void CheckpointKeeper::remove_old(std::int64_t step, std::int64_t below) {
  std::int64_t num_kept = 0;
  bool has_one_below = below <= 0;
  for (const auto& [file_step, path] : list_checkpoints(directory_)) {
    // Compares steps, not times: clocks of machines differ, and a copy is younger than its original.
    if (keep_ <= 0 || file_step > step) continue;
    const bool is_first_below = !has_one_below && file_step < below;
    if (num_kept >= keep_ && !is_first_below) {
      remove_or_warn(path);
    } else if (is_usable(path.string(), file_step)) {
      ++num_kept;
      has_one_below |= is_first_below;
    }
  }

  std::vector<fs::path> left_over;
  for (const fs::directory_entry& file : open_directory(directory_)) {
    if (is_left_over(file.path().filename().string())) left_over.push_back(file.path());
  }
  for (const fs::path& path : left_over) remove_or_warn(path);
  remove_unlisted_parts(directory_);
}

}  // namespace convoy::io
