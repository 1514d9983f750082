/// What lies in folders, for importers and for images that are used where they lie. Names that begin with a dot are not
/// looked at, links are followed, and `key` stands in the messages: RequestError where a folder cannot be listed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace convoy {

/// In the order of their names.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& parent, const std::string& key);

/// All that is no folder below `folder` at any depth, as seen from `root`, above it, in the order of the names' bytes.
/// A link to nothing is among them, and one to a folder that leads to it: whoever reads them says what they are.
std::vector<std::string> files_below(const std::filesystem::path& folder, const std::filesystem::path& root,
                                     const std::string& key);

/// Throws RequestError where a link in `parent` leads to nothing, so that a class or a split may be missing, or back
/// up, so that a folder would be its own class.
void check_links_in(const std::filesystem::path& parent, const std::string& key);

}  // namespace convoy
