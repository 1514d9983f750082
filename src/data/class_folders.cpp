/// Walks folders of splits and of classes.
#include "data/class_folders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/foreign_kind.h"
#include "convoy/io/shard_files.h"

#include "data/folder_walk.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "import.source";
constexpr const auto& kSplits = io::kSplitNames;
constexpr std::int32_t kNoClass = -1;
constexpr std::size_t kMaxNamed = 5;         // classes named in one message
constexpr std::size_t kFilesExamined = 100;  // files examined to say what a folder without classes holds
constexpr const char* kIfClasses = "If these folders are classes, set import.splits = false";

/// Returns 0, 1, 2 for train, val, test; nothing for a folder that is not a split.
std::optional<std::size_t> split_of(const fs::path& folder, const std::string& key) {
  const auto split = split_called(folder.filename().string());
  return split && !folders_in(folder, key).empty() ? split : std::nullopt;
}

class Listing {
 public:
  Listing(const std::string& root, const ClassFolders& kind) : root_name_(root), root_(root), kind_(kind) {}

  SourceListing list() {
    check_links_in(root_, kKey);
    const std::vector<fs::path> folders = folders_in(root_, kKey);
    if (folders.empty())
      refuse("import.source = {}: it holds no folders{}. {}", root_name_, describe_files(), expected());
    for (const fs::path& folder : folders) sort_out(folder);
    if (others_.size() == folders.size()) {
      if (kind_.has_splits) warn_of_common_folders(folders);
      list_split(root_, "train");
    } else {
      list_splits();
    }
    check_number_of_classes();
    if (const std::string spellings = describe_spellings(listing_.class_names); !spellings.empty())
      log_warning(fmt::format("import.source = {}: the classes {}", root_name_, spellings));
    if (num_passed_over_ > 0)
      log_warning(fmt::format("import.source = {}: {} files are not imported, as their names do not end in {}: '{}'{}",
                              root_name_, num_passed_over_, kind_.suffix, passed_over_,
                              num_passed_over_ > 1 ? " and others" : ""));
    return std::move(listing_);
  }

 private:
  std::string expected() const { return fmt::format("Expected: [SPLIT/]CLASS/{}", kind_.file); }

  // Returns "; it holds 1 file: 'pictures.tar.gz', which is a gzip file. Unpack it first", about the first file of a
  // foreign kind.
  std::string describe_files() const {
    const std::vector<std::string> files = files_below(root_, root_, kKey);
    if (files.empty()) return "";
    const std::string count = counted(std::ssize(files), "file");
    for (std::size_t i = 0; i < std::min<std::size_t>(files.size(), kFilesExamined); ++i)
      if (const auto kind = io::find_foreign_kind((root_ / files[i]).string()))
        return fmt::format("; it holds {}{} '{}', which is {}. {}", count, files.size() == 1 ? ":" : ", among them",
                           files[i], kind->name, kind->remedy);
    return fmt::format("; it holds {}, for example '{}'", count, files.front());
  }

  void sort_out(const fs::path& folder) {
    const auto split = kind_.has_splits ? split_of(folder, kKey) : std::nullopt;
    if (!split) {
      others_.push_back(folder.filename().string());
    } else if (fs::path& found = splits_[*split]; !found.empty()) {
      refuse("import.source = {}: '{}' and '{}' both belong to split {}. Import them separately, or rename one. {}",
             root_name_, found.filename().string(), folder.filename().string(), kSplits[*split], kIfClasses);
    } else {
      found = folder;
    }
  }

  void list_splits() {
    if (splits_[0].empty()) {
      refuse("import.source = {}: there is a split {} but no split train, whose classes are needed. {}", root_name_,
             (splits_[1].empty() ? splits_[2] : splits_[1]).filename().string(), kIfClasses);
    }
    if (!others_.empty()) warn_of_others();
    for (std::size_t i = 0; i < kSplits.size(); ++i) {
      if (!splits_[i].empty()) list_split(splits_[i], kSplits[i]);
    }
  }

  void warn_of_others() const {
    const auto named = std::find_if(others_.begin(), others_.end(), split_called);  // test/1.jpg
    const std::string hint =
        named == others_.end()
            ? ""
            : fmt::format(
                  ". '{0}' holds no folders of classes; convoy predict reads {1} without classes: predict.data = {2}",
                  *named, kind_.samples, (root_ / *named).string());
    log_warning(fmt::format("import.source = {}: these lie outside the splits and are not imported: {}{}", root_name_,
                            fmt::join(others_, ", "), hint));
  }

