/// Lists from folders and CIFAR's files: their order, and what is refused by name.
#include "data/images/image_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "convoy/base/error.h"

#include "data/class_folders.h"
#include "data/images/cifar_files.h"
#include "data/images/image_folder.h"
#include "unit/data/image_files.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::TemporaryDirectory;

void put(const std::string& path, const std::string& text = "x") {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::vector<std::string> names_of(const SourceSplit& split) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < split.size(); ++i) names.emplace_back(split.names[i]);
  return names;
}

using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

// --- Folders ---------------------------------------------------------------------------------------------------------

class ImageFolder : public testing::Test {
 protected:
  SourceListing list() const { return list_class_folders(directory_.path(), {}); }
  std::string refusal() const {
    return message_of<RequestError>([&] { list(); });
  }
  TemporaryDirectory directory_;
};

TEST_F(ImageFolder, WithSplitsIsListedByClassAndName) {
  for (const std::string file : {"trainset/b/2", "trainset/b/10", "trainset/a/sub/x", "trainset/a/c", "trainset/.x/y",
                                 "trainset/a/.hidden", "valset/b/7", "testset/a/1", "testset/b/1"}) {
    put(directory_ / file);
  }
  const SourceListing listing = list();
  EXPECT_EQ(listing.class_names, (Names{"a", "b"}));
  ASSERT_EQ(listing.splits.size(), 3u);
  EXPECT_EQ(listing.splits[0].name, "train");
  EXPECT_EQ(names_of(listing.splits[0]), (Names{"trainset/a/c", "trainset/a/sub/x", "trainset/b/10", "trainset/b/2"}));
  EXPECT_EQ(listing.splits[0].labels, (Labels{0, 0, 1, 1}));
  EXPECT_EQ(listing.splits[1].name, "val");
  EXPECT_EQ(listing.splits[1].labels, (Labels{1}));  // numbered by train's classes, though it has one class only
  EXPECT_EQ(listing.splits[2].name, "test");
}

TEST_F(ImageFolder, WithoutSplitsIsOneTrainEvenWithAClassOfThatName) {
  put(directory_ / "train/1");
  put(directory_ / "boat/1");
  const SourceListing listing = list();
  EXPECT_EQ(listing.class_names, (Names{"boat", "train"}));
  ASSERT_EQ(listing.splits.size(), 1u);
  EXPECT_EQ(names_of(listing.splits[0]), (Names{"boat/1", "train/1"}));
}

TEST_F(ImageFolder, ThatIsEmptyOrContradictsItselfIsRefused) {
  EXPECT_CONTAINS(refusal(), "holds no folders");
  put(directory_ / "test/a/1");
  EXPECT_CONTAINS(refusal(), "no split train");
  put(directory_ / "train/b/1");
  put(directory_ / "test/b/1");
  EXPECT_CONTAINS(refusal(), "test/a' is a class that train does not have. Train has 1: b");
  put(directory_ / "train/a/1");
  EXPECT_EQ(list().splits.size(), 2u);
  put(directory_ / "testing/a/1");
  EXPECT_CONTAINS(refusal(), "'test' and 'testing' both belong to split test");
  fs::remove_all(directory_ / "testing");
  fs::create_directories(directory_ / "train/c");
  EXPECT_CONTAINS(refusal(), "train/c' is empty");
}

TEST_F(ImageFolder, HasItsSplitsInAnyCase) {
  for (const std::string file : {"Train/b/1", "Train/a/1", "TESTING/a/1"}) put(directory_ / file);
  const SourceListing listing = list();
  EXPECT_EQ(listing.class_names, (Names{"a", "b"}));
  ASSERT_EQ(listing.splits.size(), 2u);
  EXPECT_EQ(names_of(listing.splits[0]), (Names{"Train/a/1", "Train/b/1"}));
  EXPECT_EQ(listing.splits[1].name, "test");
  put(directory_ / "train/a/1");
  EXPECT_CONTAINS(refusal(), "'Train' and 'train' both belong to split train");
}

TEST_F(ImageFolder, AboveOrBesideTheOneThatWasMeantIsRefused) {
  for (const std::string file : {"mini/Train/a/1", "mini/Train/b/1", "mini/test/a/1"}) put(directory_ / file);
  EXPECT_CONTAINS(refusal(), "'mini' would be a class, but it holds splits, for example 'mini/Train/a/1'");
  EXPECT_CONTAINS(refusal(), "Import '" + (directory_ / "mini'"));
  put(directory_ / "other/a/1");
  EXPECT_CONTAINS(refusal(), "'mini' would be a class");
  put(directory_ / "mini/1");  // with an image of its own it may be one
  EXPECT_EQ(list().class_names, (Names{"mini", "other"}));
}

