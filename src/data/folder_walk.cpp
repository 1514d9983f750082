/// Lists folders; a walk down knows by device and inode where it has come from.
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

// Both canonical; one that could not be found is empty.
bool lies_in(const fs::path& folder, const fs::path& above) {
  return !above.empty() && std::mismatch(above.begin(), above.end(), folder.begin(), folder.end()).first == above.end();
}

class Walk {
 public:
  Walk(const fs::path& root, const std::string& key) : root_(root), key_(key) {}

  /// From the root: a link up to it is a loop, too.
  void down_to(const fs::path& folder) {
    fs::path at = root_;
    way_.push_back(id_of(at));
    for (const fs::path& part : folder.lexically_relative(root_)) way_.push_back(id_of(at /= part));
  }

  void list(const fs::path& folder) {
    for (const fs::directory_entry& entry : entries_of(folder, key_)) {
      const Id id = is_folder(entry) ? id_of(entry.path()) : Id{};
      if (!is_folder(entry) || std::find(way_.begin(), way_.end(), id) != way_.end()) {
        names_.push_back(entry.path().lexically_relative(root_).string());
        continue;
      }
      way_.push_back(id);
      list(entry.path());
      way_.pop_back();
    }
  }

  std::vector<std::string> take_sorted() {
    std::sort(names_.begin(), names_.end());
    return std::move(names_);
  }

 private:
  using Id = std::pair<dev_t, ino_t>;

  static Id id_of(const fs::path& folder) {
    struct stat status = {};
    ::stat(folder.c_str(), &status);  // what is gone meanwhile cannot be listed either
    return {status.st_dev, status.st_ino};
  }

  const fs::path& root_;
  const std::string& key_;
  std::vector<Id> way_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<fs::path> folders_in(const fs::path& parent, const std::string& key) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : entries_of(parent, key)) {
    if (is_folder(entry)) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename().string() < b.filename().string(); });
  return folders;
}

std::vector<std::string> files_below(const fs::path& folder, const fs::path& root, const std::string& key) {
  Walk walk(root, key);
  walk.down_to(folder);
  walk.list(folder);
  return walk.take_sorted();
}

void check_links_in(const fs::path& parent, const std::string& key) {
  std::error_code error;
  const fs::path here = fs::canonical(parent, error);
  for (const fs::directory_entry& entry : entries_of(parent, key)) {
    if (!entry.is_symlink(error)) continue;
    const std::string link = entry.path().string(), target = fs::read_symlink(entry.path(), error).string();
    const fs::file_status status = fs::status(entry.path(), error);
    if (status.type() == fs::file_type::not_found)
      refuse("{}: '{}' is a link to '{}', which is not there. Mend it, or remove it", key, link, target);
    if (!fs::status_known(status)) refuse("{}: link '{}' to '{}': {}", key, link, target, error.message());
    if (fs::is_directory(status) && lies_in(here, fs::canonical(entry.path(), error)))
      refuse("{}: '{}' is a link to '{}', in which it lies itself. Remove it", key, link, target);
  }
}

}  // namespace convoy
