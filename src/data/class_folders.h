/// Samples as people keep them, a file each: ROOT/[SPLIT/]CLASS/FILE.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/source_listing.h"

namespace convoy {

/// What the files are, for the messages.
struct ClassFolders {
  const char* file = "IMAGE";
  const char* samples = "images";
  const char* suffix = "";      ///< of the files' names; others are passed over, with a warning that counts them
  const char* unlabelled = "";  ///< a folder beside the classes that is none, and is passed over with a warning
  bool has_splits = true;       ///< whether a folder may be a split; false: all are classes (import.splits)
};

/// Split folders are train*, val* and test* in any case; without them the root is one split, train. A folder is a split
/// only where it holds folders, so that a class may be named train. Classes and, below them, files (in folders of
/// their own too) come in the order of their names' bytes; data/folder_walk.h says what is seen of links. A split val
/// or test whose only folder is no class of train (test/unknown) is left out with a warning. Throws RequestError naming
/// import.source: no folders, no train, two folders for a split, an empty class, a class that train has not; a link to
/// nothing where a class or split may be; and where another folder seems to be meant: classes that are named as
/// different splits, a class whose files all lie in splits, one class only.
SourceListing list_class_folders(const std::string& root, const ClassFolders& kind);

/// Throws RequestError if import.source is no folder: it does not exist, or is a file, whose kind is then named.
void check_is_folder(const std::string& source);

/// All files below the folder, of one split; those of a name without `suffix` are passed over. Class folders need not
/// be there: a file that lies in none has the label -1. Throws RequestError naming `key` where there are none.
SourceListing list_any_files(const std::string& folder, const ClassFolders& kind, const std::string& key);

/// Of the folder that the file lies in.
SourceListing list_one_file(const std::string& path);

/// The split that is called so, in any case: Train, TESTING; dev and dev_matched are val. 0, 1, 2 for train, val, test.
std::optional<std::size_t> split_called(std::string name);

}  // namespace convoy
