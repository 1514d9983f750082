/// What an import must know of a kind of input: how its samples are read, and what shards say of them.
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

/// One per rank; not for several threads. Splits are counted as in the listing.
class ImportInput {
 public:
  virtual ~ImportInput() = default;

  /// convoy/base/features.h: "images".
  virtual const char* kind() const = 0;
  virtual SourceListing& listing() = 0;
  /// Throws RequestError where the parameters ask for what the source does not have.
  virtual void check_request() const = 0;
  /// What all samples have in common is known before the first is stored. All ranks of the group, before what follows.
  virtual void prepare(const ShowImport& show) = 0;
  /// As a shard stores them; the same on all ranks of the group.
  virtual std::int64_t mean_sample_bytes(std::size_t split) = 0;
  /// Of `info` what all samples have in common.
  virtual void describe(io::DatasetInfo& info) const = 0;
  /// The sample as a shard stores it; holds until the next call. Throws Error saying what is wrong with it ("it is
  /// ...").
  virtual std::span<const std::byte> read(std::size_t split, std::int64_t sample) = 0;
  /// Of `info` the statistics of what all ranks have read of the split. All ranks of the group.
  virtual void sum_up(std::size_t split, io::DatasetInfo& info) = 0;
  /// Sentences about what all ranks have read, on rank 0. All ranks of the group, after the last sample.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// Images (data/images/image_import.cpp). Opens import.source. params outlive it. All ranks of the group.
std::unique_ptr<ImportInput> make_image_import(const ImportParams& params, const mpi::Communicator& world);
/// Texts (data/text/text_import.cpp). Likewise.
std::unique_ptr<ImportInput> make_text_import(const ImportParams& params, const mpi::Communicator& world);

}  // namespace convoy
