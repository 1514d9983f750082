/// Opens the samples at a path: a data set that an import made, or files of images or texts, without an import.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/data/import.h"
#include "convoy/io/sample_store.h"
#include "convoy/params/choices.h"

namespace convoy {

/// How files of images are decoded to samples.
struct ImageFileOptions {
  std::int64_t channels = 3;    ///< channels that images are decoded to
  bool orients = false;         ///< images are turned as their Exif orientation says
  bool needs_oriented = false;  ///< the images of a data set must be, or will be, turned
};

/// How files of texts become samples.
struct TextFileOptions {
  io::Tokenization tokenization;
  io::ColumnNames columns;  ///< columns of a table; the column of labels may be missing
};

struct SamplesPath {
  std::string path;
  std::string key;                                        ///< key that gave the path, for messages: predict.data
  std::variant<ImageFileOptions, TextFileOptions> files;  ///< what is looked for if the path is not a data set
  VerifyKind verify = VerifyKind::kEpoch;                 ///< how a data set is verified
  std::string split = "test";                             ///< split to open in a folder of shards
};

/// The columns of a table other than those of texts and classes.
struct OtherColumns {
  std::vector<std::string> names;
  std::vector<std::string> rows;  ///< the fields of each sample as CSV, each after a comma
};

struct OpenedSamples {
  std::unique_ptr<io::SampleStore> store;
  OtherColumns others = {};            ///< set on rank 0 for a table; else empty
  bool is_one_file = false;            ///< the path is one image or one text
  std::vector<SkippedSample> skipped;  ///< texts that cannot be used; they are not in the store
};

/// Opens the samples at `path`. A folder without shards of an import holds images or texts (.txt), as
/// [SPLIT/][CLASS/]FILE: all such files below it that do not begin with a dot, in the order of their paths' bytes.
/// Splits are folders named train*, val* and test* that hold folders; a file in no class folder has no label. Images
/// are read when they are asked for, texts at once. A file that is not HDF5 is one image or one text (a warning says if
/// it has several lines), or, if it is named .csv or .tsv, a table of texts. Everything else is opened as io::Dataset;
/// if it is a folder, the shards of `split`. Rank 0 lists the files and tells all ranks. Throws RequestError, on all
/// ranks, if the path is at fault, or if images are to be turned and a data set was imported without import.orient. All
/// ranks of the group.
OpenedSamples open_samples(const SamplesPath& path, const mpi::Communicator& world);

/// Returns, on rank 0, sentences about what the network does not see of files that all ranks have read: bits and
/// transparency of images, texts of unknown words. All ranks of the group.
std::vector<std::string> describe_losses(const io::SampleStore& samples, const mpi::Communicator& world);

/// Makes samples of one text that is given itself. Throws RequestError naming `key` if the text cannot be used.
OpenedSamples open_one_text(const std::string& text, const std::string& key, const io::Tokenization& tokenization);

}  // namespace convoy
