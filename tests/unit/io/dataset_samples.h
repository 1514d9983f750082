/// Data sets to test with: every byte of every image is known.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/io/dataset.h"

namespace convoy::test {

struct ContentSpec {
  ImageShape image = {5, 4, 3};
  std::int64_t num_samples = 20;
  std::int32_t num_classes = 4;
};

inline std::uint8_t known_byte(std::int64_t sample, std::int64_t i) {
  return static_cast<std::uint8_t>((sample * 37 + i * 11 + i * i) % 256);
}

inline std::int32_t known_label(std::int64_t sample, std::int32_t num_classes) {
  return static_cast<std::int32_t>((sample * 7 + 1) % num_classes);
}

inline io::DatasetContent make_content(const ContentSpec& spec = {}) {
  io::DatasetContent content;
  content.info.image = spec.image;
  content.info.num_samples = spec.num_samples;
  for (int k = 0; k < spec.num_classes; ++k) content.info.class_names.push_back("class " + std::to_string(k));
  content.info.source = "made for a test";
  for (std::int64_t n = 0; n < spec.num_samples; ++n) {
    for (std::int64_t i = 0; i < spec.image.count(); ++i) content.images.push_back(known_byte(n, i));
    content.labels.push_back(known_label(n, spec.num_classes));
  }
  return content;
}

}  // namespace convoy::test
