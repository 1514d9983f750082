/// Pictures of a folder as a part of samples, one picture for each. The samples are the pictures of a list, or the rows
/// of a table that names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/arrays/sample_part.h"
#include "data/source_listing.h"

namespace convoy {

/// The pictures of a folder.
struct PictureSource {
  /// Their names, paths below the folder; empty if a table names them.
  std::vector<std::string> names = {};
  bool are_classes_folders = false;  ///< whether the first folder of each name is the picture's class
};

/// Whether a folder holds PNG or TIFF files at any depth, and no files of arrays in itself. `key` is the parameter that
/// gave the path, for messages.
bool holds_pictures(const std::string& folder, const std::string& key);
/// Lists the picture at a path, or the pictures below a folder with the class that list_any_files() finds for each. No
/// split if the path holds no pictures.
SourceListing list_pictures(const std::string& path, const std::string& key);

/// Finds the column with the names of pictures in the table that another part was found in: the first whose first field
/// is a file below `folder`. Adds a sentence to `notes` that names it. Throws RequestError if there is none.
PartLocation find_picture_names(const PartLocation& part, const std::string& folder, std::vector<std::string>& notes);

/// Opens the names of the pictures, a list or a column: a part of texts.
std::unique_ptr<SamplePart> open_picture_names(const PartLocation& location, OpenTables& tables,
                                               std::int64_t block_bytes);
/// The first folder of each name, as a part of texts. `names` must outlive it.
std::unique_ptr<SamplePart> open_picture_classes(SamplePart& names);
/// The pictures with these names below `folder`. `names` must outlive it. Throws RequestError if there are none, or if
/// the first cannot be read; values() throws Error naming a picture that cannot be read, or that has another type or
/// form than the first.
std::unique_ptr<SamplePart> open_pictures_called(SamplePart& names, const std::string& folder);

}  // namespace convoy