TEST_F(ImageFolder, OfImagesInSplitsWithoutClassesIsRefused) {
  for (const std::string file : {"Test/1", "train/1"}) put(directory_ / file);
  EXPECT_CONTAINS(refusal(),
                  "would be the classes Test, train, but these are names of splits. Expected: [SPLIT/]CLASS/IMAGE");
  put(directory_ / "boat/1");
  EXPECT_EQ(list().class_names.size(), 3u);
}

TEST_F(ImageFolder, OfClassesThatBeginLikeOneSplitHasThem) {
  for (const std::string file : {"test_negative/1", "test_positive/1"}) put(directory_ / file);
  EXPECT_EQ(list().class_names, (Names{"test_negative", "test_positive"}));
  put(directory_ / "train/1");
  EXPECT_EQ(list().class_names.size(), 3u);
  for (const std::string file : {"train_a/x/1", "train_b/x/1"}) put(directory_ / file);
  EXPECT_CONTAINS(refusal(), "'train_a' and 'train_b' both belong to split train");
  EXPECT_CONTAINS(refusal(), "import.splits = false");
  EXPECT_EQ(list_class_folders(directory_.path(), {.has_splits = false}).class_names,
            (Names{"test_negative", "test_positive", "train", "train_a", "train_b"}));
}

TEST_F(ImageFolder, WhoseTestSplitHoldsOneFolderOfNoClassLeavesItOut) {
  for (const std::string file : {"train/a/1", "train/b/1", "test/unknown/1"}) put(directory_ / file);
  EXPECT_EQ(list().splits.size(), 1u);
  put(directory_ / "test/a/1");
  EXPECT_CONTAINS(refusal(), "test/unknown' is a class that train does not have. Train has 2: a, b");
}

TEST_F(ImageFolder, OfOneClassIsRefused) {
  put(directory_ / "mini/a/1");
  put(directory_ / "mini/b/1");
  EXPECT_CONTAINS(refusal(), "all its images would be of one class, 'mini' (for example 'mini/a/1')");
  fs::rename(directory_ / "mini", directory_ / "train");
  EXPECT_EQ(list().class_names, (Names{"a", "b"}));
  fs::remove_all(directory_ / "train/b");
  EXPECT_CONTAINS(refusal(), "all its images would be of one class, 'a' (for example 'train/a/1')");
}

TEST_F(ImageFolder, ImagesAreReadByContentAndBadOnesHaveAReason) {
  test::write_bytes(directory_ / "a/1.png", test::make_jpeg());
  test::write_bytes(directory_ / "a/2.jpg", test::make_png());
  put(directory_ / "a/3.jpg", "");
  put(directory_ / "a/4.jpg", "no image");
  put(directory_ / "b/1.jpg");
  FolderSource source(directory_.path(), list());
  const SourceSplit& split = source.listing().splits[0];
  ASSERT_EQ(split.size(), 5);
  EXPECT_EQ(source.read(split, 0, {}).shape, (ImageShape{24, 20, 3}));
  EXPECT_EQ(source.file().size(), test::make_jpeg().size());
  EXPECT_EQ(source.read(split, 1, {}).shape, (ImageShape{24, 20, 3}));
  EXPECT_EQ(message_of<Error>([&] { source.read(split, 2, {}); }), "it is empty");
  EXPECT_EQ(message_of<Error>([&] { source.read_header(split, 3); }), "it is neither a JPEG nor a PNG");
  fs::remove(directory_ / "a/4.jpg");
  EXPECT_CONTAINS(message_of<Error>([&] { source.read(split, 3, {}); }), "No such file");
}

TEST_F(ImageFolder, LinksAreFollowedButNotRoundInACircle) {
  const TemporaryDirectory elsewhere;
  for (const std::string file : {"c/1", "more/2", "more/deep/3"}) put(elsewhere / file);
  put(directory_ / "a/0");
  put(directory_ / "b/0");
  fs::create_directory_symlink(elsewhere / "c", directory_ / "c");
  fs::create_directory_symlink(elsewhere / "more", directory_ / "a/more");
  fs::create_symlink(elsewhere / "c/1", directory_ / "a/1");
  fs::create_directory_symlink("..", directory_ / "b/up");
  fs::create_directory_symlink(".", directory_ / "b/self");
  EXPECT_EQ(names_of(list().splits[0]),
            (Names{"a/0", "a/1", "a/more/2", "a/more/deep/3", "b/0", "b/self", "b/up", "c/1"}));
}

