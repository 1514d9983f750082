/// Lists the content of folders, for importers and for images that are used without an import. Names that begin with a
/// dot are ignored, and symbolic links are followed. The functions throw RequestError, naming the key `key`, if a
/// folder cannot be listed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convoy {

/// Returns the folders in `parent`, in the order of the bytes of their names.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& parent, const std::string& key);

/// Returns the files in `parent` itself, in the order of the bytes of their names.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& parent, const std::string& key);

/// Returns the paths of all files below `folder` at any depth, relative to `root`, in the order of their bytes.
/// `folder` is below `root` or the same. The result contains broken links, and links to a folder above them, although
/// they are no files: the caller cannot read them.
std::vector<std::string> files_below(const std::filesystem::path& folder, const std::filesystem::path& root,
                                     const std::string& key);

/// Throws RequestError if a symbolic link in `parent` is broken, so that a class or a split may be missing, or leads to
/// a folder that contains the link, so that a folder would be its own class.
void check_links_in(const std::filesystem::path& parent, const std::string& key);

}  // namespace convoy
