/// Imports images. Channels and size must be known before the first image is stored: each rank reads the headers of a
/// range of the list, and rank 0 compares the sizes found. Then images are stored at that size, with their statistics.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/log.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/shard_writer.h"
#include "convoy/params/data_parameters.h"

#include "data/class_folders.h"
#include "data/images/cifar_files.h"
#include "data/images/crops.h"
#include "data/images/idx_files.h"
#include "data/images/image_folder.h"
#include "data/images/image_losses.h"
#include "data/images/image_source.h"
#include "data/images/resample.h"
#include "data/import_input.h"
#include "data/import_sums.h"

namespace convoy {

namespace {

constexpr std::int64_t kFilesWeighed = 256;  // sample from which the size of all is estimated

// --- What images have in common --------------------------------------------------------------------------------------

/// An image and its size, as a rank reports them.
struct Seen {
  std::int64_t split = -1, sample = 0, h = 0, w = 0;
};

/// Scans the headers of all images; each rank reads its share. Bad images are ignored here: they are reported when they
/// are to be stored.
class ImageScan {
 public:
  ImageScan(ImageSource& source, const mpi::Communicator& world, const ShowImport& show)
      : source_(source), world_(world) {
    for (const SourceSplit& split : source.listing().splits) total_ += split.size();
    const std::int64_t begin = total_ * world.rank() / world.size(), end = total_ * (world.rank() + 1) / world.size();
    ImportSums sums(world, "looking", total_, show);
    std::int64_t number = 0;
    const auto& splits = source.listing().splits;
    for (std::size_t s = 0; s < splits.size(); ++s) {
      for (std::int64_t i = 0; i < splits[s].size(); ++i, ++number) {
        if (number >= begin && number < end) sums.add(read_header(static_cast<std::int64_t>(s), i));
      }
    }
    sums.end(false);
  }

  bool any_colour() const { return world_.max(colour_ ? 1 : 0) > 0; }

  /// Returns the size of all images. Throws RequestError if no image is good, or if sizes differ. All ranks of the
  /// group.
  ImageShape size(const std::string& source_name) const {
    const std::vector<Seen> all = mpi::gather_values(world_, sizes_);
    ImageShape size;
    mpi::on_root(world_, [&] {
      if (all.empty()) {
        refuse("import.source = {}: none of {} images is good{}{}", source_name, total_,
               first_reason_.empty() ? "" : ", the first: ", first_reason_);
      }
      for (const Seen& seen : all) {
        if (seen.h == all[0].h && seen.w == all[0].w) continue;
        refuse("import.size = 0 keeps images as they are, but '{}' has {} x {} pixels and '{}' {} x {}. Give a size",
               name_of(all[0]), all[0].h, all[0].w, name_of(seen), seen.h, seen.w);
      }
      size = {all[0].h, all[0].w, 0};
    });
    world_.broadcast(&size, sizeof(size), 0);
    return size;
  }

 private:
  bool read_header(std::int64_t split, std::int64_t sample) {
    const SourceSplit& of = source_.listing().splits[static_cast<std::size_t>(split)];
    try {
      const ImageHeader header = source_.read_header(of, sample);
      colour_ = colour_ || !header.grey;
      const bool new_size = sizes_.empty() || sizes_[0].h != header.h || sizes_[0].w != header.w;
      if (new_size && sizes_.size() < 2) sizes_.push_back({split, sample, header.h, header.w});
      return true;
    } catch (const Error& error) {
      if (first_reason_.empty()) first_reason_ = fmt::format("'{}': {}", of.names[sample], error.what());
      return false;
    }
  }

  std::string_view name_of(const Seen& seen) const {
    return source_.listing().splits[static_cast<std::size_t>(seen.split)].names[seen.sample];
  }

  ImageSource& source_;
  mpi::Communicator world_;
  std::int64_t total_ = 0;
  bool colour_ = false;
  std::vector<Seen> sizes_;   ///< the first image, and the first of another size
  std::string first_reason_;  ///< what is wrong with the first bad image
};

// --- The import ------------------------------------------------------------------------------------------------------

// Warns of an incomplete download, which is imported without the missing files.
void warn_of_missing_files(const std::string& folder) {
  const std::vector<std::string> missing = missing_cifar_files(folder);
  if (!missing.empty())
    log_warning(fmt::format(
        "import.source = {}: these files of the download are missing, and the import continues without them: {}",
        folder, fmt::join(missing, ", ")));
}

// Opens import.source as images in `format`.
std::unique_ptr<ImageSource> open_source(const ImportParams& params, ImportFormat format,
                                         const mpi::Communicator& world) {
  if (format == ImportFormat::kIdx) return open_idx(params.source);
  if (format == ImportFormat::kCifar) {
    mpi::on_root(world, [&] { warn_of_missing_files(params.source); });
    return open_cifar(params.source);
  }
  SourceListing listed =
      list_on_root(world, [&] { return list_class_folders(params.source, {.has_splits = params.splits}); });
  return std::make_unique<FolderSource>(params.source, std::move(listed), params.orient);
}

/// Brings images to the channels and the size in which all are stored, or keeps their files.
class ImageImport final : public ImportInput {
 public:
  ImageImport(const ImportParams& params, ImportFormat format, const mpi::Communicator& world)
      : params_(params), world_(world), source_(open_source(params, format, world)) {}

  const char* kind() const override { return input_kinds::kImages; }
  SourceListing& listing() override { return source_->listing(); }

  void check_request() const override {
    if (source_->has_files()) return;
    if (params_.storage == StorageKind::kEncoded)
      refuse("import.storage = encoded keeps files of images; '{}' holds none. Allowed: raw", params_.source);
    if (params_.orient)
      refuse("import.orient = true reads files of images; '{}' holds none. Allowed: false", params_.source);
  }

