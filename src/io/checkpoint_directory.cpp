/// The checkpoints of a run: what they are called, which is the newest that is whole, which are too old to keep.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/io/checkpoint.h"

#include "io/atomic_file.h"

namespace convoy::io {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".h5";
constexpr std::string_view kBest = "best.h5";

struct Entry {
  std::int64_t step = 0;
  fs::path path;
};

/// The step in "step-00001234.h5"; nothing for other names.
std::optional<std::int64_t> step_of(std::string_view name) {
  if (name.size() <= kPrefix.size() + kSuffix.size() || !name.starts_with(kPrefix) || !name.ends_with(kSuffix))
    return {};
  const std::string_view digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || end != digits.data() + digits.size() || step < 0) return {};
  return step;
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

/// The highest step first.
std::vector<Entry> list_checkpoints(const std::string& directory) {
  std::vector<Entry> entries;
  for (const fs::directory_entry& file : open_directory(directory)) {
    if (const auto step = step_of(file.path().filename().string())) entries.push_back({*step, file.path()});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(b.step, b.path) < std::tie(a.step, a.path); });
  return entries;
}

// A file that cannot be removed costs disk, not the run.
void remove_or_warn(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) log_warning(fmt::format("cannot remove '{}': {}", path.string(), error.message()));
}

using Skipped = std::function<void(const std::string& path, const std::string& reason)>;

/// The file's bytes where they are whole; else nothing, and the reason is passed on.
std::optional<FoundCheckpoint> read_if_whole(const std::string& path, const Skipped& skipped) {
  try {
    FoundCheckpoint found{path, read_file(path)};
    const auto damage = find_damage(found.bytes);
    if (!damage) return found;
    skipped(path, *damage);
  } catch (const Error& error) {  // unreadable: the next older one may still serve
    skipped(path, error.what());
  }
  return std::nullopt;
}

/// best.h5 where it is whole and of a step after `step`: its name does not tell.
std::optional<FoundCheckpoint> read_best_after(const std::string& directory, std::int64_t step,
                                               const Skipped& skipped) {
  const std::string path = best_checkpoint_path(directory);
  std::error_code unknown;  // reading it then gives the reason
  if (fs::symlink_status(path, unknown).type() == fs::file_type::not_found) return std::nullopt;
  auto best = read_if_whole(path, skipped);
  if (!best) return std::nullopt;
  try {
    if (decode_state(best->bytes, path).step > step) return best;
  } catch (const Error& error) {  // of another format: the others may still serve
    skipped(path, error.what());
  }
  return std::nullopt;
}

}  // namespace

std::string checkpoint_path(const std::string& directory, std::int64_t step) {
  return (fs::path(directory) / fmt::format("{}{:08}{}", kPrefix, step, kSuffix)).string();
}

std::string best_checkpoint_path(const std::string& directory) {
  return (fs::path(directory) / kBest).string();
}

std::optional<FoundCheckpoint> find_newest_checkpoint(const std::string& directory, const Skipped& skipped) {
  std::optional<FoundCheckpoint> newest;
  std::int64_t step = -1;
  for (const Entry& entry : list_checkpoints(directory)) {
    step = entry.step;
    newest = read_if_whole(entry.path.string(), skipped);
    if (newest) break;
  }
  auto best = read_best_after(directory, newest ? step : -1, skipped);
  return best ? std::move(best) : std::move(newest);
}

void remove_old_checkpoints(const std::string& directory, std::int64_t keep, std::int64_t step) {
  std::int64_t num_kept = 0;
  for (const Entry& entry : list_checkpoints(directory)) {
    // Steps, not times: clocks of machines differ, and a copy is younger than what it copies.
    if (keep <= 0 || entry.step > step) continue;
    if (num_kept < keep)
      ++num_kept;
    else
      remove_or_warn(entry.path);
  }

  std::vector<fs::path> left_over;
  for (const fs::directory_entry& file : open_directory(directory)) {
    if (is_left_over(file.path().filename().string())) left_over.push_back(file.path());
  }
  for (const fs::path& path : left_over) remove_or_warn(path);
}

}  // namespace convoy::io
