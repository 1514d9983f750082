/// The steps of an import: list, look, write, sum up, name.
#include "convoy/data/import.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/shard_writer.h"

#include "data/centre_crop.h"
#include "data/image_source.h"
#include "data/import_rounds.h"
#include "data/look.h"
#include "data/resample.h"

namespace convoy {

namespace {

// Small enough that many ranks can write, and so few that a rank that trains can keep all of them open.
constexpr std::int64_t kShardBytes = std::int64_t{128} << 20, kMaxUsualShards = 256;
constexpr std::int64_t kFilesWeighed = 256;  // to know how large the others are

/// What a rank has to write: samples [begin, end) of a split.
struct ShardTask {
  std::size_t split = 0;
  std::int64_t begin = 0, end = 0;
  io::ShardPlace place;
};

class Import {
 public:
  Import(const ImportParams& params, std::uint64_t seed, const mpi::Communicator& world,
         const std::function<void(const ImportProgress&)>& show)
      : params_(params), world_(world), show_(show) {
    mpi::on_root(world_, [this] { check_nothing_is_replaced(); });
    source_ = open_source(params, world);
    if (params.val_fraction > 0) cut_validation(source_->listing(), params.val_fraction, seed);
  }

  ImportSummary run() {
    check_request();
    together([this] { check_output(); });
    image_ = agree_on_image(params_, *source_, world_, show_);
    plan();
    for (const SourceSplit& split : listing().splits) describe(split);
    write();
    gather_skipped();
    sum_up();
    together([this] {
      for (std::size_t i = 0; i < shards_.size(); ++i) shards_[i].finish(summary_.splits[tasks_[i].split].info);
    });
    together([this] {
      for (io::ShardWriter& shard : shards_) shard.commit();
    });
    mpi::on_root(world_, [this] {
      for (const ImportedSplit& split : summary_.splits) {
        io::remove_earlier_shards(params_.output, split.name, std::ssize(split.paths));
      }
    });
    return std::move(summary_);
  }

 private:
  const SourceListing& listing() const { return source_->listing(); }

  void check_nothing_is_replaced() const {
    if (params_.replace) return;
    for (const char* const name : io::kSplitNames) {
      if (const std::string shard = io::find_any_shard(params_.output, name); !shard.empty())
        refuse(
            "import.output = {}: '{}' is there, of an earlier import. Give import.replace = true to replace it, or "
            "another folder",
            params_.output, shard);
    }
  }

  void check_request() const {
    if (params_.storage == StorageKind::kEncoded && !source_->has_files()) {
      refuse("import.storage = encoded keeps files of images; '{}' holds none. Allowed: raw", params_.source);
    }
    if (params_.orient && !source_->has_files())
      refuse("import.orient = true reads files of images; '{}' holds none. Allowed: false", params_.source);
    for (const SourceSplit& split : listing().splits) {
      if (params_.shards > split.size()) {
        refuse("import.shards = {}, but split {} has {} images. Allowed: 1 to {}", params_.shards, split.name,
               split.size(), split.size());
      }
    }
  }

  /// Of a sample in a shard, on average. All ranks know the same.
  std::int64_t mean_sample_bytes(const SourceSplit& split) {
    std::int64_t bytes = image_.count();
    if (params_.storage == StorageKind::kRaw) return bytes;
    mpi::on_root(world_, [&] {
      const std::int64_t count = std::min(split.size(), kFilesWeighed);
      bytes = 0;
      for (std::int64_t i = 0; i < count; ++i) bytes += source_->file_bytes(split, split.size() * i / count);
      bytes /= count;
    });
    world_.broadcast(&bytes, sizeof bytes, 0);
    return bytes;
  }

  std::int64_t num_shards(const SourceSplit& split) {
    if (params_.shards > 0) return params_.shards;
    const std::int64_t usual = (split.size() * mean_sample_bytes(split) + kShardBytes - 1) / kShardBytes;
    return std::clamp<std::int64_t>(usual, 1, std::min(kMaxUsualShards, split.size()));
  }

