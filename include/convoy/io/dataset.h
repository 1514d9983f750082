/// Reads data sets. A split of a data set is stored as one HDF5 file or several, its shards:
///   /labels                            int32 (N); absent if the target is not a class
///   /hashes                            uint64 (N): XXH3-64 of each sample's bytes; arrays: (N,P), of each of P arrays
///   /class_names, /class_counts        texts, names of classes, labels or numbers; int64, samples of each class, or
///                                      with each label, over all shards; numbers have no counts
///   /source                            text: the path that was imported
///   /kind                              text: kind of input, "images", "text" or "arrays"; older files have none and
///                                      hold images
///   raw:     /images                   uint8 (N,H,W,C), contiguous
///   encoded: /encoded, /offsets        uint8, the files' bytes, contiguous; int64 (N+1), the first byte of each
///   text:    /tokens, /offsets         uint16 (int32 if the vocabulary has more than 65536 tokens), contiguous;
///                                      int64 (N+1)
///            /tokenizer, /vocabulary   text, "words" or "subwords"; uint8: the words, one per line, or SentencePiece's
///                                      model (convoy/base/special_tokens.h: the tokens before them)
///            /text_column, /label_column  texts: the columns of the tables that were imported; absent if no tables
///                                      were imported, and in older files
///            vocabulary_size           attribute of the file: tokens are smaller
///            num_tokens                attribute of the file: tokens of all texts, over all shards
///   /folds                             uint16 (N): fold of each sample, from 1; absent without import.folds
///   /fold_mean, /fold_deviation        double (F,V): statistics over the samples outside each of F folds, V values
///                                      for the channels of images, or of all arrays one after the other, then numbers
///   num_folds                          attribute of the file: F
///   arrays:  /samples                  (N) records, contiguous: a packed compound of all arrays of a sample, each with
///                                      dimensions (C), (T,C), (H,W,C) or (D,H,W,C); h5py gives f["samples"]["NAME"]
///            /targets                  (N,K) uint8 labels or float32 numbers; absent if the target is a class, or
///                                      the last array of the records, which is then called "target"
///            /target_kind, /arrays ... what else is known of them (src/io/stored_arrays.h)
///   /names                             texts: the files' names, relative to the imported folder; last, and not in
///                                      every shard
///   channel_mean, channel_deviation    attributes of the file: per channel, over all shards, of values in [0, 1];
///                                      texts have none
///   oriented                           attribute of the file, 1: imported with import.orient; otherwise absent
///   shard, num_shards, format          attributes of the file: number of the shard (from 0), of how many
/// After the HDF5 image come 64 bytes with two hashes (XXH3-128). One covers everything but samples and names; it is
/// verified whenever a shard is opened and before HDF5 sees a byte (damaged metadata can crash or hang it). The other
/// covers samples and names; it is verified on request, since terabytes cannot be read at each start. A sample's own
/// hash is verified when the sample is read. h5py, h5ls and h5dump open the files directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoy/io/atomic_file.h"
#include "convoy/io/sample_store.h"
#include "convoy/params/choices.h"

namespace convoy::io {

/// Largest size in bytes of the samples of a data set of arrays that is kept in memory once one of them has been read:
/// to read a small sample takes as much time as to compute with it.
inline constexpr std::int64_t kMaxBytesInMemory = std::int64_t{64} << 20;

/// A split of an imported data set, opened for reading with all its shards. Any thread may read any sample at any time.
class Dataset final : public SampleStore {
 public:
  /// Opens the shards that `path` names: one shard (opened alone), a prefix such as data/fashion/train for train.h5 or
  /// train-000.h5, train-001.h5 ..., or a folder, in which the prefix is `split` or, if that is empty, the last word of
  /// `key`, such as "train" for data.train. Messages name `key`. `verify` says how often the bytes of a sample are
  /// compared with its hash: whenever they are read, the first time, or never.
  ///
  /// Throws RequestError naming key, file and what is wrong: missing, not HDF5, not from `convoy import`, truncated,
  /// damaged (except for the samples, which verify_file() of inspect.h checks), an HDF5 data set absent or of another
  /// type or rank, labels out of range, shards that disagree in the form of samples, classes or import, a gap in the
  /// numbering, no samples.
  Dataset(const std::string& path, const std::string& key, VerifyKind verify = VerifyKind::kEpoch,
          const std::string& split = "");

