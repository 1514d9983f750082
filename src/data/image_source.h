/// Where an import takes its images from: all of them listed once, each read by whichever rank writes its shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/params/parameters.h"

#include "data/decode_image.h"

namespace convoy {

/// Names in one piece of memory: there may be millions, on every rank.
class NameList {
 public:
  void add(std::string_view name);
  std::int64_t size() const { return std::ssize(begins_); }
  std::string_view operator[](std::int64_t i) const;

 private:
  std::string text_;
  std::vector<std::int64_t> begins_;
};

struct SourceSplit {
  std::string name;                  ///< train, val or test
  NameList names;                    ///< below the source's folder, e.g. train/cat/17.jpg
  std::vector<std::int32_t> labels;  ///< of each name
  std::vector<std::int64_t> places;  ///< of each name: what the source knows it by, where names are not enough

  std::int64_t size() const { return names.size(); }
  void add(std::string_view sample_name, std::int32_t label, std::int64_t place);
};

/// In the order in which samples are stored.
struct SourceListing {
  std::vector<std::string> class_names;  ///< labels are their positions
  std::vector<SourceSplit> splits;       ///< the first is train
};

/// One a rank; not for several threads.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  const SourceListing& listing() const { return listing_; }
  SourceListing& listing() { return listing_; }
  /// Whether images are files of their own, which can be kept as they are.
  virtual bool has_files() const = 0;
  /// These throw Error saying what is wrong with the image ("it is ..."). What they return holds until the next call.
  virtual ImageHeader look(const SourceSplit& split, std::int64_t sample) = 0;
  /// Length of its file; 0 where that cannot be known.
  virtual std::int64_t file_bytes(const SourceSplit& split, std::int64_t sample) const = 0;
  virtual ImageView read(const SourceSplit& split, std::int64_t sample, const DecodeRequest& request) = 0;
  /// The file of the image that was read last.
  virtual std::span<const std::byte> file() const = 0;

 protected:
  explicit ImageSource(SourceListing listing) : listing_(std::move(listing)) {}

 private:
  SourceListing listing_;
};

/// import.source in import.format. Rank 0 lists, all know the list. Throws RequestError, on all ranks alike, saying
/// what was looked for. All ranks of the group.
std::unique_ptr<ImageSource> open_source(const ImportParams& params, const mpi::Communicator& world);

/// Rank 0's listing, on all ranks of the group.
SourceListing broadcast_listing(const SourceListing& listing, const mpi::Communicator& world);

/// Moves `fraction` of each class of train, rounded, but at least one sample and never all, to a split val. Whether a
/// sample moves depends on the names in its class and the seed only. Throws RequestError where there is a val already.
void cut_validation(SourceListing& listing, double fraction, std::uint64_t seed);

}  // namespace convoy