  /// Which shards there will be, and which of them are this rank's.
  void plan() {
    std::int64_t number = 0;
    for (std::size_t s = 0; s < listing().splits.size(); ++s) {
      const SourceSplit& split = listing().splits[s];
      const std::int64_t count = num_shards(split);
      ImportedSplit& imported = summary_.splits.emplace_back();
      imported.name = split.name;
      for (std::int64_t i = 0; i < count; ++i, ++number) {
        imported.paths.push_back(io::shard_path(params_.output, split.name, i, count));
        if (number % world_.size() != world_.rank()) continue;
        tasks_.push_back(
            {s, split.size() * i / count, split.size() * (i + 1) / count, {imported.paths.back(), i, count}});
      }
    }
  }

  // A train split of this import beside the val split of another would be worse than none.
  void check_output() const {
    for (const char* const name : io::kSplitNames) {
      const auto is_name = [&](const SourceSplit& split) { return split.name == name; };
      if (std::any_of(listing().splits.begin(), listing().splits.end(), is_name)) continue;
      if (const std::string shard = io::find_any_shard(params_.output, name); !shard.empty()) {
        refuse(
            "import.output = {}: '{}' is of another import, and this one has no split {}. Remove it, or import "
            "elsewhere",
            params_.output, shard, name);
      }
    }
    if (world_.rank() == 0) io::make_directory(params_.output);
  }

  void describe(const SourceSplit& split) {
    const auto index = static_cast<std::size_t>(&split - listing().splits.data());
    io::DatasetInfo& info = summary_.splits[index].info;
    info.image = image_;
    info.encoded = params_.storage == StorageKind::kEncoded;
    info.oriented = params_.orient;
    info.class_names = listing().class_names;
    info.source = params_.source;
    info.num_samples = split.size();
    counts_.emplace_back(image_.c);
    good_.emplace_back(listing().class_names.size(), 0);
  }

  // --- Bodies --------------------------------------------------------------------------------------------------------

  void write() {
    std::int64_t total = 0;
    for (const SourceSplit& split : listing().splits) total += split.size();
    ImportRounds rounds(world_, [&](const ImportCounts& all) { show_({"importing", all.done, total, all.skipped}); });
    together([&] {
      std::exception_ptr error;
      try {
        for (const ShardTask& task : tasks_) {
          if (!write_shard(task, rounds)) break;
        }
      } catch (const Error&) {
        error = std::current_exception();
      }
      rounds.end(mine_, error != nullptr);
      if (error) std::rethrow_exception(error);
    });
  }

  /// False where another rank has failed.
  bool write_shard(const ShardTask& task, ImportRounds& rounds) {
    const SourceSplit& split = listing().splits[task.split];
    io::DatasetInfo info = summary_.splits[task.split].info;
    info.num_samples = task.end - task.begin;
    io::ShardWriter& shard = shards_.emplace_back(task.place, info);
    for (std::int64_t i = task.begin; i < task.end; ++i) {
      if (const auto bytes = read(task.split, i)) {
        const std::int32_t label = split.labels[static_cast<std::size_t>(i)];
        shard.append(*bytes, label, split.names[i]);
        ++good_[task.split][static_cast<std::size_t>(label)];
      }
      ++mine_.done;
      if (!rounds.pulse(mine_)) return false;
    }
    if (shard.num_samples() == 0) {
      refuse("'{}' would hold no image: all {} are bad, the last as {}. Give good ones, or fewer import.shards",
             task.place.path, task.end - task.begin, skipped_.back().reason);
    }
    shard.end_samples();
    return true;
  }

  /// The sample as the shard stores it; nothing where it is bad.
  std::optional<std::span<const std::byte>> read(std::size_t split_number, std::int64_t sample) {
    const SourceSplit& split = listing().splits[split_number];
    try {
      ImageView view = source_->read(split, sample, {.channels = image_.c});
      if (params_.storage == StorageKind::kRaw) view = at_size(view);
      counts_[split_number].add(view.bytes());
      return params_.storage == StorageKind::kRaw ? std::as_bytes(view.bytes()) : source_->file();
    } catch (const Error& error) {
      if (params_.strict)
        refuse("import.strict: '{}' under '{}': {}", split.names[sample], params_.source, error.what());
      skipped_.push_back({std::string(split.names[sample]), error.what()});
      ++mine_.skipped;
      return std::nullopt;
    }
  }

