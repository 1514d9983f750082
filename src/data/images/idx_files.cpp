/// Reads IDX with every length checked before memory is taken for it, and makes splits of pairs of files.
#include "data/images/idx_files.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <span>

#include <fmt/format.h>
#include <zlib.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
// Deflate needs at least 2 bits for a copy of at most 258 bytes: 1032 bytes per byte (zlib's documentation, too).
constexpr std::uint64_t kLargestExpansion = 1032;

using PixelBytes = std::span<const std::uint8_t>;

bool begins_like_gzip(PixelBytes bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/// Reads the content of a file piece by piece, inflated if it is gzipped.
class Reader {
 public:
  Reader(PixelBytes file, std::string path)
      : size_(file.size()), rest_(file), path_(std::move(path)), gzipped_(begins_like_gzip(file)) {
    constexpr int kGzipOnly = 16;
    if (gzipped_ && inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) fail("'{}': zlib cannot start", path_);
  }
  ~Reader() { inflateEnd(&stream_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Fills `out` as far as content is left; returns the number of bytes.
  std::uint64_t read(std::span<std::uint8_t> out) {
    std::uint64_t done = 0;
    while (done < out.size() && !ended_)
      done += gzipped_ ? inflate_some(out.subspan(done)) : copy_some(out.subspan(done));
    return done;
  }
  /// Returns the largest size that the content could have, known without reading it.
  std::uint64_t largest_size() const { return gzipped_ ? size_ * kLargestExpansion : size_; }

 private:
  std::uint64_t copy_some(std::span<std::uint8_t> out) {
    const std::size_t count = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), count, out.begin());
    rest_ = rest_.subspan(count);
    ended_ = rest_.empty();
    return count;
  }

  std::uint64_t inflate_some(std::span<std::uint8_t> out) {
    constexpr std::size_t kLargest = std::numeric_limits<uInt>::max();  // zlib counts in 32 bits
    const std::size_t in_bytes = std::min(rest_.size(), kLargest);
    const std::size_t out_bytes = std::min(out.size(), kLargest);
    stream_.next_in = const_cast<Bytef*>(rest_.data());
    stream_.avail_in = static_cast<uInt>(in_bytes);
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out_bytes);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    rest_ = rest_.subspan(in_bytes - stream_.avail_in);
    const std::uint64_t got = out_bytes - stream_.avail_out;
    total_ += got;
    if (status == Z_STREAM_END) {
      end_member();
    } else if (status == Z_BUF_ERROR || (status == Z_OK && rest_.empty() && stream_.avail_out > 0)) {
      refuse("'{}' is truncated: the gzip stream stops after {} bytes ({} compressed). Download it again", path_,
             total_, size_);
    } else if (status != Z_OK) {
      refuse("'{}' is damaged: {}. Download it again", path_,
             stream_.msg != nullptr ? stream_.msg : "not a gzip stream");
    }
    return got;
  }

  // A gzip file may be several streams one after the other.
  void end_member() {
    if (rest_.empty()) {
      ended_ = true;
    } else if (!begins_like_gzip(rest_)) {
      refuse("'{}' holds {} bytes after the end of its gzip stream. Download it again", path_, rest_.size());
    } else if (inflateReset(&stream_) != Z_OK) {
      fail("'{}': zlib cannot continue", path_);
    }
  }

  std::uint64_t size_;
  PixelBytes rest_;
  std::string path_;
  bool gzipped_;
  z_stream stream_ = {};
  std::uint64_t total_ = 0;
  bool ended_ = false;
};

std::vector<std::byte> read_whole(const std::string& path) {
  try {
    return io::read_file(path);
  } catch (const Error& error) {
    refuse("{}", error.what());
  }
}

std::vector<std::int64_t> read_header(Reader& reader, const std::string& path, int rank) {
  std::vector<std::uint8_t> header(4 * (1 + static_cast<std::size_t>(rank)));
  const std::uint64_t got = reader.read(header);
  if (got < 4)
    refuse("'{}' is truncated: it has {} bytes, but the header of an IDX file has {}. Download it again", path, got,
           header.size());
  if (header[0] != 0 || header[1] != 0 || header[2] != kUnsignedByte || header[3] != rank) {
    refuse(
        "'{}' begins with {:02x}{:02x}{:02x}{:02x}, but an IDX file of unsigned bytes with {} dimensions begins with "
        "0000{:02x}{:02x}. Download it again",
        path, header[0], header[1], header[2], header[3], rank, kUnsignedByte, rank);
  }
  if (got < header.size()) {
    refuse("'{}' is truncated: it has {} bytes, but its header alone has {}. Download it again", path, got,
           header.size());
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 4; i < header.size(); i += 4) {
    dims.push_back(std::int64_t{header[i]} << 24 | std::int64_t{header[i + 1]} << 16 |
                   std::int64_t{header[i + 2]} << 8 | std::int64_t{header[i + 3]});
  }
  return dims;
}

