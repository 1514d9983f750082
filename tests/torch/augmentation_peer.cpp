/// Convoy's half of the comparison with torchvision's augmentations: prints, as JSON, random numbers and what each
/// augmentation made of them. judge_augmentations.py gives the same numbers to torchvision.
#include <exception>
#include <iostream>

#include <nlohmann/json.hpp>

#include "convoy/base/random.h"

#include "data/images/crops.h"

namespace convoy::test {

namespace {

constexpr std::uint64_t kNumSamples = 400;
constexpr ImageShape kImages[] = {{32, 32, 3}, {224, 224, 3}, {375, 500, 3}, {7, 300, 1}, {1, 1, 1}};

nlohmann::json box_of(const PixelBox& box) {
  return {box.top, box.left, box.bottom, box.right};
}

// Of draws 0, ..., count - 1 of the key: the uniform number and the 64 bits that an integer is made of.
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

void print_all() {
  nlohmann::json all;
  for (const ImageShape& image : kImages) {
    for (std::uint64_t sample = 0; sample < kNumSamples; ++sample) {
      all["erasing"].push_back(erasing(image, sample));
      all["cutmix"].push_back(pasting(image, sample));
    }
  }
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
