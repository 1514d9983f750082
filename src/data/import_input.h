/// Interface of a kind of input for imports: how its samples are read, and what shards record of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoy/data/import.h"
#include "convoy/io/sample_store.h"

#include "data/source_listing.h"

namespace convoy {

struct ImportParams;

/// Input of an import. Each rank has its own; not for several threads. Splits are numbered as in the listing.
class ImportInput {
 public:
  virtual ~ImportInput() = default;

  /// Returns the kind of input, as convoy/base/features.h names it: "images".
  virtual const char* kind() const = 0;
  virtual SourceListing& listing() = 0;
  /// Throws RequestError if the parameters ask for what the source does not have.
  virtual void check_request() const = 0;
  /// Finds what all samples have in common, which must be known before the first is stored. All ranks of the group,
  /// before the calls below.
  virtual void prepare(const ShowImport& show) = 0;
  /// Returns the mean bytes of a sample as a shard stores it; the same on all ranks of the group.
  virtual std::int64_t mean_sample_bytes(std::size_t split) = 0;
  /// Fills in the fields of `info` that describe what all samples have in common.
  virtual void describe(io::DatasetInfo& info) const = 0;
  /// Returns the sample as a shard stores it, valid until the next call. Throws Error with a reason ("it is ...") if
  /// the sample is bad.
  virtual std::span<const std::byte> read(std::size_t split, std::int64_t sample) = 0;
  /// Fills in the fields of `info` that are statistics of what all ranks have read of the split. All ranks of the
  /// group.
  virtual void sum_up(std::size_t split, io::DatasetInfo& info) = 0;
  /// Returns, on rank 0, sentences about what all ranks have read. All ranks of the group, after the last sample.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// Opens import.source as images (data/images/image_import.cpp). params outlive the input. All ranks of the group.
std::unique_ptr<ImportInput> make_image_import(const ImportParams& params, const mpi::Communicator& world);
/// Opens import.source as texts (data/text/text_import.cpp). params outlive the input. All ranks of the group.
std::unique_ptr<ImportInput> make_text_import(const ImportParams& params, const mpi::Communicator& world);

}  // namespace convoy
