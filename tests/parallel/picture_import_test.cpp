/// Folders of pictures become arrays with the numbers of their files: in folders of classes, or named by a table.
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/data/open_samples.h"
#include "convoy/params/data_parameters.h"

#include "parallel/array_import_fixture.h"
#include "unit/data/image_files.h"
#include "unit/data/picture_files.h"

namespace convoy {
namespace {

using test::make_deep_png;
using test::make_tiff_picture;
using test::Names;
using test::world;

class PictureImport : public test::ArrayImportTest {
 protected:
  PictureImport() { params_.format = ImportFormat::kArrays; }

  static std::vector<std::uint16_t> numbers(int picture) {
    std::vector<std::uint16_t> all;
    for (int i = 0; i < 4 * 3 * 2; ++i) all.push_back(static_cast<std::uint16_t>(60000 + 100 * picture + 7 * i));
    return all;
  }
  /// A picture (4,3,2) of 16 bits.
  void write_picture(const std::string& name, int picture) const {
    const std::vector<std::uint16_t> values = numbers(picture);
    const auto file = name.ends_with(".png")
                          ? make_deep_png(4, 3, 2, values)
                          : make_tiff_picture({.h = 4, .w = 3, .channels = 2}, std::as_bytes(std::span(values)));
    write(name, std::string(reinterpret_cast<const char*>(file.data()), file.size()));
  }
  static std::vector<std::uint16_t> numbers_of(const io::SampleStore& data, std::int64_t sample) {
    std::vector<std::byte> memory;
    const auto bytes = data.read_array(sample, 0, memory);
    std::vector<std::uint16_t> values(bytes.size() / 2);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

TEST_F(PictureImport, FoldersAreClassesAndSplits) {
  for (const std::string split : {"train", "test"})
    for (int i = 0; i < 8; ++i)
      write_picture(fmt::format("p/{}/{}/{}.{}", split, i % 2 == 0 ? "ant" : "bee", i, i % 3 == 0 ? "tif" : "png"), i);
  params_.source = root_ + "/p";
  params_.shards = 3;
  expect_same_files_by_one_rank();
  for (const std::string split : {"train", "test"}) {
    const io::Dataset data = open(split);
    EXPECT_EQ(io::describe_forms(data.info().arrays), "image uint16 (4, 3, 2)");
    EXPECT_EQ(data.info().class_names, (Names{"ant", "bee"}));
    ASSERT_EQ(data.info().num_samples, 8);
    EXPECT_EQ(data.name(0), "ant/0.tif");
    EXPECT_EQ(data.name(7), "bee/7.png");
    for (int i = 0; i < 8; ++i) {
      const int picture = i < 4 ? 2 * i : 2 * (i - 4) + 1;
      EXPECT_EQ(data.label(i), picture % 2);
      EXPECT_EQ(numbers_of(data, i), numbers(picture));
    }
  }
  on_root([&] { std::filesystem::remove_all(params_.output); });
  params_.source = root_ + "/p/train";  // folders of classes alone
  params_.val_fraction = 0.25;
  params_.shards = 2;
  expect_same_files_by_one_rank();
  EXPECT_EQ(open("val").info().class_counts, (std::vector<std::int64_t>{1, 1}));
  world().barrier();
}

TEST_F(PictureImport, ATableGivesTargetsByTheNamesOfPictures) {
  for (const int i : {3, 1, 0, 2, 4}) write_picture(fmt::format("p/{}.png", i), i);
  write("p/grades.csv", "grade,file,patient\n2.5,1.png,a\n0.5,3.png,b\n1.5,0.png,a\n4.5,2.png,c\n");
  params_.source = root_ + "/p";
  params_.target = "grades.csv:grade";
  params_.group = "grades.csv:patient";
  params_.shards = 2;
  expect_same_files_by_one_rank();
  const ImportSummary summary = import();
  if (world().rank() == 0) {
    EXPECT_CONTAINS(summary.notes[0], "its column 'file' names the pictures (import.id = ");
  }
  const io::Dataset data = open("train");
  ASSERT_EQ(data.info().num_samples, 4) << "4.png has no grade";
  EXPECT_EQ(data.info().class_names, (Names{"grade"}));
  const int pictures[] = {1, 3, 0, 2};
  const float grades[] = {2.5, 0.5, 1.5, 4.5};
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(data.name(i), fmt::format("{}.png", pictures[i]));
    EXPECT_EQ(numbers_of(data, i), numbers(pictures[i]));
    float grade = 0;
    data.read_target(i, {&grade, 1});
    EXPECT_EQ(grade, grades[i]);
  }
  world().barrier();
  params_.id = "grades.csv:file";
  EXPECT_EQ(import().splits[0].info.num_samples, 4);
  on_root([&] { std::filesystem::remove_all(params_.output); });
  params_.id = "";
  write("p/grades.csv", "grade,file\n2.5,1.png\n0.5,9.png\n");
  params_.group = "";
  EXPECT_CONTAINS(refusal(), "'9.png': ");
  write("p/grades.csv", "grade,number\n2.5,1\n0.5,2\n");
  EXPECT_CONTAINS(refusal(), "import.id is needed: ");
}

TEST_F(PictureImport, OfOtherFormsOrKeysIsRefusedByName) {
  for (const std::string name : {"ant/0.png", "ant/1.png", "bee/0.png"}) write_picture("p/" + name, 0);
  params_.source = root_ + "/p";
  const std::vector<std::uint16_t> values(4 * 3 * 3, 1);
  const auto other = make_deep_png(4, 3, 3, values);
  write("p/bee/1.png", std::string(reinterpret_cast<const char*>(other.data()), other.size()));
  EXPECT_CONTAINS(refusal(),
                  "'bee/1.png' is uint16 (4, 3, 3), but 'ant/0.png' is uint16 (4, 3, 2). All pictures need one size");
  write("p/bee/1.png", std::string(reinterpret_cast<const char*>(other.data()), other.size() / 2));
  EXPECT_CONTAINS(refusal(), "'bee/1.png': it ");
  write("p/bee/1.png", "no picture");
  EXPECT_CONTAINS(refusal(), "'bee/1.png': it is neither PNG nor TIFF");
  write_picture("p/bee/1.png", 1);
  params_.inputs = "x.npy";
  EXPECT_CONTAINS(refusal(), "import.inputs: a sample of ");
  params_.inputs = "";
  params_.axes = AxesKind::kChannelsFirst;
  EXPECT_CONTAINS(refusal(), "import.axes: pictures have rows, columns and channels");
  params_.axes = AxesKind::kAuto;
  params_.target_kind = TargetRequest::kNumbers;
  EXPECT_CONTAINS(refusal(), "import.target_kind: without import.target, the folders of pictures are their classes");
  params_.target_kind = TargetRequest::kAuto;
  params_.format = ImportFormat::kAuto;
  params_.target = "grade";
  EXPECT_CONTAINS(refusal(),
                  "A folder of pictures is imported with the numbers of its files by import.format = arrays");
}

TEST_F(PictureImport, APredictionReadsTheSamePicturesAndTheirFolders) {
  for (int i = 0; i < 5; ++i) write_picture(fmt::format("new/test/{}/{}.tif", i % 2 == 0 ? "bee" : "wasp", i), i);
  write_picture("new/5.png", 5);
  write("new/readme.txt", "not a picture");
  ArrayFileOptions options{.arrays = {{.name = "image", .type = ElementType::kUint16, .dims = {4, 3, 2}}},
                           .output_names = {"ant", "bee"}};
  const auto open = [&](const std::string& name) {
    return open_samples({.path = root_ + "/" + name, .key = "predict.data", .files = options}, world());
  };
  const OpenedSamples opened = open("new");
  const io::SampleStore& store = *opened.store;
  ASSERT_EQ(store.info().num_samples, 6);
  EXPECT_FALSE(opened.is_one_file);
  EXPECT_EQ(store.name(4), "test/wasp/1.tif");
  EXPECT_EQ(numbers_of(store, 4), numbers(1));
  EXPECT_EQ(store.info().class_names, (Names{"bee", "wasp"}));
  EXPECT_EQ(store.label(0), -1) << "5.png is in no folder";
  EXPECT_EQ(store.label(1), 0);
  EXPECT_EQ(store.label(4), 1);
  const OpenedSamples one = open("new/test/bee/2.tif");
  ASSERT_EQ(one.store->info().num_samples, 1);
  EXPECT_TRUE(one.is_one_file);
  EXPECT_EQ(one.store->name(0), "2.tif");
  EXPECT_EQ(numbers_of(*one.store, 0), numbers(2));
  EXPECT_TRUE(one.store->info().class_names.empty()) << "a file alone has no class";
  options.answer = {.kind = TargetKind::kNumbers};
  EXPECT_TRUE(open("new").store->info().class_names.empty()) << "folders are no numbers";
  EXPECT_FALSE(open("new/5.png").is_one_file) << "no classes can be printed";
  world().barrier();
}

}  // namespace
}  // namespace convoy
