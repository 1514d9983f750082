/// Times the work of the loader's threads on images and arrays, in processor time, so that other work on the machine
/// does not count. Started by tools/bench/loader with a folder for the data.
#include "convoy/data/loader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <span>
#include <string>

#include <fmt/core.h>

#include "convoy/base/features.h"
#include "convoy/base/random.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/device/device.h"
#include "convoy/io/dataset.h"
#include "convoy/io/shard_writer.h"
#include "convoy/params/parameters.h"

#include "data/images/crops.h"
#include "data/images/decode_image.h"
#include "data/images/image_path.h"
#include "data/images/resample.h"
#include "unit/data/image_files.h"

namespace convoy::bench {

namespace {

constexpr std::int64_t kBatch = 32, kNumSamples = 256, kSize = 224;

double processor_seconds() {
  std::timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Waves with noise, which take about as many bytes (100 KB) as a photograph of 500 x 400.
std::vector<std::uint8_t> make_pixels(const ImageShape& shape, std::uint64_t seed) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(shape.count()));
  for (std::int64_t y = 0; y < shape.h; ++y) {
    for (std::int64_t x = 0; x < shape.w; ++x) {
      const double wave = 60 * std::sin(0.05 * static_cast<double>(x + static_cast<std::int64_t>(seed))) +
                          60 * std::cos(0.07 * static_cast<double>(y));
      for (std::int64_t c = 0; c < shape.c; ++c) {
        const auto noise = random_below({.seed = seed}, pixels.size(), 80);
        pixels.push_back(static_cast<std::uint8_t>(110.0 + wave + static_cast<double>(noise) / (c == 0 ? 1 : 2)));
      }
    }
  }
  return pixels;
}

void write_shard(const std::string& path, io::DatasetInfo info, const std::vector<std::vector<std::byte>>& samples) {
  info.num_samples = kNumSamples;
  info.class_names = {"any"};
  info.class_counts = {kNumSamples};
  info.channel_mean = info.channel_stddev = {0.5, 0.5, 0.5};
  io::ShardWriter writer({path, 0, 1}, info);
  for (const auto& sample : samples) writer.append(sample, {.label = 0}, "");
  writer.end_samples();
  writer.finish(info);
  writer.commit();
}

void write_jpegs(const std::string& folder) {
  io::DatasetInfo info;
  info.encoded = true;
  info.image = {0, 0, 3};
  std::vector<std::vector<std::byte>> files;
  std::size_t num_bytes = 0;
  for (std::int64_t i = 0; i < kNumSamples; ++i) {
    files.push_back(test::make_jpeg({.h = 400, .w = 500, .across = 2, .down = 2, .quality = 90},
                                    make_pixels({400, 500, 3}, static_cast<std::uint64_t>(i))));
    num_bytes += files.back().size();
  }
  write_shard(folder + "/jpeg.h5", info, files);
  fmt::print("JPEGs of 500 x 400: {} KB each\n", num_bytes / kNumSamples / 1024);
}

void write_raw(const std::string& path, std::int64_t size) {
  io::DatasetInfo info;
  info.image = {size, size, 3};
  std::vector<std::vector<std::byte>> images;
  for (std::int64_t i = 0; i < kNumSamples; ++i) {
    const auto pixels = make_pixels(info.image, static_cast<std::uint64_t>(i));
    const auto bytes = std::as_bytes(std::span(pixels));
    images.emplace_back(bytes.begin(), bytes.end());
  }
  write_shard(path, info, images);
}

/// A node for which the loader is planned; without cores no node is given.
struct Node {
  double cores = 0;
  double gpu_images_per_second = 0;

