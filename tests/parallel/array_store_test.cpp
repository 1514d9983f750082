/// Users' arrays and tables that are read without an import: on any number of ranks, each sample has the same values,
/// target and name.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/data/open_samples.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "unit/io/array_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::bytes_of_numbers;
using test::message_of;
using test::npy;
using test::world;

constexpr int kSamples = 50;

class ArrayStoreTest : public testing::Test {
 protected:
  // Writes a file on rank 0, and returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    std::string path = directory_ / name;
    if (world().rank() == 0) test::write_bytes(path, std::as_bytes(std::span(content)));
    world().barrier();
    return path;
  }
  // A table with columns in another order than the network reads them; line 2 is the first sample.
  std::string write_table(const std::string& odd_field = "0.5") const {
    std::string text = "id,gap,b,a,energy,kind\n";
    for (int i = 0; i < kSamples; ++i)
      text += fmt::format("s{},{},{},{},{},{}\n", i, -i, i == 7 ? odd_field : fmt::format("{}.5", i), 2 * i,
                          i == 3 ? "" : fmt::format("{}", 10 * i), i % 3 == 0 ? "cat" : "owl");
    return write("new.csv", text);
  }
  static ArrayFileOptions options(TargetKind kind = TargetKind::kNumbers) {
    return {.arrays = {{.name = "values", .dims = {2}, .channel_names = {"a", "b"}}},
            .answer = {.kind = kind},
            .output_names = {"energy", "gap"}};
  }
  static OpenedSamples open(const std::string& path, const ArrayFileOptions& options) {
    return open_samples({.path = path, .key = "predict.data", .files = options}, world());
  }
  static std::vector<float> values(const io::SampleStore& store, std::int64_t sample, std::size_t input = 0) {
    std::vector<std::byte> memory;
    const std::span<const std::byte> bytes = store.read_array(sample, input, memory);
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
  }
  static std::vector<float> target(const io::SampleStore& store, std::int64_t sample, std::size_t width) {
    std::vector<float> numbers(width);
    store.read_target(sample, numbers);
    return numbers;
  }

  test::SharedDirectory directory_;
};

using Floats = std::vector<float>;

TEST_F(ArrayStoreTest, ReadsATableByTheColumnsThatTheNetworkKnows) {
  ArrayFileOptions wanted = options();
  wanted.id = "id";
  const OpenedSamples opened = open(write_table(), wanted);
  const io::SampleStore& store = *opened.store;
  EXPECT_EQ(store.info().num_samples, kSamples);
  EXPECT_EQ(store.info().target.kind, TargetKind::kNumbers);
  EXPECT_TRUE(store.reads_in_order());
  for (const int i : {0, 49, 7, 8}) {
    const float b = i == 7 ? 0.5F : static_cast<float>(i) + 0.5F;
    EXPECT_EQ(values(store, i), (Floats{2.0F * static_cast<float>(i), b})) << i;
    EXPECT_EQ(target(store, i, 2), (Floats{10.0F * static_cast<float>(i), -static_cast<float>(i)})) << i;
    EXPECT_EQ(store.name(i), fmt::format("s{}", i));
  }
  EXPECT_TRUE(std::isnan(target(store, 3, 2)[0])) << "it is not known";
  EXPECT_EQ(target(store, 3, 2)[1], -3);
}

// Threads of a loader may ask in any order.
TEST_F(ArrayStoreTest, GivesTheSameValuesToThreads) {
  const OpenedSamples opened = open(write_table(), options());
  const io::SampleStore& store = *opened.store;
  std::vector<Floats> read(kSamples);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        for (int i = t; i < kSamples; i += 3) read[static_cast<std::size_t>(i)] = values(store, i);
      });
  }
  for (int i = 0; i < kSamples; ++i) EXPECT_EQ(read[static_cast<std::size_t>(i)][0], 2 * i);
}

TEST_F(ArrayStoreTest, ASampleWithABadValueIsNamedAndTheOthersAreRead) {
  for (const std::string bad : {"nan", "inf", ""}) {
    const OpenedSamples opened = open(write_table(bad), options());
    EXPECT_EQ(message_of<Error>([&] { values(*opened.store, 7); }), "its column 'b' is NaN or infinite (new.csv:9)")
        << bad;
    EXPECT_EQ(values(*opened.store, 8)[0], 16);
  }
  ArrayFileOptions filling = options();  // the loader turns a NaN into a mean
  filling.arrays[0].fills_missing = true;
  EXPECT_TRUE(std::isnan(values(*open(write_table(""), filling).store, 7)[1]));
  const OpenedSamples infinite = open(write_table("inf"), filling);
  EXPECT_EQ(message_of<Error>([&] { values(*infinite.store, 7); }), "its column 'b' is infinite (new.csv:9)");
  const OpenedSamples opened = open(write_table("much"), options());
  EXPECT_CONTAINS(message_of<Error>([&] { values(*opened.store, 7); }), "line 9, column 'b': 'much' is not a number");
}