TEST_F(ImageFolder, AClassThatLeadsBackUpIsRefused) {
  for (const std::string file : {"train/a/0", "train/b/0", "test/a/0", "test/b/0"}) put(directory_ / file);
  for (const std::string link : {"self", "train/latest", "train/up"}) {
    const std::string target = link == "train/up" ? ".." : ".";
    fs::create_directory_symlink(target, directory_ / link);
    EXPECT_CONTAINS(refusal(), fmt::format("{}' is a link to '{}', a folder that contains the link itself. Remove it",
                                           link, target));
    fs::remove(directory_ / link);
  }
  EXPECT_EQ(list().splits.size(), 2U);
}

TEST_F(ImageFolder, WhatIsNoFileIsAmongTheImagesAsABadOne) {
  put(directory_ / "a/0");
  put(directory_ / "b/0");
  fs::create_symlink("nowhere", directory_ / "a/1");
  fs::create_directory_symlink(".", directory_ / "a/2");
  ASSERT_EQ(::mkfifo((directory_ / "a/3").c_str(), 0600), 0);
  FolderSource source(directory_.path(), list());
  const SourceSplit& split = source.listing().splits[0];
  ASSERT_EQ(names_of(split), (Names{"a/0", "a/1", "a/2", "a/3", "b/0"}));
  EXPECT_EQ(message_of<Error>([&] { source.read(split, 1, {}); }), "it is a link to 'nowhere', which does not exist");
  EXPECT_CONTAINS(message_of<Error>([&] { source.read(split, 2, {}); }), "a/2' is not a file");
  EXPECT_CONTAINS(message_of<Error>([&] { source.read_header(split, 3); }), "a/3' is not a file");
  fs::create_symlink("nowhere", directory_ / "c");
  EXPECT_CONTAINS(refusal(), "c' is a link to 'nowhere', which does not exist. Repair the link, or remove it");
}

TEST_F(ImageFolder, HeadersBehindMuchElseAreFound) {
  const std::vector<std::byte> jpeg = test::make_jpeg();
  std::vector<std::byte> padded(jpeg.begin(), jpeg.begin() + 2);
  for (int i = 0; i < 3; ++i) {  // application segments of 65535 bytes
    padded.insert(padded.end(), {std::byte{0xff}, std::byte{0xe5}, std::byte{0xff}, std::byte{0xff}});
    padded.insert(padded.end(), 65533, std::byte{7});
  }
  padded.insert(padded.end(), jpeg.begin() + 2, jpeg.end());
  test::write_bytes(directory_ / "a/1", padded);
  put(directory_ / "b/1");
  FolderSource source(directory_.path(), list());
  EXPECT_EQ(source.read_header(source.listing().splits[0], 0).h, 24);
}

// --- A validation split ----------------------------------------------------------------------------------------------

SourceListing made_listing() {
  SourceListing listing;
  listing.class_names = {"a", "b", "c"};
  SourceSplit& train = listing.splits.emplace_back();
  train.name = "train";
  const int counts[] = {100, 40, 1};
  std::int64_t source_id = 0;
  for (std::int32_t label = 0; label < 3; ++label) {
    for (int i = 0; i < counts[label]; ++i) train.add(fmt::format("{}/{}", label, i), label, source_id++);
  }
  return listing;
}

TEST(CutValidation, TakesItsShareOfEachClassAndKeepsTheOrder) {
  SourceListing listing = made_listing();
  const SplitCut cut = cut_validation(listing, 0.1, 7);
  EXPECT_EQ(cut.describe("import.val_fraction", 0.1, "val"),
            "import.val_fraction = 0.1: 14 of 141 samples of train go to split val (9.9 %); none from 1 class with "
            "only 1 sample");
  ASSERT_EQ(listing.splits.size(), 2u);
  const SourceSplit& train = listing.splits[0];
  const SourceSplit& val = listing.splits[1];
  EXPECT_EQ(val.name, "val");
  std::map<std::int32_t, int> counts;
  for (const std::int32_t label : val.labels) ++counts[label];
  EXPECT_EQ(counts, (std::map<std::int32_t, int>{{0, 10}, {1, 4}}));  // none from the single sample of class c
  EXPECT_EQ(train.size(), 141 - 14);
  std::set<std::int64_t> all;
  for (const SourceSplit& split : listing.splits) {
    EXPECT_TRUE(std::is_sorted(split.source_ids.begin(), split.source_ids.end()));
    all.insert(split.source_ids.begin(), split.source_ids.end());
  }
  EXPECT_EQ(all.size(), 141u);
}

TEST(CutValidation, IsTheSeedsAndNotTheRestOfTheListings) {
  SourceListing a = made_listing(), b = made_listing(), c = made_listing();
  cut_validation(a, 0.2, 7);
  cut_validation(b, 0.2, 8);
  EXPECT_NE(a.splits[1].source_ids, b.splits[1].source_ids);
  c.splits[0].add("1/more", 1, 999);  // another image in class b leaves a alone
  cut_validation(c, 0.2, 7);
  EXPECT_TRUE(
      std::equal(a.splits[1].source_ids.begin(), a.splits[1].source_ids.begin() + 20, c.splits[1].source_ids.begin()));
}

