/// A store of users' arrays and tables that are used without an import: samples are read when they are asked for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/data/open_samples.h"
#include "convoy/io/sample_store.h"

#include "data/arrays/array_source.h"
#include "data/source_listing.h"

namespace convoy {

/// The arrays that a network reads, of samples in users' files. The targets of all samples are in memory, if the files
/// have them: 4 bytes per label or number, on every rank. Those that an import stores with the arrays are read when
/// they are asked for. Pictures in folders of classes have these as labels, if the network answers a class and no
/// target is given.
class ArrayStore final : public io::SampleStore {
 public:
  /// `path` is a file or a folder, and `key` the parameter that gave it, for messages. All ranks of `world` call it.
  /// Throws RequestError, on all ranks, if an array of the network is not found, if no axis of its can be that of the
  /// channels, if import.target is none of the network, if parts have different numbers of samples, or if there are
  /// none.
  ArrayStore(const std::string& path, const std::string& key, const ArrayFileOptions& options,
             const mpi::Communicator& world);
  ~ArrayStore() override;

  const io::DatasetInfo& info() const override { return info_; }
  /// Throws Error, naming the sample's place, if it cannot be read, or if one of its arrays holds NaN or infinity.
  std::span<const std::byte> read_array(std::int64_t sample, std::size_t input,
                                        std::vector<std::byte>& memory) const override;
  void read_target(std::int64_t sample, std::span<float> values) const override;
  std::int32_t label(std::int64_t sample) const override;
  std::string name(std::int64_t sample) const override;
  bool reads_in_order() const override { return true; }
  bool is_one_picture() const { return is_one_picture_; }  ///< whether the path is that of a single picture

 private:
  struct Reader;
  void add_pictures(const SourceListing& pictures, ArraySourceSpec& spec);
  void use_folders(SourceListing pictures);
  void read_targets(const ArrayFileOptions& options, const mpi::Communicator& world);
  void read_on_root(const ArrayFileOptions& options);
  void read_from_record(std::int64_t sample, std::span<float> values) const;

  io::DatasetInfo info_;
  bool is_one_picture_ = false;
  std::vector<std::unique_ptr<Reader>> readers_;  ///< one for each array, so that each is read in order
  std::unique_ptr<std::atomic<bool>[]>
      are_good_;  ///< (N) samples whose arrays were all looked at, and have no bad value
  mutable std::mutex targets_mutex_;
  /// Readers of targets that are stored with the arrays: for the loader, for the scores of outputs, and for the files
  /// of predictions. Else null.
  std::array<std::unique_ptr<Reader>, 3> target_readers_;
  std::vector<std::int32_t> labels_;  ///< (N) classes; empty if they are not known
  std::vector<float> targets_;        ///< (N,K) labels or numbers; empty if they are not known
};

}  // namespace convoy
