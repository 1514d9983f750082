/// Converts public formats into Convoy's data sets; all ranks work together.
///
/// Samples are listed once, in the order of classes and names (CIFAR and IDX: of their files), and stored in that
/// order: training shuffles them anyway. A shard takes a fixed range of the list, less what was bad in it, and is
/// written by one rank; so the files do not depend on the number of ranks. All files get their names after all of them
/// are on the disk.
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
  std::string name;    ///< path below import.source
  std::string reason;  ///< "it is ..."
};

struct ImportSummary {
  std::vector<ImportedSplit> splits;
  std::vector<SkippedSample> skipped;  ///< on rank 0, in the order of files and lines
  std::vector<std::string> warnings;   ///< on rank 0: sentences about good samples
};

struct ImportProgress {
  const char* work = "";  ///< what is being done
  std::int64_t done = 0, total = 0, skipped = 0;
};

using ShowImport = std::function<void(const ImportProgress&)>;

/// Runs an import. `show` is called on rank 0, a few times per second. Throws on all ranks: RequestError if the source
/// or the parameters are at fault (or, with import.strict, a sample), Error if the disk is. Then no file of the import
/// remains, and earlier files are unchanged. All ranks of the group.
ImportSummary import_samples(const ImportParams& params, std::uint64_t seed, const mpi::Communicator& world,
                             const ShowImport& show);

}  // namespace convoy