  // Announces the guess that the upper folders are the classes: seg_train/a, seg_train/b, seg_test/a, seg_test/b.
  void warn_of_common_folders(const std::vector<fs::path>& classes) const {
    const auto names_in = [](const fs::path& folder) {
      std::vector<std::string> names;
      for (const fs::path& path : folders_in(folder, kKey)) names.push_back(path.filename().string());
      return names;
    };
    if (classes.size() < 2) return;
    const std::vector<std::string> inner = names_in(classes.front());
    if (inner.size() < 2) return;
    for (const fs::path& path : classes)
      if (names_in(path) != inner) return;
    log_warning(fmt::format(
        "import.source = {}: '{}' and the folders next to it are imported as classes, but all of them hold folders of "
        "the same names ({}, {}{}). If these inner folders are the classes, rename the outer folders to train, val and "
        "test",
        root_name_, classes.front().filename().string(), inner[0], inner[1], inner.size() > 2 ? ", ..." : ""));
  }

  void list_split(const fs::path& folder, const std::string& name) {
    check_links_in(folder, kKey);
    std::vector<fs::path> classes = folders_in(folder, kKey);
    pass_over_unlabelled(classes);
    if (leaves_out(folder, classes)) return;
    for (const fs::path& path : classes) check_name(path);
    if (kind_.has_splits) check_class_names(folder, classes);
    if (listing_.splits.empty()) {
      for (const fs::path& path : classes) listing_.class_names.push_back(path.filename().string());
    }
    SourceSplit& split = listing_.splits.emplace_back();
    split.name = name;
    for (const fs::path& path : classes) {
      const std::int32_t label = label_of(path);
      const std::vector<std::string> files = files_of(path);
      if (files.empty())
        refuse("import.source: class folder '{}' {}. Fill it, or remove it", path.string(),
               *kind_.suffix == '\0' ? "is empty"
                                     : fmt::format("is empty, or holds no files that end in {}", kind_.suffix));
      if (kind_.has_splits) check_not_a_data_set(path, files);
      for (const std::string& file : files) split.add(file, label, 0);
    }
  }

  void pass_over_unlabelled(std::vector<fs::path>& classes) const {
    const auto found =
        std::ranges::find_if(classes, [&](const fs::path& path) { return path.filename() == kind_.unlabelled; });
    if (found == classes.end() || classes.size() < 3) return;
    log_warning(fmt::format("import.source = {}: '{}' holds {} without a class and is not imported", root_name_,
                            found->string(), kind_.samples));
    classes.erase(found);
  }

  // Whether the split is left out. Kaggle gives what is to be predicted as test/unknown: the only folder of its split,
  // and not a class of train.
  bool leaves_out(const fs::path& split, const std::vector<fs::path>& classes) const {
    if (listing_.splits.empty() || classes.size() != 1 || is_class(classes.front().filename().string())) return false;
    log_warning(
        fmt::format("import.source = {}: '{}' is not imported: its only folder, '{}', is not a class of train. convoy "
                    "predict reads {} without classes: predict.data = {}",
                    root_name_, split.string(), classes.front().filename().string(), kind_.samples, split.string()));
    return true;
  }

  void check_name(const fs::path& path) const {
    try {
      check_is_name(path.filename().string(), "the name of a class folder");
    } catch (const Error& error) {
      refuse("import.source = {}: {}. Rename it", root_name_, error.what());
    }
  }

  bool is_class(const std::string& name) const { return std::ranges::binary_search(listing_.class_names, name); }

  std::vector<std::string> files_of(const fs::path& folder) {
    std::vector<std::string> files = files_below(folder, root_, kKey);
    std::erase_if(files, [&](const std::string& name) {
      if (lower_case(name).ends_with(kind_.suffix)) return false;
      if (num_passed_over_++ == 0) passed_over_ = name;
      return true;
    });
    return files;
  }

  std::int32_t label_of(const fs::path& folder) const {
    const auto& names = listing_.class_names;
    const auto found = std::lower_bound(names.begin(), names.end(), folder.filename().string());
    if (found == names.end() || *found != folder.filename().string()) {
      refuse(
          "import.source: '{}' is a class that train does not have. Train has {}: {}. Rename it, or move it out of "
          "import.source: convoy predict reads {} without classes (predict.data)",
          folder.string(), names.size(), first_few(names, kMaxNamed), kind_.samples);
    }
    return static_cast<std::int32_t>(found - names.begin());
  }

  // Refuses classes of which all have names of splits (train/1.jpg, test/1.jpg), unless two have the name of the same
  // split.
  void check_class_names(const fs::path& folder, const std::vector<fs::path>& classes) const {
    std::vector<std::string> names;
    std::set<std::size_t> splits;
    for (const fs::path& path : classes) {
      names.push_back(path.filename().string());
      if (const auto split = split_called(names.back())) splits.insert(*split);
    }
    if (names.size() < 2 || !std::all_of(names.begin(), names.end(), split_called)) return;
    const std::string list = first_few(names, kMaxNamed);
    if (splits.size() < names.size()) {
      log_warning(
          fmt::format("import.source = {}: the folders in '{}' are taken as classes, although their names begin as "
                      "those of splits do: {}",
                      root_name_, folder.string(), list));
      return;
    }
    refuse(
        "import.source: the folders in '{}' would be the classes {}, but these are names of splits. {}. Put the {} "
        "into a folder for each class. {}",
        folder.string(), list, expected(), kind_.samples, kIfClasses);
  }

