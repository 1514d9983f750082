/// Finds the shards of a data set by their names.
#include "convoy/io/shard_files.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"

#include "io/shard.h"

namespace convoy::io {

namespace {

namespace fs = std::filesystem;

std::string shard_name(const std::string& name, std::int64_t index, std::int64_t num_shards) {
  return num_shards == 1 ? name + ".h5" : fmt::format("{}-{:03}.h5", name, index);
}

/// The index in NAME-000.h5; nothing for other names.
std::optional<std::int64_t> shard_index(const std::string& file_name, const std::string& name) {
  std::string_view rest = file_name;
  if (!rest.starts_with(name + "-") || !rest.ends_with(".h5")) return {};
  rest = rest.substr(name.size() + 1, rest.size() - name.size() - 1 - 3);
  const auto index = parse_number<std::int64_t>(rest);
  return rest.size() >= 3 && index && *index >= 0 ? index : std::nullopt;
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The files NAME-000.h5 ... in one folder, by number.
std::map<std::int64_t, std::string> numbered_shards(const fs::path& prefix) {
  std::map<std::int64_t, std::string> found;
  std::error_code error;
  const fs::path directory = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  for (const fs::directory_entry& file : fs::directory_iterator(directory, error)) {
    const auto index = shard_index(file.path().filename().string(), prefix.filename().string());
    if (index) found[*index] = (prefix.parent_path() / file.path().filename()).string();
  }
  return found;
}

[[noreturn]] void refuse_absent(const std::string& path, const std::string& given, const fs::path& prefix) {
  if (path.ends_with(".h5")) refuse("{}: there is no such file. Make a data set with 'convoy import'", given);
  const std::string one = prefix.string() + ".h5", first = prefix.string() + "-000.h5";
  if (prefix == path)
    refuse("{}: there is no such file or folder, nor '{}' or '{}'. Make a data set with 'convoy import'", given, one,
           first);
  std::vector<std::string> others;
  for (const char* const split : kSplitNames)
    if (!find_any_shard(path, split).empty()) others.push_back((fs::path(path) / split).string());
  refuse("{}: there is neither '{}' nor '{}'{}. Make them with 'convoy import'", given, one, first,
         others.empty() ? "" : fmt::format("; there is {}", fmt::join(others, ", ")));
}

}  // namespace

std::string shard_path(const std::string& directory, const std::string& name, std::int64_t index,
                       std::int64_t num_shards) {
  return (fs::path(directory) / shard_name(name, index, num_shards)).string();
}

// Shards of an earlier import in another number would be mixed with the new ones; killed imports leave temporary files.
void remove_earlier_shards(const std::string& directory, const std::string& name, std::int64_t num_shards) {
  std::vector<fs::path> earlier;
  std::error_code unknown;  // the error then comes up when the new shards are written
  for (const fs::directory_entry& file : fs::directory_iterator(directory, unknown)) {
    std::string shard = file.path().filename().string();
    const bool partial = shard.ends_with(kPartialSuffix);
    if (partial) shard.resize(shard.size() - std::string_view(kPartialSuffix).size());
    const bool alone = shard == shard_name(name, 0, 1);
    const auto index = shard_index(shard, name);
    const bool written_now = num_shards == 1 ? alone : index && *index < num_shards;
    if ((alone || index) && (partial || !written_now)) earlier.push_back(file.path());
  }
  for (const fs::path& path : earlier) {
    std::error_code error;
    fs::remove(path, error);
    if (error) fail("cannot remove '{}' of an earlier import: {}. Remove it", path.string(), error.message());
  }
}

std::string find_any_shard(const std::string& directory, const std::string& name) {
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(directory, error)) {
    const std::string shard = file.path().filename().string();
    if (shard == shard_name(name, 0, 1) || shard_index(shard, name)) return file.path().string();
  }
  return "";
}

bool is_shard(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  const std::uint64_t size = file_size(file, path);
  if (size < kShardTrailerBytes) return false;
  std::string begin(kShardMagic.size(), '\0');
  read_at(file, size - kShardTrailerBytes, std::as_writable_bytes(std::span(begin)), path);
  return begin == kShardMagic;
}

std::vector<std::string> find_shards(const std::string& path, const std::string& given, const std::string& split) {
  if (is_file(path)) return {path};
  std::error_code error;
  const fs::path prefix = fs::is_directory(path, error) ? fs::path(path) / split : fs::path(path);
  const std::string alone = prefix.string() + ".h5";
  const auto numbered = numbered_shards(prefix);
  if (is_file(alone) && !numbered.empty()) {
    refuse("{}: both '{}' and '{}' exist, from different imports. Remove the older", given, alone,
           numbered.begin()->second);
  }
  if (is_file(alone)) return {alone};
  if (numbered.empty()) refuse_absent(path, given, prefix);
  std::vector<std::string> paths;
  for (const auto& [index, shard] : numbered) {
    if (index != static_cast<std::int64_t>(paths.size())) {
      refuse("{}: shard '{}-{:03}.h5' is missing, but '{}' exists. Import again, or copy it back", given,
             prefix.string(), paths.size(), shard);
    }
    paths.push_back(shard);
  }
  return paths;
}

}  // namespace convoy::io
