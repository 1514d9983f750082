/// Lists, on each rank, the images that it has met; rank 0 counts each once.
#include "data/images/image_losses.h"

#include <set>

#include <fmt/core.h>

#include "convoy/base/text.h"
#include "convoy/comm/gather.h"

#include "data/images/decode_image.h"

namespace convoy {

namespace {

constexpr std::size_t kPngSignatureBytes = 8;
constexpr std::size_t kBytesAroundChunk = 12;  // length (4, big-endian), name (4), checksum (4)

std::size_t big_endian(std::span<const std::byte> bytes) {
  std::size_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<std::size_t>(byte);
  return value;
}

std::set<std::int64_t> gather(const std::vector<std::int64_t>& mine, const mpi::Communicator& world) {
  const std::vector<std::int64_t> all = mpi::gather_values(world, mine);
  return {all.begin(), all.end()};
}

}  // namespace

// IHDR comes first: width (4), height (4), bits per channel, type of colour (4 of its bits: with alpha). PNG
// specification, 11.2.2.
ImageLoss find_loss(std::span<const std::byte> file) {
  ImageLoss loss;
  if (!begins_with(file, "\x89PNG\r\n\x1a\n")) return loss;
  for (auto rest = file.subspan(kPngSignatureBytes); rest.size() >= kBytesAroundChunk;) {
    const std::size_t length = big_endian(rest.first(4));
    const auto name = rest.subspan(4);
    if (length > rest.size() - kBytesAroundChunk || begins_with(name, "IDAT")) break;
    if (begins_with(name, "IHDR") && length >= 10) {
      loss.low_bits = rest[16] == std::byte{16};
      loss.alpha = (rest[17] & std::byte{4}) != std::byte{0};
    }
    loss.alpha = loss.alpha || begins_with(name, "tRNS");
    rest = rest.subspan(kBytesAroundChunk + length);
  }
  return loss;
}

void ImageLosses::add(std::int64_t image, std::span<const std::byte> file) {
  const ImageLoss loss = find_loss(file);
  const std::scoped_lock lock(mutex_);
  if (loss.low_bits) low_bits_.push_back(image);
  if (loss.alpha) alpha_.push_back(image);
}

std::vector<std::string> ImageLosses::describe(std::int64_t num_images,
                                               const std::function<std::string(std::int64_t)>& name_of,
                                               const mpi::Communicator& world) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> sentences;
  const auto add = [&](const std::vector<std::int64_t>& mine, const char* what, const char* remedy) {
    const std::set<std::int64_t> images = gather(mine, world);
    if (images.empty()) return;
    const bool is_one = images.size() == 1;
    const std::string sentence =
        num_images == 1
            ? fmt::format("the image has {}", what)
            : fmt::format("{} of {} images {} {}: '{}'{}", images.size(), num_images, is_one ? "has" : "have", what,
                          excerpt(name_of(*images.begin())), is_one ? "" : " and others");
    sentences.push_back(fmt::format("{}. {}", sentence, remedy));
  };
  add(low_bits_, "16 bits per channel, of which the upper 8 are kept",
      "Stretch such images to the full range first if they use only a part of it, or import them as arrays, which keep "
      "all bits (import.format = arrays)");
  add(alpha_, "an alpha channel or transparent colours, which are left out",
      "Draw such images on a background first if the colours of their transparent parts must not be visible");
  return sentences;
}

}  // namespace convoy
