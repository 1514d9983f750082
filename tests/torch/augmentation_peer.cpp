/// Convoy's half of the comparison with torchvision's augmentations: prints, as JSON, random numbers and what each
/// augmentation made of them. judge_augmentations.py gives the same numbers to torchvision.
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "convoy/base/random.h"

#include "data/images/auto_augment.h"
#include "data/images/crops.h"

namespace convoy::test {

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kNumSamples = 400;
constexpr ImageShape kImages[] = {{32, 32, 3}, {224, 224, 3}, {375, 500, 3}, {7, 300, 1}, {1, 1, 1}};

nlohmann::json box_of(const PixelBox& box) {
  return {box.top, box.left, box.bottom, box.right};
}

// Returns draws 0, ..., count - 1 of the key: the uniform number, and the 64 bits that an integer is made of.
nlohmann::json draws_of(const RandomKey& key, std::uint64_t count) {
  nlohmann::json uniform = nlohmann::json::array(), bits = nlohmann::json::array();
  for (std::uint64_t i = 0; i < count; ++i) {
    uniform.push_back(random_uniform(key, i));
    bits.push_back(random_block(key, i)[0]);
  }
  return {{"uniform", uniform}, {"bits", bits}};
}

nlohmann::json erasing(const ImageShape& image, std::uint64_t sample) {
  const RandomKey key{.seed = 1, .purpose = Purpose::kErase, .epoch = 2, .item = sample};
  return {{"size", {image.h, image.w}}, {"draws", draws_of(key, 41)}, {"box", box_of(random_erasing(image, 1, key))}};
}

nlohmann::json pasting(const ImageShape& image, std::uint64_t sample) {
  const RandomKey key{.seed = 1, .purpose = Purpose::kCutMixBox, .epoch = 2, .item = sample};
  const double share = static_cast<double>(sample) / (kNumSamples - 1);
  return {{"size", {image.h, image.w}},
          {"share", share},
          {"draws", draws_of(key, 2)},
          {"box", box_of(cutmix_box(image, share, key))}};
}

// Returns a checksum of the image, which both sides compute.
std::string checksum(const Bytes& pixels) {
  const auto size = static_cast<uInt>(pixels.size());
  return fmt::format("{:08x}{:08x}", crc32(0, pixels.data(), size), adler32(1, pixels.data(), size));
}

// Returns an image of slow waves, noise and a flat corner: every edit finds something to change, and something that it
// must not change.
Bytes image_of(const ImageShape& shape) {
  Bytes pixels;
  for (std::int64_t y = 0; y < shape.h; ++y) {
    for (std::int64_t x = 0; x < shape.w; ++x) {
      for (std::int64_t c = 0; c < shape.c; ++c) {
        const auto i = static_cast<std::uint64_t>((y * shape.w + x) * shape.c + c);
        const std::uint64_t noise = random_below({.item = 7}, i, 90);
        const bool flat = 4 * y < shape.h && 4 * x < shape.w;
        pixels.push_back(flat ? 77
                              : static_cast<std::uint8_t>(20 + (3 * x + 2 * y + 31 * c) % 120 + std::int64_t(noise)));
      }
    }
  }
  return pixels;
}

Bytes edited(const std::vector<ImageEdit>& edits, const ImageShape& shape, Bytes pixels) {
  ImageEditor editor;
  for (const ImageEdit& edit : edits) editor.apply(edit, shape, pixels.data());
  return pixels;
}

// Applies every edit of both policies at every level and sign, by the number that torchvision gives it.
nlohmann::json all_edits(const ImageShape& shape, const Bytes& pixels) {
  nlohmann::json cases = nlohmann::json::array();
  for (const AutoAugmentKind policy : {AutoAugmentKind::kRand, AutoAugmentKind::kTrivial}) {
    for (std::int64_t kind = 0; kind < kNumEdits; ++kind) {
      for (std::int64_t level = 0; level < kNumLevels; ++level) {
        for (const bool negative : {false, true}) {
          const ImageEdit edit = edit_at(policy, static_cast<EditKind>(kind), level, negative, shape);
          cases.push_back({{"policy", name_of(policy)},
                           {"kind", kind},
                           {"level", level},
                           {"negative", negative},
                           {"result", checksum(edited({edit}, shape, pixels))}});
        }
      }
    }
  }
  return cases;
}

// Applies whole policies, with the numbers that they are drawn by.
nlohmann::json drawn_edits(const ImageShape& shape, const Bytes& pixels) {
  nlohmann::json cases = nlohmann::json::array();
  for (const AutoAugmentKind policy : {AutoAugmentKind::kRand, AutoAugmentKind::kTrivial}) {
    for (std::uint64_t sample = 0; sample < kNumSamples; ++sample) {
      const RandomKey key{.seed = 1, .purpose = Purpose::kAutoAugment, .epoch = 2, .item = sample};
      const AugmentParams params{
          .policy = policy, .policy_operations = 3, .policy_magnitude = static_cast<std::int64_t>(sample) % 31};
      cases.push_back({{"policy", name_of(policy)},
                       {"level", params.policy_magnitude},
                       {"draws", draws_of(key, 9)},
                       {"result", checksum(edited(draw_edits(params, shape, key), shape, pixels))}});
    }
  }
  return cases;
}

nlohmann::json jitters(const ImageShape& shape, const Bytes& pixels) {
  nlohmann::json cases = nlohmann::json::array();
  for (std::uint64_t sample = 0; sample < kNumSamples; ++sample) {
    const ColourJitter jitter = draw_jitter({.brightness = 1, .contrast = 1, .saturation = 1},
                                            {.seed = 1, .purpose = Purpose::kColour, .item = sample});
    Bytes changed = pixels;
    jitter.apply(changed.data(), shape);
    cases.push_back({{"factor", jitter.factor}, {"order", jitter.order}, {"result", checksum(changed)}});
  }
  return cases;
}

nlohmann::json editing(const ImageShape& shape) {
  const Bytes pixels = image_of(shape);
  return {{"size", {shape.h, shape.w, shape.c}},
          {"pixels", pixels},
          {"edits", all_edits(shape, pixels)},
          {"policies", drawn_edits(shape, pixels)},
          {"jitter", jitters(shape, pixels)}};
}

void print_all() {
  nlohmann::json all;
  for (const ImageShape& image : kImages) {
    for (std::uint64_t sample = 0; sample < kNumSamples; ++sample) {
      all["erasing"].push_back(erasing(image, sample));
      all["cutmix"].push_back(pasting(image, sample));
    }
  }
  for (const ImageShape& image : {ImageShape{32, 32, 3}, {224, 224, 3}, {33, 50, 3}, {28, 28, 1}, {2, 2, 3}})
    all["editing"].push_back(editing(image));
  std::cout << all << '\n';
}

}  // namespace

}  // namespace convoy::test

int main() {
  try {
    convoy::test::print_all();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
