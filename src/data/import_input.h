/// Interface of the kinds of input (images, texts, arrays) for imports: how samples are read, and what shards (the
/// files of a data set) say about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoy/data/import.h"
#include "convoy/io/sample_store.h"
#include "convoy/io/shard_writer.h"
#include "convoy/params/choices.h"

#include "data/source_listing.h"

namespace convoy {

struct ImportParams;

/// The input of an import. Each rank has its own object, which only one thread may use. `split` is an index in
/// SourceListing::splits, and `sample` an index in the split.
class ImportInput {
 public:
  virtual ~ImportInput() = default;

  /// Returns the kind of input, as convoy/base/features.h names it: "images".
  virtual const char* kind() const = 0;
  virtual SourceListing& listing() = 0;
  /// Throws RequestError if the parameters ask for something that the source does not have.
  virtual void check_request() const {}
  /// Moves samples of the split train to others, and deals the rest to folds, as the parameters say; `seed` selects
  /// them. Returns a sentence for the user if that gave other shares than were requested. All ranks of the group call
  /// it.
  virtual std::string divide(const ImportParams& params, std::uint64_t seed);
  /// Finds the properties that all samples have in common (as a vocabulary), which must be known before the first
  /// sample is stored. Called by all ranks of the group, before the functions below.
  virtual void prepare(const ShowImport& show) = 0;
  /// Estimates the mean size in bytes of a sample as a shard stores it, from some samples of the split. All ranks of
  /// the group call it, and get the same. A file whose size cannot be found counts as empty.
  virtual std::int64_t mean_sample_bytes(std::size_t split) = 0;
  /// Returns into how many shards a split is cut at most, unless import.shards says more.
  virtual std::int64_t max_usual_shards() const { return 256; }
  /// Sets the fields of `info` for the properties that all samples have in common.
  virtual void describe(io::DatasetInfo& info) const = 0;
  /// Returns the name of a sample; only of one that exists.
  virtual std::string name_of(std::size_t split, std::int64_t sample) {
    return std::string(listing().splits[split].names[sample]);
  }
  /// Called before the first sample of a shard is read; `shard` is its number in the split. Shards ascend.
  virtual void begin_shard(std::size_t, std::int64_t) {}
  /// Reads a sample. Returns its bytes as a shard stores them, valid until the next call. Throws Error with a reason
  /// ("it is ...") if the sample cannot be used, RequestError if the whole source cannot.
  virtual std::span<const std::byte> read(std::size_t split, std::int64_t sample) = 0;
  /// Returns the class, labels or numbers of the sample that was read last, valid until the next call; its fold is not
  /// set.
  virtual io::SampleAnswer answer(std::size_t split, std::int64_t sample) {
    return {.label = listing().splits[split].label(sample)};
  }
  /// Sets the fields of `info` that are statistics over the samples of the split that all ranks have read. Called by
  /// all ranks of the group.
  virtual void sum_up(std::size_t split, io::DatasetInfo& info) = 0;
  /// Throws RequestError if the samples that all ranks have read cannot be used. Called on all ranks after sum_up().
  virtual void check_samples() const {}
  /// Returns, on rank 0, warnings about the samples that all ranks have read, as sentences; on other ranks nothing.
  /// Called by all ranks of the group, after the last sample.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// Returns, on rank 0, sentences about what was found out of the source, which the user may want to check. Called by
  /// all ranks of the group, after the last sample.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// Opens import.source as images in `format` (data/images/image_import.cpp). `params` must outlive the input. Called by
/// all ranks of `world`.
std::unique_ptr<ImportInput> make_image_import(const ImportParams& params, ImportFormat format,
                                               const mpi::Communicator& world);
/// Opens import.source as texts in `format` (data/text/text_import.cpp); otherwise as make_image_import().
std::unique_ptr<ImportInput> make_text_import(const ImportParams& params, ImportFormat format,
                                              const mpi::Communicator& world);

/// Opens import.source as arrays or a table of numbers (data/arrays/array_import.cpp); otherwise as
/// make_image_import().
std::unique_ptr<ImportInput> make_array_import(const ImportParams& params, const mpi::Communicator& world);

}  // namespace convoy
