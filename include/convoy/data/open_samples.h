/// Samples from a path: a data set that an import made, or files of images or texts, without an import.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/data/import.h"
#include "convoy/io/sample_store.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// How files of images become samples.
struct ImageFileOptions {
  std::int64_t channels = 3;    ///< that they are decoded to
  bool orients = false;         ///< they are turned as their Exif orientation says
  bool needs_oriented = false;  ///< a data set must have been, or will be, turned so
};

/// How texts do.
struct TextFileOptions {
  io::Tokenization tokenization;
  io::ColumnNames columns;  ///< of a table; that of labels need not be there
};

struct SamplesPath {
  std::string path;
  std::string key;                                        ///< that gave it, for messages: predict.data
  std::variant<ImageFileOptions, TextFileOptions> files;  ///< what is looked for where there is no data set
  VerifyKind verify = VerifyKind::kEpoch;                 ///< of a data set
  std::string split = "test";                             ///< of a folder of shards
};

/// The columns of a table other than those of texts and classes.
struct OtherColumns {
  std::vector<std::string> names;
  std::vector<std::string> rows;  ///< of each sample its fields as CSV, each after a comma
};

struct OpenedSamples {
  std::unique_ptr<io::SampleStore> store;
  OtherColumns others = {};            ///< on rank 0, of a table; else empty
  bool is_one_file = false;            ///< the path is of one image or text
  std::vector<SkippedSample> skipped;  ///< texts that cannot be used: they are not in the store
};

/// A folder without shards of an import is one of images or texts (.txt), [SPLIT/][CLASS/]FILE: all such files below it
/// that do not begin with a dot, in the order of their paths' bytes; rank 0 lists them, all know the list. Splits are
/// folders named train*, val* and test* that hold folders; a file that lies in no class has no label. Images are read
/// when they are asked for, texts at once. A file that is not HDF5 is one image or text (a warning says if it has
/// several lines), or, named .csv or .tsv, a table of texts. Anything else is opened as io::Dataset, of a folder the
/// shards of `split`. Throws RequestError, on all ranks alike where the path is at fault, or where images are to be
/// turned and a data set was imported without import.orient. All ranks of the group.
OpenedSamples open_samples(const SamplesPath& path, const mpi::Communicator& world);

/// Sentences about what the network does not see of files that all ranks have read, on rank 0: bits and transparency of
/// images, texts of unknown words. All ranks of the group.
std::vector<std::string> describe_losses(const io::SampleStore& samples, const mpi::Communicator& world);

/// The one text that is given itself. Throws RequestError naming `key` where it cannot be used.
OpenedSamples open_one_text(const std::string& text, const std::string& key, const io::Tokenization& tokenization);

}  // namespace convoy