  // Refuses a data set that was taken for a class: mini in mini/train/ant/1.jpg.
  void check_not_a_data_set(const fs::path& folder, const std::vector<std::string>& files) const {
    const std::size_t own = folder.lexically_relative(root_).string().size() + 1;
    const auto lies_in_split = [own](const std::string& file) {
      const std::size_t end = file.find('/', own);
      return end != std::string::npos && split_called(file.substr(own, end - own));
    };
    if (!std::all_of(files.begin(), files.end(), lies_in_split)) return;
    refuse("import.source = {}: '{}' would be a class, but it holds splits, for example '{}'. {}. Import '{}'. {}",
           root_.string(), folder.filename().string(), files.front(), expected(), folder.string(), kIfClasses);
  }

  void check_number_of_classes() const {
    if (listing_.class_names.size() > 1) return;
    refuse(
        "import.source = {}: all its {} would be of one class, '{}' (for example '{}'). A network needs at least two. "
        "{}. Give the folder that holds the classes, or the splits",
        root_.string(), kind_.samples, listing_.class_names.front(), listing_.splits.front().names[0], expected());
  }

  const std::string& root_name_;
  const fs::path root_;
  const ClassFolders& kind_;
  std::array<fs::path, kSplits.size()> splits_;
  std::vector<std::string> others_;  ///< folders that are not splits
  std::string passed_over_;          ///< first file that was ignored
  std::int64_t num_passed_over_ = 0;
  SourceListing listing_;
};

// Returns the folder that names the class of a file, in "[SPLIT/][CLASS/]...FILE"; empty if none does.
std::string class_of(const fs::path& name, const std::set<std::string>& splits) {
  auto part = name.begin();
  const auto is_last = [&] { return std::next(part) == name.end(); };
  if (!is_last() && splits.contains(part->string())) ++part;
  return is_last() ? "" : part->string();
}

}  // namespace

std::optional<std::size_t> split_called(std::string name) {
  name = lower_case(name);
  for (std::size_t i = 0; i < kSplits.size(); ++i) {
    if (name.starts_with(kSplits[i])) return i;
  }
  return std::nullopt;
}

SourceListing list_class_folders(const std::string& root, const ClassFolders& kind) {
  return Listing(root, kind).list();
}

void check_is_folder(const std::string& source) {
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (fs::is_directory(status)) return;
  if (!fs::exists(status)) refuse("{} = {}: there is no such file or folder", kKey, source);
  const auto kind = io::find_foreign_kind(source);
  refuse(
      "{} = {}: it is {}, but a folder was expected (of images or texts, or with the files of CIFAR or MNIST), or a "
      "table of texts (.csv, .tsv; of another name with import.format = csv). {}",
      kKey, source, kind ? kind->name : "a file", kind ? kind->remedy : "Give the folder that holds the classes");
}

SourceListing list_any_files(const std::string& folder, const ClassFolders& kind, const std::string& key) {
  std::set<std::string> splits;
  for (const fs::path& path : folders_in(folder, key))
    if (split_of(path, key)) splits.insert(path.filename().string());
  std::vector<std::string> names = files_below(folder, folder, key);
  std::erase_if(names, [&](const std::string& name) { return !lower_case(name).ends_with(kind.suffix); });
  if (names.empty())
    refuse("{} = {}: it holds neither files of {} nor shards of a data set", key, folder, kind.samples);

  std::vector<std::string> classes;
  for (const std::string& name : names) classes.push_back(class_of(name, splits));
  SourceListing listing;
  const std::set<std::string> all(classes.begin(), classes.end());
  std::copy_if(all.begin(), all.end(), std::back_inserter(listing.class_names),
               [](const std::string& name) { return !name.empty(); });
  SourceSplit& split = listing.splits.emplace_back();
  const auto& known = listing.class_names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto class_index = std::lower_bound(known.begin(), known.end(), classes[i]) - known.begin();
    split.add(names[i], classes[i].empty() ? kNoClass : static_cast<std::int32_t>(class_index), 0);
  }
  return listing;
}

SourceListing list_one_file(const std::string& path) {
  SourceListing listing;
  listing.splits.emplace_back().add(fs::path(path).filename().string(), kNoClass, 0);
  return listing;
}

}  // namespace convoy