  // The text after a rate: how many GPUs the node can feed; empty without a node.
  std::string feeds(double images_per_second) const {
    if (cores <= 0) return "";
    const double needed = gpu_images_per_second / images_per_second;
    return fmt::format("   {:.0f} of them take {:.1f} cores: a node of {:.0f} feeds {:.0f} GPUs", gpu_images_per_second,
                       needed, cores, std::floor(cores / needed));
  }
};

struct Case {
  std::string what, path;
  AugmentationSpec augmentation;
  double goal = 0;  ///< images/s
};

void measure(const Case& c, const Node& node, ops::Backend& backend) {
  const io::Dataset dataset(c.path, "data.train");
  const Sampler sampler({.num_samples = kNumSamples, .seed = 1});
  const ImagePath path(
      dataset,
      Augmenter(dataset.info().image, c.augmentation, dataset.info().channel_mean, dataset.info().channel_stddev),
      kBatch, DataType::kFloat32);
  const TensorSpec& image = path.features().front().spec;
  LoaderSpec spec;
  spec.batch_global = spec.batch_micro = kBatch;
  spec.num_micro_batches = 1;
  spec.steps_per_epoch = kNumSamples / kBatch;
  spec.features = {{.name = features::kImage, .spec = image}};
  const Buffer x(backend.device(), image.bytes());
  const auto seconds_of = [&](std::int64_t num_steps) {
    spec.num_steps = num_steps;
    const double start = processor_seconds();
    Loader loader(path, sampler, backend, spec);
    for (std::int64_t step = 0; step < num_steps; ++step) {
      loader.begin_step();
      loader.load(features::kImage, 0, x.data());
    }
    return processor_seconds() - start;
  };
  const double trial = seconds_of(spec.steps_per_epoch);
  const std::int64_t num_steps = spec.steps_per_epoch * std::max<std::int64_t>(1, std::llround(2.0 / trial));
  const double rate = static_cast<double>(num_steps * kBatch) / seconds_of(num_steps);
  fmt::print("{:<52}{:>8.0f} images/s per core{}{}\n", c.what, rate,
             c.goal > 0 ? fmt::format("   goal {:.0f}", c.goal) : "", node.feeds(rate));
}

/// Measures the bound of a case: the rate of libjpeg-turbo alone for the same parts of the same files.
void measure_decoding(const Case& c) {
  const io::Dataset dataset(c.path, "data.train");
  const Augmenter augmenter(dataset.info().image, c.augmentation, dataset.info().channel_mean,
                            dataset.info().channel_stddev);
  ImageDecoder decoder;
  Resampler resampler;
  std::vector<std::byte> file;
  std::int64_t num_images = 0;
  const double start = processor_seconds();
  for (std::int64_t epoch = 0; processor_seconds() - start < 2; ++epoch) {
    for (std::int64_t sample = 0; sample < kNumSamples; ++sample, ++num_images) {
      const auto bytes = dataset.read_file(sample, file);
      const ImageHeader header = decoder.read_header(bytes);
      const ImageShape shape{header.h, header.w, 3};
      const Region region =
          random_resized_crop(shape, c.augmentation.params.scale, augmenter.key(Purpose::kResizedCrop, epoch, sample));
      decoder.decode(bytes,
                     {.channels = 3, .window = resampler.plan(shape, grid_over(region, kSize, kSize), kSize, kSize)});
    }
  }
  fmt::print("{:<52}{:>8.0f} images/s per core\n", c.what,
             static_cast<double>(num_images) / (processor_seconds() - start));
}

/// Measures rows of numbers, which cost less than anything that is done for each of them.
void measure_rows(const std::string& what, const std::string& path, std::int64_t num_samples,
                  const AugmentParams& augment, ops::Backend& backend) {
  constexpr std::int64_t kRows = 128, kColumns = 32;
  io::DatasetInfo info{.kind = input_kinds::kArrays,
                       .num_samples = num_samples,
                       .class_names = {"any"},
                       .class_counts = {num_samples},
                       .arrays = {{.name = "values", .dims = {kColumns}}}};
  info.arrays.front().mean = info.arrays.front().stddev = std::vector<double>(kColumns, 0.5);
  io::ShardWriter writer({path, 0, 1}, info);
  std::vector<float> row(kColumns);
  for (std::int64_t i = 0; i < num_samples; ++i) {
    std::ranges::fill(row, static_cast<float>(i));
    writer.append(std::as_bytes(std::span(row)), {.label = 0}, "");
  }
  writer.end_samples();
  writer.finish(info);
  writer.commit();
  const io::Dataset dataset(path, "data.train");
  const io::ModelMetadata metadata{.input = io::ArraysInput{.inputs = info.arrays}, .class_names = info.class_names};
  Parameters params{.batch = {.global = kRows, .micro = kRows}};
  params.augment = augment;
  const auto arrays = make_sample_path({.samples = dataset, .metadata = metadata, .params = params});
  const Sampler sampler({.num_samples = num_samples, .seed = 1});
  const TensorSpec spec{.shape = Shape::vectors(kRows, kColumns)};
  const Buffer x(backend.device(), spec.bytes());
  const std::int64_t steps_per_epoch = num_samples / kRows;
  const auto microseconds_of = [&](std::int64_t num_steps) {
    Loader loader(*arrays, sampler, backend,
                  {.batch_global = kRows,
                   .batch_micro = kRows,
                   .num_micro_batches = 1,
                   .num_steps = num_steps,
                   .steps_per_epoch = steps_per_epoch,
                   .features = {{.name = "values", .spec = spec}}});
    const double start = processor_seconds();
    for (std::int64_t step = 0; step < num_steps; ++step) {
      loader.begin_step();
      loader.load("values", 0, x.data());
    }
    return 1e6 * (processor_seconds() - start) / static_cast<double>(num_steps);
  };
  microseconds_of(steps_per_epoch);  // the first epoch reads the file and verifies each sample
  fmt::print("{:<52}{:>8.1f} us for {} rows of {} numbers\n", what, microseconds_of(5 * steps_per_epoch), kRows,
             kColumns);
}

}  // namespace