/// Returns the bytes of content that the dimensions ask for. Refuses them if the file cannot hold them or the memory
/// cannot take them.
std::uint64_t size_of_values(const std::vector<std::int64_t>& dims, const Reader& reader, const std::string& path) {
  const std::string shape = fmt::format("{}", fmt::join(dims, "x"));
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim == 0) refuse("'{}' is empty: its shape is {}", path, shape);
    // Dimensions are below 2^32; a product beyond 64 bits is larger than any file.
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count)) {
      refuse("'{}' claims {} values, more than any file holds. Download it again", path, shape);
    }
  }
  const std::uint64_t header_bytes = 4 * (1 + dims.size());
  const std::uint64_t largest = reader.largest_size() - header_bytes;
  if (count > largest) {
    refuse("'{}' is truncated: its {} values need {} bytes, but it can hold only {}. Download it again", path, shape,
           count, largest);
  }
  if (count > io::memory_of_machine()) {
    refuse("'{}' holds {} values and needs {} bytes of memory, but this machine has {}", path, shape, count,
           io::memory_of_machine());
  }
  return count;
}

/// Reads to the end; returns the number of bytes.
std::uint64_t count_rest(Reader& reader) {
  std::vector<std::uint8_t> scratch(std::size_t{1} << 16);
  std::uint64_t total = 0;
  while (const std::uint64_t got = reader.read(scratch)) total += got;
  return total;
}

struct IdxFile {
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> values;  ///< row-major
};

/// Reads unsigned bytes in `rank` dimensions.
IdxFile read_idx_file(const std::string& path, int rank) {
  const std::vector<std::byte> file = read_whole(path);
  const PixelBytes bytes(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  Reader reader(bytes, path);

  IdxFile idx;
  idx.dims = read_header(reader, path, rank);
  idx.values.resize(size_of_values(idx.dims, reader, path));
  const std::uint64_t got = reader.read(idx.values);
  const std::uint64_t found = got + count_rest(reader);  // also reads the end of the gzip stream, with its checksum
  if (found != idx.values.size()) {
    refuse("'{}' is {}: its {} values need {} bytes, but it holds {}. Download it again", path,
           found < idx.values.size() ? "truncated" : "too long", fmt::join(idx.dims, "x"), idx.values.size(), found);
  }
  return idx;
}

// --- Splits ----------------------------------------------------------------------------------------------------------

std::string find_file(const std::string& folder, const std::string& name) {
  const std::string plain = (std::filesystem::path(folder) / name).string();
  for (const std::string& path : {plain, plain + ".gz"}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  refuse("import.source = {}: there is neither '{}' nor '{}.gz'", folder, plain, plain);
}

}  // namespace

IdxSplit read_idx(const std::string& images_path, const std::string& labels_path) {
  IdxFile images = read_idx_file(images_path, 3);
  const IdxFile labels = read_idx_file(labels_path, 1);
  if (images.dims[0] != labels.dims[0]) {
    refuse("'{}' holds {} images, but '{}' holds {} labels. Both must be of one data set: download them again",
           images_path, images.dims[0], labels_path, labels.dims[0]);
  }
  return {.image = {images.dims[1], images.dims[2], 1},
          .images = std::move(images.values),
          .labels = {labels.values.begin(), labels.values.end()}};
}

std::unique_ptr<ImageSource> open_idx(const std::string& folder) {
  SourceListing listing;
  ImageShape image;
  std::vector<std::uint8_t> pixels;
  std::int64_t num_images = 0, num_classes = 0;
  std::string train_path;
  for (const std::string prefix : {"train", "t10k"}) {
    const std::string path = find_file(folder, prefix + "-images-idx3-ubyte");
    const IdxSplit content = read_idx(path, find_file(folder, prefix + "-labels-idx1-ubyte"));
    if (num_images > 0 && content.image != image)
      refuse("'{}' holds images of {}, but '{}' holds images of {}. Both must be of one data set: download them again",
             train_path, to_string(image), path, to_string(content.image));
    train_path = path;
    image = content.image;
    pixels.insert(pixels.end(), content.images.begin(), content.images.end());
    SourceSplit& split = listing.splits.emplace_back();
    split.name = prefix == "train" ? "train" : "test";
    const std::string file = std::filesystem::path(path).filename().string();
    for (const std::int32_t label : content.labels) {
      split.add(fmt::format("{}:{}", file, split.size()), label, num_images++);
      num_classes = std::max<std::int64_t>(num_classes, label + 1);
    }
  }
  for (std::int64_t c = 0; c < num_classes; ++c) listing.class_names.push_back(fmt::format("{}", c));
  return std::make_unique<MemorySource>(std::move(listing), image, std::move(pixels));
}

}  // namespace convoy
