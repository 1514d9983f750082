/// Arrays in zip archives, by libzip. Members are read as streams, so an array that unpacks to more than memory holds
/// takes no more memory than another.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <zip.h>

#include "convoy/base/error.h"
#include "convoy/base/file_descriptor.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/atomic_file.h"

#include "io/arrays/byte_source.h"

namespace convoy::io {

namespace {

constexpr std::string_view kNpySuffix = ".npy";
constexpr std::size_t kNumArraysShown = 10;
// Deflate needs at least 2 bits for a copy of at most 258 bytes: 1032 bytes per byte (zlib's documentation, too).
constexpr std::uint64_t kLargestExpansion = 1032;

struct CloseArchive {
  void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* member) const noexcept { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;
using Member = std::unique_ptr<zip_file_t, CloseMember>;

Archive open_archive(const std::string& path) {
  file_size(open_for_reading(path), path);  // names what is no regular file
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive != nullptr) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  fail("'{}' is no archive of NumPy (.npz), or is truncated: {}", path, reason);
}

// The names of arrays, with the indices of their members.
std::vector<std::pair<std::string, zip_uint64_t>> arrays_in(zip_t* archive) {
  std::vector<std::pair<std::string, zip_uint64_t>> arrays;
  const auto count = static_cast<zip_uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(archive, 0)));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* const given = zip_get_name(archive, i, 0);
    std::string name = given != nullptr ? given : "";
    if (!name.ends_with(kNpySuffix)) continue;
    name.resize(name.size() - kNpySuffix.size());
    arrays.emplace_back(std::move(name), i);
  }
  return arrays;
}

std::vector<std::string> names_of(zip_t* archive) {
  std::vector<std::string> names;
  for (const auto& [name, index] : arrays_in(archive)) names.push_back(name);
  return names;
}

/// The bytes of a member. A stored member is read at any position; a deflated one is unpacked up to the position.
class MemberBytes final : public ByteSource {
 public:
  MemberBytes(const std::string& path, const std::string& name)
      : name_(fmt::format("'{}', array '{}'", path, excerpt(name))), archive_(open_archive(path)) {
    find(path, name);
    check();
    open();
  }

  std::string name() const override { return name_; }
  std::int64_t size_bytes() const override { return static_cast<std::int64_t>(stat_.size); }
  bool has_random_access() const override { return stat_.comp_method == ZIP_CM_STORE; }

  void read(std::int64_t offset, std::span<std::byte> bytes) override {
    go_to(offset);
    take(bytes);
  }

 private:
  void find(const std::string& path, const std::string& name) {
    const auto arrays = arrays_in(archive_.get());
    const auto found = std::ranges::find(arrays, name, &std::pair<std::string, zip_uint64_t>::first);
    if (found == arrays.end()) {
      std::vector<std::string> names;
      for (const std::string& known : names_of(archive_.get())) names.push_back(excerpt(known));
      fail("'{}' has no array '{}'. It has: {}", path, excerpt(name), first_few(names, kNumArraysShown));
    }
    index_ = found->second;
    constexpr zip_uint64_t kNeeded =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    zip_stat_init(&stat_);
    if (zip_stat_index(archive_.get(), index_, 0, &stat_) != 0 || (stat_.valid & kNeeded) != kNeeded)
      fail("{} is damaged: its size is not known", name_);
  }

  void check() const {
    if (stat_.encryption_method != ZIP_EM_NONE) fail("{} is encrypted. Save it again with numpy.savez", name_);
    if (stat_.comp_method != ZIP_CM_STORE && stat_.comp_method != ZIP_CM_DEFLATE)
      fail("{} is packed by method {} of zip. Save it again with numpy.savez or numpy.savez_compressed", name_,
           stat_.comp_method);
    const std::uint64_t possible = has_random_access() ? stat_.comp_size : stat_.comp_size * kLargestExpansion;
    if (stat_.comp_size > std::uint64_t{1} << 50 || stat_.size > possible)
      fail("{} is damaged: {} bytes cannot unpack to {}", name_, stat_.comp_size, stat_.size);
  }

  void open() {
    member_.reset(zip_fopen_index(archive_.get(), index_, 0));
    if (member_ == nullptr) fail("{} cannot be read: {}", name_, zip_strerror(archive_.get()));
    position_ = 0;
  }

  void go_to(std::int64_t offset) {
    if (offset == position_) return;
    if (has_random_access()) {
      if (zip_fseek(member_.get(), offset, SEEK_SET) != 0) fail_to_read();
      position_ = offset;
      return;
    }
    if (offset < position_) open();
    std::array<std::byte, 65536> passed;
    while (position_ < offset) take(std::span(passed).first(std::min(passed.size(), to_size(offset - position_))));
  }

  // Fills `bytes` from the present position on.
  void take(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const zip_int64_t count = zip_fread(member_.get(), bytes.data(), bytes.size());
      if (count < 0) fail_to_read();
      if (count == 0) fail("{} is truncated: it ends after {} of {} bytes", name_, position_, stat_.size);
      position_ += count;
      bytes = bytes.subspan(to_size(count));
    }
  }

  [[noreturn]] void fail_to_read() const { fail("{} is damaged: {}", name_, zip_file_strerror(member_.get())); }
  static std::size_t to_size(std::int64_t count) { return static_cast<std::size_t>(count); }

  std::string name_;
  Archive archive_;
  zip_uint64_t index_ = 0;
  zip_stat_t stat_ = {};
  Member member_;
  std::int64_t position_ = 0;
};

}  // namespace

std::vector<std::string> names_in_npz(const std::string& path) try {
  std::vector<std::string> names = names_of(open_archive(path).get());
  if (names.empty()) fail("'{}' holds no arrays (members named .npy)", path);
  return names;
} catch (const Error& error) {
  refuse("{}", error.what());
}

std::unique_ptr<ArrayReader> open_npz(const std::string& path, const std::string& name) {
  std::unique_ptr<ByteSource> member;
  try {
    member = std::make_unique<MemberBytes>(path, name);
  } catch (const Error& error) {
    refuse("{}", error.what());
  }
  return read_npy_from(std::move(member));
}

}  // namespace convoy::io
