/// Additive pyramids of basic blocks.
#include "model/pyramidnet.h"

#include <charconv>
#include <cmath>

#include "convoy/base/error.h"

#include "model/pyramidnet_cells.h"
#include "model/residual_cells.h"

namespace convoy {

namespace {

constexpr std::int64_t kStemChannels = 16;
constexpr std::int64_t kMostDepth = 2000, kMostAlpha = 100'000;

// Half a channel goes to the even number of channels.
std::int64_t channels_of(double width) {
  return std::llrint(width);
}

}  // namespace

std::optional<PyramidnetSize> parse_pyramidnet(const std::string& name) {
  constexpr std::string_view kPrefix = "pyramidnet", kAlpha = "-a";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  PyramidnetSize size;
  const char* end = name.data() + name.size();
  const auto depth = std::from_chars(name.data() + kPrefix.size(), end, size.depth);
  bool known = depth.ec == std::errc() && std::string_view(depth.ptr, end).starts_with(kAlpha);
  if (known) {
    const auto alpha = std::from_chars(depth.ptr + kAlpha.size(), end, size.alpha);
    known = alpha.ec == std::errc() && alpha.ptr == end;
  }
  if (!known || size.depth < 8 || size.depth > kMostDepth || (size.depth - 2) % 6 != 0 || size.alpha < 1 ||
      size.alpha > kMostAlpha)
    refuse(
        "model.name = {}: a PyramidNet is pyramidnetDEPTH-aALPHA with DEPTH 6n + 2 from 8 to {} and ALPHA from 1 to "
        "{}, as "
        "in pyramidnet110-a270.",
        name, kMostDepth, kMostAlpha);
  return size;
}

Network make_pyramidnet(const PyramidnetSize& size, const NetworkSpec& spec) {
  if (spec.image.h % 4 != 0 || spec.image.w % 4 != 0)
    refuse(
        "model.name = {}: the data holds {} images; a PyramidNet halves them twice, so both sides must be divisible by "
        "4.",
        spec.name, to_string(spec.image));
  const std::int64_t num_blocks = (size.depth - 2) / 6;
  const double step = static_cast<double>(size.alpha) / static_cast<double>(3 * num_blocks);
  Network network;
  network.push_back(std::make_unique<SmallImageStem>(SmallImageStemSpec{
      .x = spec.image.batch(spec.micro_batch), .num_filters = kStemChannels, .relu = false, .type = spec.type}));
  double width = kStemChannels;
  for (int layer = 0; layer < 3; ++layer) {
    for (std::int64_t block = 0; block < num_blocks; ++block) {
      width += step;
      network.push_back(
          std::make_unique<PyramidBlock>(PyramidBlockSpec{.name = fmt::format("layer{}.{}", layer + 1, block),
                                                          .x = network.back()->y(),
                                                          .num_filters = channels_of(width),
                                                          .stride = layer > 0 && block == 0 ? 2 : 1,
                                                          .type = spec.type}));
    }
  }
  network.push_back(std::make_unique<PyramidHead>(network.back()->y(), spec.num_classes, spec.type));
  return network;
}

}  // namespace convoy
