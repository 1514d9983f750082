/// Reads IDX with every length checked before memory is taken for it.
#include "data/idx_file.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>

#include <unistd.h>
#include <zlib.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/checkpoint.h"

namespace convoy {

namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
// Deflate needs at least 2 bits for a copy of at most 258 bytes: 1032 bytes a byte (zlib's documentation, too).
constexpr std::uint64_t kLargestExpansion = 1032;

using Bytes = std::span<const std::uint8_t>;

/// Gives the content of a file piece by piece, inflated where it is gzipped.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Fills `out` as far as there is content; returns how many bytes.
  virtual std::uint64_t read(std::span<std::uint8_t> out) = 0;
  /// What the content could be at most, known without reading it.
  virtual std::uint64_t largest_size() const = 0;
};

class PlainReader final : public Reader {
 public:
  explicit PlainReader(Bytes file) : size_(file.size()), rest_(file) {}

  std::uint64_t read(std::span<std::uint8_t> out) override {
    const std::size_t count = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), count, out.begin());
    rest_ = rest_.subspan(count);
    return count;
  }
  std::uint64_t largest_size() const override { return size_; }

 private:
  std::uint64_t size_;
  Bytes rest_;
};

class GzipReader final : public Reader {
 public:
  GzipReader(Bytes file, std::string path) : size_(file.size()), rest_(file), path_(std::move(path)) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) fail("'{}': zlib cannot start", path_);
  }
  ~GzipReader() override { inflateEnd(&stream_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  std::uint64_t read(std::span<std::uint8_t> out) override {
    std::uint64_t done = 0;
    while (done < out.size() && !ended_) done += inflate_some(out.subspan(done));
    return done;
  }
  std::uint64_t largest_size() const override { return size_ * kLargestExpansion; }

 private:
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
      refuse("'{}' is truncated: the gzip stream stops after {} bytes ({} compressed). Fetch it again", path_, total_,
             size_);
    } else if (status != Z_OK) {
      refuse("'{}' is damaged: {}. Fetch it again", path_, stream_.msg != nullptr ? stream_.msg : "not a gzip stream");
    }
    return got;
  }

  // A gzip file may be several streams behind each other.
  void end_member() {
    if (rest_.empty()) {
      ended_ = true;
    } else if (rest_.size() < 2 || rest_[0] != 0x1f || rest_[1] != 0x8b) {
      refuse("'{}' holds {} bytes behind the end of its gzip stream. Fetch it again", path_, rest_.size());
    } else if (inflateReset(&stream_) != Z_OK) {
      fail("'{}': zlib cannot go on", path_);
    }
  }

  std::uint64_t size_;
  Bytes rest_;
  std::string path_;
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

std::uint64_t physical_memory_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::vector<std::int64_t> read_header(Reader& reader, const std::string& path, int rank) {
  std::vector<std::uint8_t> header(4 * (1 + static_cast<std::size_t>(rank)));
  const std::uint64_t got = reader.read(header);
  if (got < 4) refuse("'{}' is truncated: {} bytes, IDX has a header of {}. Fetch it again", path, got, header.size());
  if (header[0] != 0 || header[1] != 0 || header[2] != kUnsignedByte || header[3] != rank) {
    refuse(
        "'{}' begins with {:02x}{:02x}{:02x}{:02x}; IDX with unsigned bytes in {} dimensions begins with "
        "0000{:02x}{:02x}",
        path, header[0], header[1], header[2], header[3], rank, kUnsignedByte, rank);
  }
  if (got < header.size()) {
    refuse("'{}' is truncated: {} bytes, its header alone has {}. Fetch it again", path, got, header.size());
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 4; i < header.size(); i += 4) {
    dims.push_back(std::int64_t{header[i]} << 24 | std::int64_t{header[i + 1]} << 16 |
                   std::int64_t{header[i + 2]} << 8 | std::int64_t{header[i + 3]});
  }
  return dims;
}

/// Bytes of content that the dimensions ask for; refused where the file cannot hold or the memory cannot take them.
std::uint64_t size_of_values(const std::vector<std::int64_t>& dims, const Reader& reader, const std::string& path) {
  const std::string shape = fmt::format("{}", fmt::join(dims, "x"));
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim == 0) refuse("'{}' is of {} values: it holds nothing", path, shape);
    // Dimensions are below 2^32; a product that leaves 64 bits is more than any file.
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(dim), &count)) {
      refuse("'{}' claims {} values, more than any file holds. Fetch it again", path, shape);
    }
  }
  const std::uint64_t header_bytes = 4 * (1 + dims.size());
  const std::uint64_t largest = reader.largest_size() - header_bytes;
  if (count > largest) {
    refuse("'{}' is truncated: {} values are {} bytes, it can hold {}. Fetch it again", path, shape, count, largest);
  }
  if (count > physical_memory_bytes()) {
    refuse("'{}' holds {} values, {} bytes; this machine's memory has {}", path, shape, count, physical_memory_bytes());
  }
  return count;
}

/// Reads on to the end; returns how many bytes there were.
std::uint64_t count_rest(Reader& reader) {
  std::vector<std::uint8_t> scratch(std::size_t{1} << 16);
  std::uint64_t total = 0;
  while (const std::uint64_t got = reader.read(scratch)) total += got;
  return total;
}

}  // namespace

IdxFile read_idx_file(const std::string& path, int rank) {
  const std::vector<std::byte> file = read_whole(path);
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  const bool gzipped = bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  const std::unique_ptr<Reader> reader =
      gzipped ? std::unique_ptr<Reader>(new GzipReader(bytes, path)) : std::make_unique<PlainReader>(bytes);

  IdxFile idx;
  idx.dims = read_header(*reader, path, rank);
  idx.values.resize(size_of_values(idx.dims, *reader, path));
  const std::uint64_t got = reader->read(idx.values);
  const std::uint64_t found = got + count_rest(*reader);  // meets the end of the gzip stream, and its checksum, too
  if (found != idx.values.size()) {
    refuse("'{}' is {}: {} values are {} bytes, it holds {}. Fetch it again", path,
           found < idx.values.size() ? "truncated" : "too long", fmt::join(idx.dims, "x"), idx.values.size(), found);
  }
  return idx;
}

}  // namespace convoy
