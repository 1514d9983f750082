/// Lists samples that are stored in one file each, in a folder for each class: ROOT/[SPLIT/]CLASS/FILE.
#pragma once

#include <optional>
#include <string>

#include "data/source_listing.h"

namespace convoy {

/// The kind of sample files that are listed.
struct ClassFolders {
  const char* file = "IMAGE";      ///< the file's name in messages: ROOT/CLASS/IMAGE
  const char* samples = "images";  ///< the samples' name in messages
  const char* suffix = "";         ///< end of the files' names; other files are ignored, and a warning counts them
  const char* unlabelled = "";     ///< name of a folder next to the classes that is no class: ignored with a warning
  bool has_splits = true;          ///< whether folders may be splits; false: all folders are classes (import.splits)
};

/// Lists the samples below `root`. Folders named train*, val* and test*, in small or capital letters, are splits, but
/// only if they contain folders, so that a class may be named train. If there are no such folders, the root is the
/// split train. Classes, and the files of each class at any depth, are listed in the order of the bytes of their names.
/// Links are treated as in data/folder_walk.h. A split val or test whose only folder is not a class of train
/// (test/unknown) is left out with a warning. Throws RequestError naming import.source if there are no folders, no
/// train, two folders for a split, an empty class, a class that train does not have, or a broken link that may be a
/// class or split. Also throws it if the user seems to mean another folder: classes are named as different splits, a
/// class has all its files in splits, or there is only one class.
SourceListing list_class_folders(const std::string& root, const ClassFolders& kind);

/// Throws RequestError if `source`, the value of import.source, is not a folder: it does not exist, or is a file, whose
/// kind the message names.
void check_is_folder(const std::string& source);

/// Lists all files below the folder whose names end with kind.suffix, as one split. A file that is not in a class
/// folder has the label -1 (see open_samples()). Throws RequestError, naming the key `key`, if there are no such files,
/// or if a folder cannot be listed.
SourceListing list_any_files(const std::string& folder, const ClassFolders& kind, const std::string& key);

/// Lists a single file, with the label -1. Its name in the list is relative to the folder that contains it.
SourceListing list_one_file(const std::string& path);

/// Returns the split that a folder's or table's name means: 0, 1 or 2 for train, val or test; nothing if it means none.
/// Small and capital letters are the same: Train, TESTING. The names dev and dev_matched mean val.
std::optional<std::size_t> split_called(std::string name);

}  // namespace convoy