TEST_F(ArrayStoreTest, ClassesAreFoundByTheirNames) {
  ArrayFileOptions wanted = options(TargetKind::kClass);
  wanted.output_names = {"ant", "cat"};
  EXPECT_TRUE(open(write_table(), wanted).store->info().class_names.empty()) << "no column is known to hold classes";
  wanted.answer.source = "absent";
  EXPECT_TRUE(open(write_table(), wanted).store->info().class_names.empty()) << "this table has no such column";
  ArrayFileOptions imported = wanted;
  wanted.target = "kind";
  imported.answer.source = "kind";
  for (const ArrayFileOptions& known : {wanted, imported}) {
    const OpenedSamples opened = open(write_table(), known);
    EXPECT_EQ(opened.store->label(0), 1);
    EXPECT_EQ(opened.store->label(1), ops::kNoLabel) << "the network does not know owls";
  }
}

TEST_F(ArrayStoreTest, LabelsAreColumnsOrLists) {
  std::string text = "a,b,rain,wind,both\n";
  for (int i = 0; i < 4; ++i)
    text += fmt::format("{0},{0},{1},{2},{3}\n", i, i & 1, i >> 1,
                        i == 0   ? ""
                        : i == 1 ? "rain"
                        : i == 2 ? "wind"
                                 : "wind|rain");
  const std::string path = write("labels.csv", text);
  ArrayFileOptions wanted = options(TargetKind::kLabels);
  wanted.output_names = {"rain", "wind"};
  for (const std::string where : {"", "rain|wind", "both"}) {
    wanted.target = where;
    const OpenedSamples opened = open(path, wanted);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(target(*opened.store, i, 2), (Floats{static_cast<float>(i & 1), static_cast<float>(i >> 1)}))
          << where << " " << i;
  }
}

// True values that import.target does not name do not stop a prediction.
TEST_F(ArrayStoreTest, TargetsThatAreFoundButCannotBeUsedAreLeftOut) {
  const std::string path = write("tags.csv", "a,b,tags\n1,2,rain\n3,4,rain|snow\n");
  ArrayFileOptions wanted = options(TargetKind::kLabels);
  wanted.output_names = {"rain", "wind"};
  wanted.answer.source = "tags";
  const OpenedSamples opened = open(path, wanted);
  EXPECT_TRUE(opened.store->info().class_names.empty()) << "the network does not know snow";
  EXPECT_TRUE(std::isnan(target(*opened.store, 0, 2)[0]));
  EXPECT_EQ(values(*opened.store, 1), (Floats{3, 4}));
  wanted.target = "tags";
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(path, wanted); }), "the label 'snow' is none of train: ");
  wanted.target = "";
  write("tags.csv", "a,b,tags\n1,2,rain\n3,4,rain|wind\n");
  EXPECT_EQ(target(*open(path, wanted).store, 1, 2), (Floats{1, 1}));
}

// The loader is ahead of the scores, so fields are read at two places in turn.
TEST_F(ArrayStoreTest, FieldsAreReadWhereverTheLoaderAndTheScoresAre) {
  Floats images(static_cast<std::size_t>(kSamples * 6 * 2)), fields(static_cast<std::size_t>(kSamples * 2 * 6));
  for (std::size_t i = 0; i < fields.size(); ++i) images[i] = 1, fields[i] = static_cast<float>(i);
  const std::string path = write("x.npy", npy({.shape = "(50, 2, 3, 2)"}, bytes_of_numbers(images)));
  write("y.npy", npy({.shape = "(50, 2, 2, 3)"}, bytes_of_numbers(fields)));
  ArrayFileOptions wanted{.arrays = {{.name = "image", .dims = {2, 3, 2}}},
                          .answer = {.kind = TargetKind::kNumbers,
                                     .shape = Shape::images(1, 2, 3, 2),
                                     .dims = {2, 3, 2},
                                     .channel_axis = ChannelAxis::kFirst},
                          .output_names = {"u", "v"},
                          .target = "y.npy",
                          .axes = AxesKind::kAuto};
  const OpenedSamples opened = open(path, wanted);
  const io::SampleStore& store = *opened.store;
  EXPECT_EQ(store.info().num_target_values(), 12);
  for (int i = 0; i < kSamples; ++i)
    for (const int sample : {i, std::max(0, i - 20)}) {
      const auto first = static_cast<float>(12 * sample);
      EXPECT_EQ(target(store, sample, 12),
                (Floats{first, first + 6, first + 1, first + 7, first + 2, first + 8, first + 3, first + 9, first + 4,
                        first + 10, first + 5, first + 11}));
    }
  EXPECT_EQ(values(store, 3), Floats(12, 1));
  wanted.answer.dims = {2, 2, 2};
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(path, wanted); }),
                  "y.npy' is (2, 3, 2) for each sample, with channels last, but the network answers (2, 2, 2)");
  wanted.answer.dims = {};
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(path, wanted); }), "but the network answers (2)");
  wanted.target = "";
  EXPECT_TRUE(open(path, wanted).store->info().class_names.empty()) << "no target is known";
}