  void prepare(const ShowImport& show) override {
    const bool encoded = params_.storage == StorageKind::kEncoded;
    std::optional<ImageScan> scan;  // set only if the parameters leave something open
    if (params_.channels == ChannelsKind::kAuto || (!encoded && params_.size == 0))
      scan.emplace(*source_, world_, show);

    if (!encoded) {
      image_ = params_.size > 0 ? ImageShape{params_.size, params_.size, 0} : scan->size(params_.source);
    }
    image_.c = params_.channels == ChannelsKind::kGrey     ? 1
               : params_.channels == ChannelsKind::kColour ? 3
               : scan->any_colour()                        ? 3
                                                           : 1;
    for (std::size_t i = 0; i < listing().splits.size() + static_cast<std::size_t>(params_.folds); ++i)
      counts_.emplace_back(image_.c);
  }

  std::int64_t mean_sample_bytes(std::size_t split_number) override {
    std::int64_t bytes = image_.count();
    if (params_.storage == StorageKind::kRaw) return bytes;
    const SourceSplit& split = listing().splits[split_number];
    mpi::on_root(world_, [&] {
      const std::int64_t count = std::min(split.size(), kFilesWeighed);
      bytes = 0;
      for (std::int64_t i = 0; i < count; ++i) bytes += source_->file_bytes(split, split.size() * i / count);
      bytes /= count;
    });
    world_.broadcast(&bytes, sizeof bytes, 0);
    return bytes;
  }

  void describe(io::DatasetInfo& info) const override {
    info.image = image_;
    info.encoded = params_.storage == StorageKind::kEncoded;
    info.oriented = params_.orient;
  }

  std::span<const std::byte> read(std::size_t split, std::int64_t sample) override {
    ImageView view = source_->read(listing().splits[split], sample, {.channels = image_.c});
    if (params_.storage == StorageKind::kRaw) view = at_size(view);
    const std::int64_t fold = listing().splits[split].fold(sample);
    (fold == 0 ? counts_[split] : counts_of_fold(fold)).add(view.bytes());
    losses_.add(first_number(split) + sample, source_->file());
    ++num_read_;
    return params_.storage == StorageKind::kRaw ? std::as_bytes(view.bytes()) : source_->file();
  }

  void sum_up(std::size_t split, io::DatasetInfo& info) override {
    const std::span<std::int64_t> all = counts_[split].values();
    add_ranks(all);
    for (std::int64_t fold = 1; fold <= info.num_folds; ++fold) {
      const std::span<std::int64_t> counts = counts_of_fold(fold).values();
      add_ranks(counts);
      std::ranges::transform(all, counts, all.begin(), std::plus<>());
    }
    for (std::int64_t fold = 1; fold <= info.num_folds; ++fold) {
      io::ChannelCounts outside = counts_[split];
      std::ranges::transform(all, counts_of_fold(fold).values(), outside.values().begin(), std::minus<>());
      outside.describe(info);
      info.fold_mean.insert(info.fold_mean.end(), info.channel_mean.begin(), info.channel_mean.end());
      info.fold_stddev.insert(info.fold_stddev.end(), info.channel_stddev.begin(), info.channel_stddev.end());
    }
    counts_[split].describe(info);
  }

  std::vector<std::string> warnings() const override {
    const auto name_of = [this](std::int64_t number) {
      std::size_t split = 0;
      while (number >= first_number(split + 1)) ++split;
      return std::string(source_->listing().splits[split].names[number - first_number(split)]);
    };
    std::vector<std::string> sentences = losses_.describe(world_.sum(num_read_), name_of, world_);
    for (std::string& text : sentences) text.insert(0, fmt::format("import.source = {}: ", params_.source));
    return sentences;
  }

 private:
  io::ChannelCounts& counts_of_fold(std::int64_t fold) {
    return counts_[listing().splits.size() + static_cast<std::size_t>(fold - 1)];
  }

  /// Replaces the counts by their sums over all ranks.
  void add_ranks(std::span<std::int64_t> counts) {
    const std::vector<std::int64_t> mine(counts.begin(), counts.end());
    world_.start_sum(mine, counts).wait();
  }

  /// Returns the number of the split's first image, counted over all splits in their order.
  std::int64_t first_number(std::size_t split) const {
    std::int64_t number = 0;
    for (std::size_t i = 0; i < split; ++i) number += source_->listing().splits[i].size();
    return number;
  }

  ImageView at_size(const ImageView& view) {
    if (view.shape == image_) return view;
    if (params_.size == 0)
      fail("its size is {}, but that of the other images is {}", to_string(view.shape), to_string(image_));
    resized_.resize(static_cast<std::size_t>(image_.count()));
    const PixelGrid grid = params_.resize == ResizeKind::kCrop ? centre_crop(view.shape, params_.size, params_.size)
                                                               : grid_over(whole(view.shape), image_.h, image_.w);
    resampler_.plan(view.shape, grid, image_.h, image_.w);
    resampler_.resample(view, resized_.data());
    return {image_, resized_.data()};
  }

  const ImportParams& params_;
  mpi::Communicator world_;
  std::unique_ptr<ImageSource> source_;
  ImageShape image_;                       ///< shape of the images in shards; 0, 0, C if files are kept
  std::vector<io::ChannelCounts> counts_;  ///< counts of each split, or of each fold of train, which come last
  ImageLosses losses_;
  std::int64_t num_read_ = 0;  ///< good images, by this rank
  Resampler resampler_;
  std::vector<std::uint8_t> resized_;
};

}  // namespace

std::unique_ptr<ImportInput> make_image_import(const ImportParams& params, ImportFormat format,
                                               const mpi::Communicator& world) {
  return std::make_unique<ImageImport>(params, format, world);
}

}  // namespace convoy
