/// Draws mutations as all random numbers are drawn: by their purpose.
#include "unit/mutations.h"

#include <algorithm>
#include <array>

#include <sys/resource.h>
#include <unistd.h>

#include "convoy/base/random.h"

namespace convoy::test {

namespace {

constexpr std::size_t kLongestRun = 32;
// Far more than any of these readers needs for any of these files, even under sanitizers and on a busy machine.
constexpr unsigned kTimeoutSeconds = 60;
// AddressSanitizer keeps 256 MiB of freed memory; a reader that believes a damaged length of 32 bits asks for 2 GiB and
// more.
constexpr std::int64_t kMaxGrowthBytes = std::int64_t{512} << 20;

std::int64_t peak_memory_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

/// The mutation of one file: draws numbers, changes bytes.
class Mutation {
 public:
  Mutation(const Mutator& mutator, std::uint64_t number)
      : mutator_(mutator), key_{.seed = 1, .item = number}, bytes_(mutator.file) {}

  void change(std::size_t kind) {
    if (!bytes_.empty()) (this->*kChanges.at(kind))();
  }
  std::size_t below(std::size_t bound) { return random_below(key_, index_++, bound); }
  Bytes take() { return std::move(bytes_); }

  static std::size_t num_kinds() { return kChanges.size(); }

 private:
  using Iterator = Bytes::iterator;

  Iterator begin_at(std::size_t offset) { return bytes_.begin() + static_cast<std::ptrdiff_t>(offset); }
  Iterator random_position() {
    return begin_at(below(below(2) == 0 ? std::min(bytes_.size(), mutator_.head_bytes) : bytes_.size()));
  }
  std::byte random_byte() { return static_cast<std::byte>(below(256)); }
  Iterator run_from(Iterator begin) {
    const auto length = static_cast<std::ptrdiff_t>(1 + below(kLongestRun));
    return begin + std::min(length, bytes_.end() - begin);
  }

  void truncate() { bytes_.resize(below(bytes_.size())); }
  void flip_bit() { *random_position() ^= static_cast<std::byte>(1 << below(8)); }
  void write_random_run() {
    const Iterator begin = random_position();
    std::generate(begin, run_from(begin), [&] { return random_byte(); });
  }
  void write_extreme_run() {
    const Iterator begin = random_position();
    std::fill(begin, run_from(begin), below(2) == 0 ? std::byte{0xff} : std::byte{0});
  }
  void leave_out() {
    const Iterator begin = random_position();
    bytes_.erase(begin, run_from(begin));
  }
  void repeat() {
    const Iterator begin = random_position();
    const Bytes again(begin, run_from(begin));
    bytes_.insert(begin, again.begin(), again.end());
  }
  void swap_blocks() {
    const std::size_t half = bytes_.size() / 2;
    if (half == 0) return;
    const std::size_t length = 1 + below(half), first = below(half - length + 1);
    std::swap_ranges(begin_at(first), begin_at(first + length),
                     begin_at(half + below(bytes_.size() - half - length + 1)));
  }
  void write_length() {
    if (mutator_.lengths.empty()) return flip_bit();
    const LengthField field = mutator_.lengths[below(mutator_.lengths.size())];
    if (field.offset + field.num_bytes > bytes_.size()) return;  // an earlier change cut it off
    const auto byte_of = [&](std::size_t i) -> std::byte& {
      return bytes_[field.offset + (field.order == std::endian::little ? i : field.num_bytes - 1 - i)];
    };
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < field.num_bytes; ++i) value |= std::to_integer<std::uint64_t>(byte_of(i)) << (8 * i);
    const std::uint64_t max = ~std::uint64_t{0} >> (64 - 8 * field.num_bytes);
    const std::array<std::uint64_t, 8> others = {0, 1, max, max / 2, max / 2 + 1, value - 1, value + 1, value * 2};
    value = others.at(below(others.size()));
    for (std::size_t i = 0; i < field.num_bytes; ++i) byte_of(i) = static_cast<std::byte>(value >> (8 * i));
  }
  void write_mark() {
    if (mutator_.marks.empty()) return flip_bit();
    *random_position() = static_cast<std::byte>(mutator_.marks[below(mutator_.marks.size())]);
  }

  static constexpr std::array kChanges = {
      &Mutation::truncate,     &Mutation::flip_bit,          &Mutation::flip_bit, &Mutation::write_random_run,
      &Mutation::leave_out,    &Mutation::write_extreme_run, &Mutation::repeat,   &Mutation::swap_blocks,
      &Mutation::write_length, &Mutation::write_mark};

  const Mutator& mutator_;
  RandomKey key_;
  std::uint64_t index_ = 0;
  Bytes bytes_;
};

}  // namespace

Bytes Mutator::operator()(std::uint64_t number) const {
  Mutation mutation(*this, number);
  mutation.change(number % Mutation::num_kinds());  // each kind has its share
  if (mutation.below(2) == 0) {
    for (std::size_t more = mutation.below(4); more > 0; --more) mutation.change(mutation.below(Mutation::num_kinds()));
  }
  return mutation.take();
}

ReaderGuard::ReaderGuard() : peak_bytes_(peak_memory_bytes()) {}

ReaderGuard::~ReaderGuard() {
  alarm(0);
  EXPECT_LT(peak_memory_bytes() - peak_bytes_, kMaxGrowthBytes) << "a damaged length was believed";
}

void ReaderGuard::begin_read() const {
  alarm(kTimeoutSeconds);  // its signal ends the program
}

}  // namespace convoy::test
