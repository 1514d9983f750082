/// The file of predictions, read as any HDF5 program reads it.
#include "convoy/io/predictions.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <hdf5.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"

#include "unit/io/temporary_directory.h"

namespace convoy::io {
namespace {

const PredictedSamples kSamples = {
    .class_names = {"cat", "giraffe"}, .names = {"a/1.png", "b/22.png", "c"}, .labels = {0, 1, -1}};
const std::vector<float> kLogits = {0.5f, -1.5f, 2.0f, 3.0f, -4.0f, 8.25f};

TEST(Predictions, AreReadByHdf5AsTheyWereGiven) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/p.h5";
  {
    PredictionsWriter writer(path, kSamples);
    writer.append(std::span(kLogits).first(4));
    writer.append(std::span(kLogits).subspan(4));
    writer.finish(kSamples);
    EXPECT_FALSE(std::filesystem::exists(path));
    writer.commit();
  }
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto read = [&](const char* name, hid_t type, void* values) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0) << name;
    H5Dclose(dataset);
  };
  std::vector<float> logits(6);
  std::vector<std::int32_t> labels(3);
  read("logits", H5T_NATIVE_FLOAT, logits.data());
  read("labels", H5T_NATIVE_INT32, labels.data());
  EXPECT_EQ(logits, kLogits);
  EXPECT_EQ(labels, kSamples.labels);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 8);  // the longest name
  H5Tset_strpad(text, H5T_STR_NULLPAD);
  H5Tset_cset(text, H5T_CSET_UTF8);
  std::string names(24, '?');
  read("names", text, names.data());
  EXPECT_EQ(names, std::string("a/1.png\0b/22.pngc\0\0\0\0\0\0\0", 24));
  H5Tclose(text);
  H5Fclose(file);
}

// Reads a data set of `count` values; all 0 if it is absent.
std::vector<float> read_floats(const std::string& path, const char* name, std::size_t count) {
  std::vector<float> values(count);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (H5Lexists(file, name, H5P_DEFAULT) > 0) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    EXPECT_EQ(H5Sget_simple_extent_npoints(H5Dget_space(dataset)), static_cast<hssize_t>(count));
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
    H5Dclose(dataset);
  }
  H5Fclose(file);
  return values;
}

TEST(Predictions, OfLabelsAndNumbersHaveTheTargetsThatAreKnown) {
  const test::TemporaryDirectory directory;
  for (const auto& [kind, name] : {std::pair{TargetKind::kLabels, "logits"}, {TargetKind::kNumbers, "outputs"}})
    for (const bool are_known : {true, false}) {
      const std::string path = directory / "p.h5";
      PredictedSamples samples{.kind = kind, .class_names = {"a", "b"}, .names = {"1", "2", "3"}, .labels = {}};
      if (are_known) samples.targets = {1, 0, 0, 1, 1, 1};
      PredictionsWriter writer(path, samples);
      writer.append(kLogits);
      writer.finish(samples);
      writer.commit();
      EXPECT_TRUE(is_predictions_file(path));
      EXPECT_EQ(read_floats(path, name, 6), kLogits);
      EXPECT_EQ(read_floats(path, "targets", 6), are_known ? samples.targets : std::vector<float>(6));
    }
}

TEST(Predictions, OfSomeSamplesAreAsIfTheOthersHadNeverBeenThere) {
  const test::TemporaryDirectory directory;
  PredictedSamples all_samples = kSamples;
  for (int i = 0; i < 3000; ++i) {  // the longest name, too
    all_samples.names.push_back("a/bad/one/" + std::to_string(i));
    all_samples.labels.push_back(1);
  }
  for (const auto& [name, from] : {std::pair{"all.h5", &kSamples}, {"some.h5", &all_samples}}) {
    PredictionsWriter writer(directory / name, *from);
    writer.append(kLogits);
    writer.finish(kSamples);
    writer.commit();
  }
  EXPECT_TRUE(read_file(directory / "all.h5") == read_file(directory / "some.h5"));
}

TEST(Predictions, LeaveNothingWhereLogitsAreMissing) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/p.h5";
  {
    PredictionsWriter writer(path, kSamples);
    writer.append(std::span(kLogits).first(4));
    EXPECT_THROW(writer.finish(kSamples), Error);
    EXPECT_THROW(writer.append(kLogits), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Predictions, AreToldFromOtherFiles) {
  const test::TemporaryDirectory directory;
  PredictedSamples samples{.class_names = {"cat", "giraffe"}, .names = {}, .labels = {}};
  for (int i = 0; i < 50000; ++i) {  // the head is long
    samples.names.push_back("a/" + std::to_string(i));
    samples.labels.push_back(-1);
  }
  PredictionsWriter writer(directory / "p.h5", samples);
  writer.append(std::vector<float>(samples.names.size() * 2));
  writer.finish(samples);
  writer.commit();
  EXPECT_TRUE(is_predictions_file(directory / "p.h5"));

  write_text_atomically(directory / "empty.h5", "");
  write_text_atomically(directory / "text.h5", "class_names names labels logits");
  const hid_t other = H5Fcreate((directory / "other.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(H5Gcreate2(other, "names", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose(other);
  for (const char* const name : {"empty.h5", "text.h5", "other.h5"})
    EXPECT_FALSE(is_predictions_file(directory / name)) << name;
  EXPECT_THROW(is_predictions_file(directory / "absent.h5"), Error);
}

}  // namespace
}  // namespace convoy::io