  // The functions that read a sample throw StoreError also if its bytes do not match its hash.
  const DatasetInfo& info() const override { return info_; }
  void read_pixels(std::int64_t sample, std::span<std::byte> pixels) const override;
  std::span<const std::byte> read_file(std::int64_t sample, std::vector<std::byte>& memory) const override;
  std::int64_t num_tokens(std::int64_t sample) const override;
  std::span<const std::int32_t> read_tokens(std::int64_t sample, std::vector<std::int32_t>& memory) const override;
  std::span<const std::byte> read_array(std::int64_t sample, std::size_t input,
                                        std::vector<std::byte>& memory) const override;
  void read_target(std::int64_t sample, std::span<float> values) const override;
  std::int32_t label(std::int64_t sample) const override;
  /// Returns an empty name if the sample's shard has no names. Each call reads the shard.
  std::string name(std::int64_t sample) const override;
  /// The fold of a sample, from 1 to info().num_folds; 0 if there are none.
  std::int64_t fold(std::int64_t sample) const;
  /// From now on the data set has only these samples: at least one, by ascending indices in those that it has now.
  /// Counts of classes and content_hash() follow; the number of tokens does not. Means and standard deviations become
  /// those over the samples outside `fold`; 0: they stay.
  void keep(const std::vector<std::int64_t>& samples, std::int64_t fold = 0);
  /// Returns the data set with all samples again. Both read the same open files, copies and memory.
  Dataset with_all() const;

  /// A hash of everything that a training reads: form of samples or vocabulary, classes, each sample's bytes and
  /// target, in order. It does not depend on the path or the number of shards. `of_all`: also of the samples that are
  /// not kept.
  std::int64_t content_hash(bool of_all = false) const;

  /// The number of shards that the split's import wrote. If it is above num_shards(), one shard of several was opened
  /// alone; info() then counts the samples of each class in this shard only.
  std::int64_t num_shards_of_import() const { return num_shards_of_import_; }

  // --- Copies of shards on the node (data.copy_to). The body of a shard is its samples and their names.
  std::int64_t num_shards() const { return std::ssize(shards_); }
  const std::string& shard_path(std::int64_t shard) const;
  std::int64_t body_bytes(std::int64_t shard) const;
  /// Copies the body of a shard to `offset` of another file, reading it once, from its first byte to its last, and
  /// verifying its hash. `on_progress` is called every few MiB. Returns the reason if the file cannot be written ("No
  /// space left on device"), else nothing. Throws StoreError if the shard cannot be read or is damaged.
  std::optional<std::string> copy_body(std::int64_t shard, const FileDescriptor& to, std::uint64_t offset,
                                       const std::function<void()>& on_progress) const;
  /// From now on, reads the shard's samples from the copy that copy_body() made in `file` at `offset`, and closes the
  /// shard's own file. Must not be called while other threads read.
  void read_from_copy(std::int64_t shard, std::shared_ptr<const FileDescriptor> file, std::uint64_t offset);

 private:
  struct Shard;
  /// Returns the shard that holds the sample, and the sample's index in this shard. Throws Error if there is no such
  /// sample.
  std::pair<const Shard&, std::size_t> find(std::int64_t sample) const;
  void keep_in_memory();
  void count_classes();
  std::string form() const;

  DatasetInfo info_;
  std::int64_t num_shards_of_import_ = 0;
  std::vector<std::int64_t> kept_;  ///< number of each sample in the shards; empty: all are kept
  std::vector<std::shared_ptr<Shard>> shards_;
};

}  // namespace convoy::io
