/// Looks for shards in folders.
#include "io/shard_files.h"

#include <filesystem>
#include <map>
#include <system_error>

#include "convoy/base/error.h"
#include "convoy/io/shard_writer.h"

#include "io/shard.h"

namespace convoy::io {

namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// NAME-000.h5 ... beside each other, by number.
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
  if (path.ends_with(".h5")) refuse("{}: there is no such file. 'convoy import' makes data sets", given);
  const std::string one = prefix.string() + ".h5", first = prefix.string() + "-000.h5";
  if (prefix == path)
    refuse("{}: there is no such file or folder, nor '{}' or '{}'. 'convoy import' makes data sets", given, one, first);
  std::vector<std::string> others;
  for (const char* const split : kSplitNames)
    if (!find_any_shard(path, split).empty()) others.push_back((fs::path(path) / split).string());
  refuse("{}: there is neither '{}' nor '{}'{}. 'convoy import' makes them", given, one, first,
         others.empty() ? "" : fmt::format("; there is {}", fmt::join(others, ", ")));
}

}  // namespace

std::vector<std::string> find_shards(const std::string& path, const std::string& given, const std::string& split) {
  if (is_file(path)) return {path};
  std::error_code error;
  const fs::path prefix = fs::is_directory(path, error) ? fs::path(path) / split : fs::path(path);
  const std::string alone = prefix.string() + ".h5";
  const auto numbered = numbered_shards(prefix);
  if (is_file(alone) && !numbered.empty()) {
    refuse("{}: both '{}' and '{}' are there, of different imports. Remove the older", given, alone,
           numbered.begin()->second);
  }
  if (is_file(alone)) return {alone};
  if (numbered.empty()) refuse_absent(path, given, prefix);
  std::vector<std::string> paths;
  for (const auto& [index, shard] : numbered) {
    if (index != static_cast<std::int64_t>(paths.size())) {
      refuse("{}: shard '{}-{:03}.h5' is missing, '{}' is there. Import again, or copy it back", given, prefix.string(),
             paths.size(), shard);
    }
    paths.push_back(shard);
  }
  return paths;
}

}  // namespace convoy::io
