/// Lists folders; a walk down recognizes by device and inode the folders that it has come through.
#include "data/folder_walk.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "convoy/base/error.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_directory(error);
}

std::vector<fs::directory_entry> entries_of(const fs::path& folder, const std::string& key) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  fs::directory_iterator next(folder, error);
  for (; !error && next != fs::directory_iterator(); next.increment(error)) {
    if (!next->path().filename().string().starts_with('.')) entries.push_back(*next);
  }
  if (error) refuse("{}: cannot list folder '{}': {}", key, folder.string(), error.message());
  return entries;
}

// Returns the accepted entries of `parent` in the order of their names.
template <typename Accept>
std::vector<fs::path> paths_in(const fs::path& parent, const std::string& key, const Accept& accept) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : entries_of(parent, key))
    if (accept(entry)) paths.push_back(entry.path());
  std::ranges::sort(paths, {}, [](const fs::path& path) { return path.filename().string(); });
  return paths;
}

// Whether `folder` lies in `above`. Both are canonical; a path that could not be found is empty.
bool lies_in(const fs::path& folder, const fs::path& above) {
  return !above.empty() && std::mismatch(above.begin(), above.end(), folder.begin(), folder.end()).first == above.end();
}

using FolderId = std::pair<dev_t, ino_t>;

FolderId id_of(const fs::path& folder) {
  struct stat status = {};
  ::stat(folder.c_str(), &status);  // a folder that was removed meanwhile cannot be listed either
  return {status.st_dev, status.st_ino};
}

// Adds the files below `folder`, which was reached through the folders `way`.
void list_below(const fs::path& folder, const fs::path& root, const std::string& key, std::vector<FolderId>& way,
                std::vector<std::string>& names) {
  for (const fs::directory_entry& entry : entries_of(folder, key)) {
    const FolderId id = is_folder(entry) ? id_of(entry.path()) : FolderId{};
    if (!is_folder(entry) || std::find(way.begin(), way.end(), id) != way.end()) {
      names.push_back(entry.path().lexically_relative(root).string());
      continue;
    }
    way.push_back(id);
    list_below(entry.path(), root, key, way, names);
    way.pop_back();
  }
}

}  // namespace

std::vector<fs::path> folders_in(const fs::path& parent, const std::string& key) {
  return paths_in(parent, key, is_folder);
}

std::vector<fs::path> files_in(const fs::path& parent, const std::string& key) {
  return paths_in(parent, key, [](const fs::directory_entry& entry) {
    std::error_code error;
    return entry.is_regular_file(error);
  });
}

std::vector<std::string> files_below(const fs::path& folder, const fs::path& root, const std::string& key) {
  std::vector<FolderId> way = {id_of(root)};  // begins at the root: a link up to it is a loop, too
  fs::path at = root;
  for (const fs::path& part : folder.lexically_relative(root)) way.push_back(id_of(at /= part));
  std::vector<std::string> names;
  list_below(folder, root, key, way, names);
  std::sort(names.begin(), names.end());
  return names;
}

void check_links_in(const fs::path& parent, const std::string& key) {
  std::error_code error;
  const fs::path here = fs::canonical(parent, error);
  for (const fs::directory_entry& entry : entries_of(parent, key)) {
    if (!entry.is_symlink(error)) continue;
    const std::string link = entry.path().string(), target = fs::read_symlink(entry.path(), error).string();
    const fs::file_status status = fs::status(entry.path(), error);
    if (status.type() == fs::file_type::not_found)
      refuse("{}: '{}' is a link to '{}', which does not exist. Repair the link, or remove it", key, link, target);
    if (!fs::status_known(status)) refuse("{}: link '{}' to '{}': {}", key, link, target, error.message());
    if (fs::is_directory(status) && lies_in(here, fs::canonical(entry.path(), error)))
      refuse("{}: '{}' is a link to '{}', a folder that contains the link itself. Remove it", key, link, target);
  }
}

}  // namespace convoy
