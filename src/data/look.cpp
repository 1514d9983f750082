/// Each rank looks at a range of the list; the first of each size it meets, and rank 0 compares.
#include "data/look.h"

#include <cstring>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/comm/on_root.h"

#include "data/import_rounds.h"

namespace convoy {

namespace {

/// An image of a size; what a rank tells of.
struct Seen {
  std::int64_t split = -1, sample = 0, h = 0, w = 0;
};

struct Looked {
  bool colour = false;
  std::vector<Seen> sizes;   ///< the first image, and the first of another size
  std::string first_reason;  ///< of a bad one
};

class Looking {
 public:
  Looking(ImageSource& source, const mpi::Communicator& world, const std::function<void(const ImportProgress&)>& show)
      : source_(source), world_(world) {
    for (const SourceSplit& split : source.listing().splits) total_ += split.size();
    const std::int64_t begin = total_ * world.rank() / world.size(), end = total_ * (world.rank() + 1) / world.size();
    ImportRounds rounds(world, [&](const ImportCounts& all) { show({"looking", all.done, total_, all.skipped}); });
    ImportCounts counts;
    std::int64_t number = 0;
    const auto& splits = source.listing().splits;
    for (std::size_t s = 0; s < splits.size(); ++s) {
      for (std::int64_t i = 0; i < splits[s].size(); ++i, ++number) {
        if (number < begin || number >= end) continue;
        if (!look(static_cast<std::int64_t>(s), i)) ++counts.skipped;
        ++counts.done;
        rounds.pulse(counts);
      }
    }
    rounds.end(counts, false);
  }

  bool any_colour() const { return world_.max(looked_.colour ? 1 : 0) > 0; }

  /// The size of all. All ranks of the group.
  ImageShape size(const std::string& source_name) const {
    const std::vector<std::byte> bytes = world_.gather(std::as_bytes(std::span(looked_.sizes)), 0);
    ImageShape size;
    mpi::on_root(world_, [&] {
      std::vector<Seen> all(bytes.size() / sizeof(Seen));
      if (all.empty()) {
        refuse("import.source = {}: none of {} images is good{}{}", source_name, total_,
               looked_.first_reason.empty() ? "" : ", the first: ", looked_.first_reason);
      }
      std::memcpy(all.data(), bytes.data(), bytes.size());
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
  bool look(std::int64_t split, std::int64_t sample) {
    const SourceSplit& of = source_.listing().splits[static_cast<std::size_t>(split)];
    try {
      const ImageHeader header = source_.look(of, sample);
      looked_.colour = looked_.colour || !header.grey;
      auto& sizes = looked_.sizes;
      const bool new_size = sizes.empty() || sizes[0].h != header.h || sizes[0].w != header.w;
      if (new_size && sizes.size() < 2) sizes.push_back({split, sample, header.h, header.w});
      return true;
    } catch (const Error& error) {
      if (looked_.first_reason.empty()) looked_.first_reason = fmt::format("'{}': {}", of.names[sample], error.what());
      return false;
    }
  }

  std::string_view name_of(const Seen& seen) const {
    return source_.listing().splits[static_cast<std::size_t>(seen.split)].names[seen.sample];
  }

  ImageSource& source_;
  mpi::Communicator world_;
  std::int64_t total_ = 0;
  Looked looked_;
};

}  // namespace

ImageShape agree_on_image(const ImportParams& params, ImageSource& source, const mpi::Communicator& world,
                          const std::function<void(const ImportProgress&)>& show) {
  const bool encoded = params.storage == StorageKind::kEncoded;
  std::optional<Looking> looking;
  if (params.channels == ChannelsKind::kAuto || (!encoded && params.size == 0)) looking.emplace(source, world, show);

  ImageShape image;
  if (!encoded) {
    image = params.size > 0 ? ImageShape{params.size, params.size, 0} : looking->size(params.source);
  }
  image.c = params.channels == ChannelsKind::kGrey     ? 1
            : params.channels == ChannelsKind::kColour ? 3
            : looking->any_colour()                    ? 3
                                                       : 1;
  return image;
}

}  // namespace convoy