TEST_F(ArrayStoreTest, SeveralArraysAreFoundByTheirNamesOrAsTheUserSays) {
  Floats images(static_cast<std::size_t>(2 * 3 * 4)), vectors = {1, 2, 3, 4, 5, 6};
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i);
  const std::string path = write("a.npz", "");
  if (world().rank() == 0)
    test::write_zip(path,
                    {{"pictures.npy", npy({.shape = "(2, 3, 2, 2)"}, bytes_of_numbers(images))},
                     {"position.npy", npy({.shape = "(2, 3)"}, bytes_of_numbers(vectors))}},
                    /*deflates=*/true);
  world().barrier();
  ArrayFileOptions wanted = options();
  wanted.arrays = {{.name = "position", .dims = {3}}, {.name = "image", .dims = {2, 2, 3}}};
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(path, wanted); }),
                  "has several arrays, and none is called 'image': pictures, position. Say which one is meant, as in "
                  "import.inputs = \"image: pictures\"");
  wanted.arrays.front() = {.name = "place", .dims = {3}};
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(path, wanted); }), "import.inputs = \"place: position\"");
  wanted.arrays.front().name = "position";
  wanted.inputs = "image: pictures";
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(path, wanted); }),
                  "import.inputs = image: pictures does not name 'position', which the network reads");
  wanted.inputs = "image: pictures, position: position";
  const OpenedSamples opened = open(path, wanted);
  EXPECT_EQ(values(*opened.store, 1, 0), (Floats{4, 5, 6}));
  EXPECT_EQ(values(*opened.store, 0, 1), (Floats{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11})) << "channels last";
  EXPECT_EQ(opened.store->name(1), "a.npz:1");
  EXPECT_TRUE(opened.store->info().class_names.empty()) << "no target is known";
}

TEST_F(ArrayStoreTest, ArraysAndTargetsAreFoundWhereTheImportedFileHadThem) {
  const std::string path = write("b.npz", "");
  const Floats patches(12, 1), classes = {1, 0};
  if (world().rank() == 0)
    test::write_zip(path,
                    {{"patches.npy", npy({.shape = "(2, 3, 2)"}, bytes_of_numbers(patches))},
                     {"image.npy", npy({.shape = "(2, 4)"}, bytes_of_numbers(Floats(8)))},
                     {"kind.npy", npy({.shape = "(2,)"}, bytes_of_numbers(classes))}},
                    /*deflates=*/true);
  world().barrier();
  ArrayFileOptions wanted{.arrays = {{.name = "image", .dims = {3, 2, 1}, .source = "patches"}},
                          .answer = {.source = "kind"},
                          .output_names = {"0", "1"}};
  const OpenedSamples opened = open(path, wanted);
  EXPECT_EQ(values(*opened.store, 1), (Floats{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(opened.store->label(0), 1);
  EXPECT_EQ(opened.store->label(1), 0);
  wanted.answer.source = "image";
  EXPECT_TRUE(open(path, wanted).store->info().class_names.empty()) << "four values are no class";
  wanted.arrays.front().name = "picture";
  wanted.arrays.front().source = "old/patches";
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(path, wanted); }),
                  "none is called 'old/patches' or 'picture': patches, image, kind. Say which one is meant, as in "
                  "import.inputs = \"picture: patches\"");
}

TEST_F(ArrayStoreTest, RefusesWhatDoesNotFitTheNetwork) {
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(directory_ / "absent.npy", options()); }), "absent.npy");
  ArrayFileOptions wanted = options();
  wanted.arrays = {{.name = "image", .dims = {2, 2, 1}}};
  const std::string path = write("x.npy", npy({.shape = "(2, 3, 2, 2)"}, std::string(96, '\0')));
  EXPECT_CONTAINS(
      message_of<RequestError>([&] { open(path, wanted); }),
      "x.npy', input 'image' of the network: a sample is (3, 2, 2), but the network reads (2, 2, 1), with channels "
      "last. "
      "No order of its axes gives that. Give samples of this shape, or say in import.inputs where they are");
  wanted.arrays = {{.name = "image", .dims = {2, 2, 2, 3}}};
  EXPECT_CONTAINS(message_of<RequestError>([&] { open(path, wanted); }),
                  "If the file holds a single sample, save it as x[None]");
  wanted = options();
  wanted.target = "gap";
  EXPECT_EQ(message_of<RequestError>([&] { open(write_table(), wanted); }),
            fmt::format("import.target: '{}', column 'gap' has 1 value for each sample, but 2 numbers were "
                        "expected: energy, gap",
                        directory_ / "new.csv"));
}

}  // namespace
}  // namespace convoy
