/// Lists folders, for importers and for images that are used where they are stored. Names that begin with a dot are
/// ignored, and links are followed. `key` is named in the messages: RequestError if a folder cannot be listed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convoy {

/// Returns the folders in `parent`, in the order of their names.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& parent, const std::string& key);

/// Returns all files below `folder` at any depth, relative to `root`, which lies above it, in the order of the names'
/// bytes. Broken links are among them, and links to a folder that leads back to them: the caller finds out when it
/// reads them.
std::vector<std::string> files_below(const std::filesystem::path& folder, const std::filesystem::path& root,
                                     const std::string& key);

/// Throws RequestError if a link in `parent` leads to nothing, so that a class or a split may be missing, or back up,
/// so that a folder would be its own class.
void check_links_in(const std::filesystem::path& parent, const std::string& key);

}  // namespace convoy
