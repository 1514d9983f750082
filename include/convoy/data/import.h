/// Converts public formats into Convoy's data sets; all ranks share the work.
///
/// Samples are listed once, in the order of classes and names (CIFAR and IDX: of their files), and are stored in that
/// order: training shuffles them anyway. A shard holds a fixed range of the list, without the samples that cannot be
/// used, and is written by one rank; so the files do not depend on the number of ranks. All files are renamed to their
/// final names after all of them are on the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/io/sample_store.h"

namespace convoy {

struct ImportParams;

struct ImportedSplit {
  std::string name;
  io::DatasetInfo info;
  std::vector<std::string> paths;
};

struct SkippedSample {
  std::string name;    ///< path of its file, relative to import.source
  std::string reason;  ///< why it was skipped, beginning with "it is ..."
};

struct ImportSummary {
  std::vector<ImportedSplit> splits;
  /// Samples that could not be used, in the order of files and lines; empty except on rank 0.
  std::vector<SkippedSample> skipped;
  /// Sentences about samples that were imported all the same; empty except on rank 0.
  std::vector<std::string> warnings;
  /// Sentences about what was found out of the source; empty except on rank 0.
  std::vector<std::string> notes;
};

struct ImportProgress {
  const char* work = "";                          ///< name of the current phase, for the progress line: "importing"
  std::int64_t done = 0, total = 0, skipped = 0;  ///< numbers of samples
};

using ShowImport = std::function<void(const ImportProgress&)>;

/// Runs an import; all ranks of `world` call it. `show` is called on rank 0, a few times per second. `seed` selects the
/// samples of a validation split. Throws on all ranks: RequestError if the source or the parameters are wrong (or, with
/// import.strict, a sample cannot be used), Error if a file cannot be written. Then no file of this import remains, and
/// earlier files are unchanged.
ImportSummary import_samples(const ImportParams& params, std::uint64_t seed, const mpi::Communicator& world,
                             const ShowImport& show);

}  // namespace convoy