  ImageView at_size(const ImageView& view) {
    if (view.shape == image_) return view;
    if (params_.size == 0) fail("it has {} pixels, the others {}", to_string(view.shape), to_string(image_));
    resized_.resize(static_cast<std::size_t>(image_.count()));
    const PixelGrid grid = params_.resize == ResizeKind::kCrop ? centre_crop(view.shape, params_.size, params_.size)
                                                               : grid_over(whole(view.shape), image_.h, image_.w);
    resampler_.plan(view.shape, grid, image_.h, image_.w);
    resampler_.resample(view, resized_.data());
    return {image_, resized_.data()};
  }

  // --- What only all ranks together know -----------------------------------------------------------------------------

  void gather_skipped() {
    std::string mine;
    for (const BadImage& bad : skipped_) mine += bad.name + '\0' + bad.reason + '\0';
    const std::vector<std::byte> all = world_.gather(std::as_bytes(std::span(mine)), 0);
    const std::string text(reinterpret_cast<const char*>(all.data()), all.size());
    for (std::size_t at = 0; at < text.size();) {
      BadImage& bad = summary_.skipped.emplace_back();
      bad.name = text.c_str() + at;
      at += bad.name.size() + 1;
      bad.reason = text.c_str() + at;
      at += bad.reason.size() + 1;
    }
    std::sort(summary_.skipped.begin(), summary_.skipped.end(),
              [](const BadImage& a, const BadImage& b) { return a.name < b.name; });
  }

  void sum_up() {
    for (std::size_t s = 0; s < counts_.size(); ++s) {
      io::DatasetInfo& info = summary_.splits[s].info;
      std::vector<std::int64_t> pixels(counts_[s].values().size());
      world_.start_sum(counts_[s].values(), pixels).wait();
      std::copy(pixels.begin(), pixels.end(), counts_[s].values().begin());
      counts_[s].describe(info);
      info.class_counts.resize(good_[s].size());
      world_.start_sum(good_[s], info.class_counts).wait();
      info.num_samples = 0;
      for (const std::int64_t count : info.class_counts) info.num_samples += count;
    }
    together([this] { check_classes(); });
  }

  void check_classes() const {
    for (std::size_t s = 0; s < good_.size(); ++s) {
      const SourceSplit& split = listing().splits[s];
      for (std::int64_t i = 0; i < split.size(); ++i) {
        const auto label = static_cast<std::size_t>(split.labels[static_cast<std::size_t>(i)]);
        if (summary_.splits[s].info.class_counts[label] > 0) continue;
        const auto bad = std::find_if(summary_.skipped.begin(), summary_.skipped.end(),
                                      [&](const BadImage& image) { return image.name == split.names[i]; });
        refuse("import.source = {}: class '{}' of split {} has no good image{}", params_.source,
               listing().class_names[label], split.name,
               bad == summary_.skipped.end() ? "" : fmt::format("; '{}': {}", bad->name, bad->reason));
      }
    }
  }

  /// Work of every rank; where it fails on one, all take their files away before they say so.
  void together(const std::function<void()>& work) {
    try {
      mpi::on_all(world_, work);
    } catch (const Error&) {
      shards_.clear();
      world_.barrier();
      throw;
    }
  }

  const ImportParams& params_;
  mpi::Communicator world_;
  const std::function<void(const ImportProgress&)>& show_;
  std::unique_ptr<ImageSource> source_;
  ImageShape image_;  ///< that shards will say
  ImportSummary summary_;

  std::vector<ShardTask> tasks_;
  std::vector<io::ShardWriter> shards_;          ///< of tasks_
  std::vector<io::ChannelCounts> counts_;        ///< of each split
  std::vector<std::vector<std::int64_t>> good_;  ///< of each split, of each class
  std::vector<BadImage> skipped_;                ///< by this rank
  ImportCounts mine_;
  Resampler resampler_;
  std::vector<std::uint8_t> resized_;
};

}  // namespace

ImportSummary import_images(const ImportParams& params, std::uint64_t seed, const mpi::Communicator& world,
                            const std::function<void(const ImportProgress&)>& show) {
  return Import(params, seed, world, show).run();
}

}  // namespace convoy
