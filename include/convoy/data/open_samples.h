/// Opens the samples at a path: a data set that an import made, or files of images, texts or arrays, without an import.
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

/// Options for decoding image files to samples.
struct ImageFileOptions {
  std::int64_t channels = 3;  ///< number of channels that images are decoded to
  bool orients = false;       ///< true: images are rotated as their Exif orientation says
  /// True: an imported data set is refused unless its images were, or will be, rotated by their Exif orientation.
  bool needs_oriented = false;
};

/// Options for turning text files into samples.
struct TextFileOptions {
  io::Tokenization tokenization;
  io::ColumnNames columns;  ///< names of the columns of a table; the column of labels may be missing
};

/// Options for reading users' arrays and tables.
struct ArrayFileOptions {
  std::vector<io::ArrayInfo> arrays;      ///< the arrays that the network reads
  Target answer = {};                     ///< what the network answers
  std::vector<std::string> output_names;  ///< names of the classes, labels or numbers that the network predicts
  /// Where the arrays, the targets and the names of the samples are (import.inputs, import.target, import.id). Empty:
  /// arrays are found by their names in the imported files, by their own names, and by their columns; targets by the
  /// name in the imported files, as columns of a table with the names of labels or numbers, or as folders of pictures,
  /// or they are not known; samples are named by their places.
  std::string inputs = {}, target = {}, id = {};
  AxesKind axes = AxesKind::kAuto;  ///< import.axes
};

struct SamplesPath {
  std::string path;
  std::string key;  ///< parameter that gave the path, for messages: "predict.data"
  /// How files are read, images, texts or arrays, if the path is not an imported data set.
  std::variant<ImageFileOptions, TextFileOptions, ArrayFileOptions> files;
  VerifyKind verify = VerifyKind::kEpoch;  ///< how often samples of an imported data set are verified
  std::string split = "test";              ///< split to open if the path is a folder of shards
  std::int64_t fold = 0;                   ///< the only fold that is wanted of a data set; 0: all samples
};

/// The columns of a table other than those of texts and labels; predictions are written next to them.
struct OtherColumns {
  std::vector<std::string> names;
  std::vector<std::string> rows;  ///< the fields of each sample as a piece of a CSV row, with a comma before each field
};

struct OpenedSamples {
  std::unique_ptr<io::SampleStore> store;
  OtherColumns others = {};  ///< other columns, if the path is a table; empty except on rank 0
  /// Whether the path is a single image or text, or a single picture of which a network of arrays answers the class.
  bool is_one_file = false;
  std::vector<SkippedSample> skipped;  ///< texts that cannot be used, which are not in the store
};

/// Opens the samples at `path`; all ranks of `world` call it. Rank 0 lists the files and sends the list to all ranks.
///
/// A folder without shards of an import holds images or texts (.txt), as [SPLIT/][CLASS/]FILE: all such files below it
/// whose names do not begin with a dot, in the byte order of their paths. Splits are folders named train*, val* and
/// test* that hold folders; a file in no class folder has no label. Images are read when they are used, texts at once.
/// A file that is not HDF5 is one image or one text (a warning says if it has several lines), or, if it is named .csv
/// or .tsv, a table of texts. For arrays, a file or folder is what import.source may be (ArraySource). Everything else
/// is opened as io::Dataset; of a folder, the shards of `split`.
///
/// Throws RequestError, on all ranks, if the path or its files are wrong, or if images must be rotated (needs_oriented)
/// and the data set was imported without import.orient.
OpenedSamples open_samples(const SamplesPath& path, const mpi::Communicator& world);

/// Returns sentences about the information that the network does not see in the files read so far: low bits and
/// transparency of images, unknown words of texts. Empty except on rank 0. All ranks of `world` call it.
std::vector<std::string> describe_losses(const io::SampleStore& samples, const mpi::Communicator& world);

/// Makes a store of one sample from `text` itself. Throws RequestError naming the parameter `key` if the text cannot be
/// used.
OpenedSamples open_one_text(const std::string& text, const std::string& key, const io::Tokenization& tokenization);

}  // namespace convoy
