/// Lists samples that are stored as one file each: ROOT/[SPLIT/]CLASS/FILE.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/source_listing.h"

namespace convoy {

/// Describes the kind of files, also for messages.
struct ClassFolders {
  const char* file = "IMAGE";
  const char* samples = "images";
  const char* suffix = "";      ///< suffix of the files' names; others are ignored, with a warning that counts them
  const char* unlabelled = "";  ///< folder next to the classes that is not a class: ignored with a warning
  bool has_splits = true;       ///< whether a folder may be a split; false: all are classes (import.splits)
};

/// Lists the samples below `root`. Split folders are train*, val* and test* in any case; without them the root is one
/// split, train. A folder is a split only if it holds folders, so that a class may be named train. Classes and, below
/// them, files (also in folders of their own) come in the order of their names' bytes; data/folder_walk.h describes the
/// treatment of links. A split val or test whose only folder is not a class of train (test/unknown) is left out with a
/// warning. Throws RequestError naming import.source if there are no folders, no train, two folders for a split, an
/// empty class, a class that train does not have, or a broken link that may be a class or split; also if another folder
/// seems to be meant: classes are named as different splits, a class has all its files in splits, or there is only one
/// class.
SourceListing list_class_folders(const std::string& root, const ClassFolders& kind);

/// Throws RequestError if import.source is not a folder: it does not exist, or is a file, whose kind is then named.
void check_is_folder(const std::string& source);

/// Lists all files below the folder as one split; those whose names lack the suffix are ignored. Class folders may be
/// missing: a file that lies in none has the label -1. Throws RequestError naming `key` if there are no files.
SourceListing list_any_files(const std::string& folder, const ClassFolders& kind, const std::string& key);

/// Lists one file, without a label, as a sample of the folder that it lies in.
SourceListing list_one_file(const std::string& path);

/// Returns the split of that name, in any case (Train, TESTING; dev and dev_matched are val): 0, 1, 2 for train, val,
/// test.
std::optional<std::size_t> split_called(std::string name);

}  // namespace convoy