void run(const std::string& folder, const Node& node) {
  write_raw(folder + "/raw.h5", kSize);
  write_raw(folder + "/small.h5", 32);
  write_jpegs(folder);
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  const AugmentationSpec raw{.params = {.crop_padding = 8, .flip = true}};
  const AugmentationSpec jpeg{.params = {.crop = CropKind::kRandomResized, .flip = true}, .size = kSize};
  AugmentationSpec all = jpeg;
  all.params.brightness = all.params.contrast = all.params.saturation = 0.4;
  all.params.cutout = 32;
  const AugmentationSpec centre{.size = kSize, .short_side = 256};
  measure({"raw 224 x 224: crop, flip, normalise", folder + "/raw.h5", raw, 5000}, node, *backend);
  measure({"raw 32 x 32: the same", folder + "/small.h5", raw}, node, *backend);
  measure({"JPEG 500 x 400: random_resized to 224, flip", folder + "/jpeg.h5", jpeg, 600}, node, *backend);
  measure_decoding({"of which libjpeg-turbo alone", folder + "/jpeg.h5", jpeg});
  measure({"the same, colours and cutout", folder + "/jpeg.h5", all}, node, *backend);
  measure({"JPEG 500 x 400: centre, as evaluation does", folder + "/jpeg.h5", centre}, node, *backend);
  measure_rows("arrays in memory", folder + "/rows.h5", 200'000, {}, *backend);
  measure_rows("arrays in memory, with noise", folder + "/rows.h5", 200'000, {.noise = 0.1}, *backend);
  measure_rows("arrays that are read sample by sample", folder + "/many_rows.h5", 600'000, {}, *backend);
}

}  // namespace convoy::bench

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    fmt::print(stderr, "usage: bench_loader FOLDER [CORES IMAGES_PER_SECOND]\n");
    return 2;
  }
  convoy::bench::Node node;
  if (argc == 4) node = {.cores = std::atof(argv[2]), .gpu_images_per_second = std::atof(argv[3])};
  convoy::bench::run(argv[1], node);
  return 0;
}