TEST(CutValidation, OfASourceThatHasOneIsRefused) {
  SourceListing listing = made_listing();
  listing.splits.emplace_back().name = "val";
  EXPECT_CONTAINS(message_of<RequestError>([&] { cut_validation(listing, 0.1, 1); }), "has a split val already");
}

// --- CIFAR -----------------------------------------------------------------------------------------------------------

/// Plane c, pixel p of record i: (i + 50 c + p) mod 256.
std::string cifar_records(int count, int label_bytes, int num_classes) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    if (label_bytes == 2) bytes.push_back(static_cast<char>(i % 20));
    bytes.push_back(static_cast<char>(i * 7 % num_classes));
    for (int c = 0; c < 3; ++c)
      for (int p = 0; p < 1024; ++p) bytes.push_back(static_cast<char>(i + 50 * c + p));
  }
  return bytes;
}

TEST(Cifar10, IsReadWithNamesAndBatchesInTheirOrder) {
  const TemporaryDirectory directory;
  for (const int batch : {1, 2, 10}) put(directory / fmt::format("data_batch_{}.bin", batch), cifar_records(3, 1, 10));
  put(directory / "test_batch.bin", cifar_records(2, 1, 10));
  put(directory / "batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  const auto source = open_cifar(directory.path());
  const SourceListing& listing = source->listing();
  EXPECT_EQ(listing.class_names.size(), 10u);
  EXPECT_EQ(listing.class_names[9], "j");
  ASSERT_EQ(listing.splits.size(), 2u);
  EXPECT_EQ(listing.splits[0].labels, (Labels{0, 7, 4, 0, 7, 4, 0, 7, 4}));
  EXPECT_EQ(listing.splits[0].names[8], "data_batch_10.bin:2");
  const ImageView image = source->read(listing.splits[1], 1, {});
  ASSERT_EQ(image.shape, (ImageShape{32, 32, 3}));
  for (int p = 0; p < 1024; ++p)
    for (int c = 0; c < 3; ++c) ASSERT_EQ(image.pixels[3 * p + c], (1 + 50 * c + p) % 256);
  EXPECT_EQ(source->read(listing.splits[0], 0, {.channels = 1}).shape, (ImageShape{32, 32, 1}));
}

TEST(Cifar, FilesThatAreMissingAreNamed) {
  using FileNames = std::vector<std::string>;
  const TemporaryDirectory directory;
  for (const int batch : {1, 2, 4}) put(directory / fmt::format("data_batch_{}.bin", batch), cifar_records(3, 1, 10));
  EXPECT_EQ(missing_cifar_files(directory.path()),
            (FileNames{"test_batch.bin", "data_batch_3.bin", "data_batch_5.bin"}));
  const TemporaryDirectory hundred;
  put(hundred / "train.bin", cifar_records(30, 2, 100));
  EXPECT_EQ(missing_cifar_files(hundred.path()), (FileNames{"test.bin"}));
  put(hundred / "test.bin", cifar_records(30, 2, 100));
  EXPECT_EQ(missing_cifar_files(hundred.path()), (FileNames{}));
}

TEST(Cifar100, TakesTheFineLabel) {
  const TemporaryDirectory directory;
  put(directory / "train.bin", cifar_records(30, 2, 100));
  const auto source = open_cifar(directory.path());
  ASSERT_EQ(source->listing().splits.size(), 1u);
  EXPECT_EQ(source->listing().splits[0].labels[29], 29 * 7 % 100);
  EXPECT_EQ(source->listing().class_names[42], "42");
}

TEST(Cifar, ThatIsCutOffOrDamagedIsRefused) {
  const TemporaryDirectory directory;
  const auto refusal = [&] { return message_of<RequestError>([&] { open_cifar(directory.path()); }); };
  EXPECT_CONTAINS(refusal(), "neither data_batch_1.bin (CIFAR-10) nor train.bin");
  const std::string records = cifar_records(2, 1, 10);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3072}, records.size() - 1}) {
    put(directory / "data_batch_1.bin", records.substr(0, size));
    EXPECT_CONTAINS(refusal(), "truncated");
  }
  std::string damaged = records;
  damaged[3073] = 10;
  put(directory / "data_batch_1.bin", damaged);
  EXPECT_CONTAINS(refusal(), "label 10 of its image record 1");
  put(directory / "data_batch_1.bin", records);
  put(directory / "batches.meta.txt", "a\nb\n");
  EXPECT_CONTAINS(refusal(), "names 2 classes, not 10");
}

}  // namespace
}  // namespace convoy
