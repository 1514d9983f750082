/// Checkpoints are read back unchanged, or refused with a reason; no damaged byte reaches HDF5.
#include "convoy/io/checkpoint.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include <gtest/gtest.h>
#include <malloc.h>

#include "convoy/base/error.h"
#include "convoy/base/version.h"
#include "convoy/io/atomic_file.h"

#include "io/hash.h"
#include "io/hdf5.h"
#include "io/little_endian.h"
#include "unit/io/array_samples.h"
#include "unit/io/checkpoint_samples.h"
#include "unit/io/same_bits.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

using test::expect_same_bits;
using test::make_checkpoint;
using test::make_tensor;
using test::message_of;
using test::TemporaryDirectory;

constexpr std::size_t kTrailerBytes = 32;

void expect_equal(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.state.step, b.state.step);
  EXPECT_EQ(a.state.samples, b.state.samples);
  EXPECT_EQ(a.state.seed, b.state.seed);
  EXPECT_EQ(a.state.batch_global, b.state.batch_global);
  EXPECT_EQ(a.state.batch_micro, b.state.batch_micro);
  EXPECT_EQ(a.state.num_samples, b.state.num_samples);
  EXPECT_EQ(a.state.evaluated_step, b.state.evaluated_step);
  EXPECT_EQ(a.state.loss_scale, b.state.loss_scale);
  EXPECT_EQ(a.state.loss_scale_steps, b.state.loss_scale_steps);
  EXPECT_EQ(a.state.metric, b.state.metric);
  EXPECT_EQ(a.state.best_value, b.state.best_value);
  EXPECT_EQ(a.state.best_step, b.state.best_step);
  EXPECT_TRUE(a.state.best_loss == b.state.best_loss ||
              (std::isnan(a.state.best_loss) && std::isnan(b.state.best_loss)));
  EXPECT_EQ(a.state.improved_step, b.state.improved_step);
  EXPECT_EQ(a.state.train_hash, b.state.train_hash);
  EXPECT_EQ(a.state.metric_hash, b.state.metric_hash);
  EXPECT_EQ(a.state.updates, b.state.updates);
  EXPECT_EQ(a.state.epoch, b.state.epoch);
  EXPECT_EQ(a.state.loss_average, b.state.loss_average);
  EXPECT_EQ(a.state.loss_lowest, b.state.loss_lowest);
  EXPECT_EQ(a.state.loss_left_step, b.state.loss_left_step);
  EXPECT_EQ(a.state.bad_steps, b.state.bad_steps);
  EXPECT_EQ(a.state.bad_steps_in_row, b.state.bad_steps_in_row);
  EXPECT_EQ(a.state.rollbacks, b.state.rollbacks);
  EXPECT_EQ(a.state.rate_factor, b.state.rate_factor);
  EXPECT_EQ(a.metadata.name, b.metadata.name);
  EXPECT_TRUE(a.metadata.input == b.metadata.input);
  EXPECT_EQ(a.metadata.class_names, b.metadata.class_names);
  EXPECT_EQ(a.metadata.target, b.metadata.target);
  EXPECT_EQ(a.parameters, b.parameters);
  expect_same_bits(a.model, b.model);
  expect_same_bits(a.ema, b.ema);
  EXPECT_EQ(a.counters, b.counters);
  ASSERT_EQ(a.optimizer.size(), b.optimizer.size());
  for (const auto& [state, tensors] : a.optimizer) expect_same_bits(tensors, b.optimizer.at(state));
}

/// An HDF5 image made by `fill`, with a trailer that is right.
template <typename Fill>
std::vector<std::byte> sealed_image(const Fill& fill) {
  std::vector<std::byte> bytes;
  std::size_t size = 0;
  {
    const hdf5::File file = hdf5::create_in_memory(bytes);
    fill(file);
    size = hdf5::flushed_size(file);
  }
  bytes.resize(size + kTrailerBytes);
  const auto trailer = std::span<std::byte>(bytes).last<kTrailerBytes>();
  std::memcpy(trailer.data(), "CONVOYCK", 8);
  put_u64(trailer.subspan<8, 8>(), size);
  const Hash hash = hash_of(std::span<std::byte>(bytes).first(size));
  std::copy(hash.begin(), hash.end(), trailer.begin() + 16);
  return bytes;
}

/// The bytes of a checkpoint whose /model is made by `fill`.
template <typename Fill>
std::vector<std::byte> with_model(const Fill& fill) {
  return sealed_image([&](hid_t file) {
    hdf5::write_attribute(file, "format", std::int64_t{2});
    const std::string text = "x";
    hdf5::write_texts(file, "parameters", {&text, 1});
    const hdf5::Group metadata = hdf5::create_group(file, "card");
    for (const char* name : {"name", "class_names"}) hdf5::write_texts(metadata, name, {&text, 1});
    for (const char* name : {"rows", "columns", "channels", "resizes", "short_side", "normalizes"})
      hdf5::write_attribute(metadata, name, std::int64_t{1});
    for (const char* name : {"channel_mean", "channel_deviation"}) hdf5::write_attribute(metadata, name, 0.5);
    const hdf5::Group state = hdf5::create_group(file, "state");
    for (const char* name : {"step", "samples", "seed", "batch_global", "batch_micro", "num_samples", "evaluated_step",
                             "best_step", "updates", "loss_scale_steps", "epoch_num_correct", "epoch_num_samples"}) {
      hdf5::write_attribute(state, name, std::int64_t{0});
    }
    for (const char* name : {"best_metric", "epoch_loss_sum"}) hdf5::write_attribute(state, name, 0.0);
    hdf5::write_attribute(state, "loss_scale", 1.0);
    hdf5::create_group(file, "optimizer");
    fill(hdf5::create_group(file, "model"));
  });
}

// Version 0.9.0 wrote such files: it knew no other metric.
TEST(Checkpoint, WithoutTheNameOfAMetricIsOfTop1) {
  EXPECT_EQ(decode_checkpoint(with_model([](hid_t) {}), "x").state.metric, "top1");
}

TEST(Checkpoint, TheNameOfAMetricMayBeOneOfALaterVersionButNotAnyText) {
  Checkpoint checkpoint = make_checkpoint();
  checkpoint.state.metric = "mean_average_precision";
  EXPECT_EQ(decode_checkpoint(encode_checkpoint(checkpoint), "x").state.metric, "mean_average_precision");
  checkpoint.state.metric = "\033[2J";
  EXPECT_CONTAINS(message_of<Error>([&] { decode_checkpoint(encode_checkpoint(checkpoint), "x"); }),
                  "its best value has no valid name of a metric");
}

TEST(Checkpoint, ComesBackToTheLastBit) {
  Checkpoint checkpoint = make_checkpoint();
  checkpoint.state.metric = "macro_f1";
  checkpoint.state.samples = std::numeric_limits<std::int64_t>::max();
  checkpoint.state.best_value = 0.1 + 0.2;
  checkpoint.model[0].values = std::vector<float>(8 * 27, -0.0f);
  checkpoint.model[0].values[1] = std::bit_cast<float>(0x7fc01234u);  // a NaN with a payload
  checkpoint.model[0].values[2] = std::numeric_limits<float>::denorm_min();
  checkpoint.model[0].values[3] = -std::numeric_limits<float>::infinity();
  checkpoint.model.push_back(make_tensor("scalar", {}, 4));
  checkpoint.model.push_back(make_tensor("zero_sized", {3, 0, 2}, 4));
  expect_equal(decode_checkpoint(encode_checkpoint(checkpoint), "x"), checkpoint);
}

TEST(Checkpoint, OfHundredsOfTensorsAndWithoutAnyComesBack) {
  Checkpoint checkpoint;
  checkpoint.metadata = make_checkpoint().metadata;
  expect_equal(decode_checkpoint(encode_checkpoint(checkpoint), "x"), checkpoint);
  for (int i = 0; i < 700; ++i)
    checkpoint.model.push_back(make_tensor(fmt::format("layer{:03}.weight", i), {i % 7 + 1, 3}, 1));
  checkpoint.optimizer["momentum"] = checkpoint.model;
  expect_equal(decode_checkpoint(encode_checkpoint(checkpoint), "x"), checkpoint);
}

TEST(Checkpoint, SameContentGivesTheSameBytesWhateverWasInMemoryAndInWhichOrder) {
  Checkpoint checkpoint = make_checkpoint();
  mallopt(M_PERTURB, 0x55);  // malloc fills new memory with this pattern
  const auto first = encode_checkpoint(checkpoint);
  mallopt(M_PERTURB, 0xAA);
  std::reverse(checkpoint.model.begin(), checkpoint.model.end());
  const auto second = encode_checkpoint(checkpoint);
  mallopt(M_PERTURB, 0);
  EXPECT_TRUE(first == second);
  checkpoint.model[0].values[0] += 1;
  EXPECT_FALSE(first == encode_checkpoint(checkpoint));
}

TEST(Checkpoint, EveryFlippedByteIsRefusedWithAReason) {
  std::vector<std::byte> bytes = encode_checkpoint(make_checkpoint());
  const std::size_t image_bytes = bytes.size() - kTrailerBytes;
  for (std::size_t i = 0; i < bytes.size(); i += i < image_bytes - 97 ? 97 : 1) {
    for (const auto flip : {std::byte{0x01}, std::byte{0x80}}) {
      bytes[i] ^= flip;
      const auto damage = find_damage(bytes);
      EXPECT_TRUE(damage && !damage->empty()) << "byte " << i;
      EXPECT_NE(message_of<Error>([&] { decode_checkpoint(bytes, "a.h5"); }).find("a.h5"), std::string::npos) << i;
      bytes[i] ^= flip;
    }
  }
  EXPECT_FALSE(find_damage(bytes));
}

TEST(Checkpoint, EveryTruncationIsRefusedWithAReason) {
  const std::vector<std::byte> bytes = encode_checkpoint(make_checkpoint());
  for (std::size_t size = 0; size < bytes.size(); size += size < bytes.size() - 100 ? 13 : 1) {
    const auto part = std::span(bytes).first(size);
    EXPECT_TRUE(find_damage(part)) << size;
    EXPECT_THROW(decode_checkpoint(part, "x"), Error) << size;
  }
}

TEST(Checkpoint, RefusalsNameTheCause) {
  std::vector<std::byte> bytes = encode_checkpoint(make_checkpoint());
  EXPECT_NE(find_damage(std::span(bytes).first(20))->find("too short"), std::string::npos);
  EXPECT_NE(find_damage(std::span(bytes).first(500))->find("truncated"), std::string::npos);
  bytes[1000] ^= std::byte{1};
  EXPECT_NE(find_damage(bytes)->find("hash"), std::string::npos);
  EXPECT_NE(find_damage(std::vector<std::byte>(1000))->find("not a checkpoint"), std::string::npos);
}

TEST(Checkpoint, AHugeFileIsRefusedByItsLastBytesAlone) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.h5";
  const auto refusal = [&] { return message_of<Error>([&] { read_checkpoint_file(path); }); };
  const std::vector<std::byte> whole = encode_checkpoint(make_checkpoint());
  write_file_atomically(path, whole);
  EXPECT_EQ(read_checkpoint_file(path), whole);
  constexpr std::uintmax_t kHuge = std::uintmax_t{1} << 43;  // sparse: more than any memory
  std::filesystem::resize_file(path, kHuge);
  EXPECT_NE(refusal().find("its last 32 bytes are not those of a checkpoint"), std::string::npos) << refusal();
  // A small checkpoint's trailer after all these zeros, then one with the file's real size.
  std::vector<std::byte> trailer(whole.end() - kTrailerBytes, whole.end());
  const auto end_with = [&] {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(kHuge - kTrailerBytes));
    file.write(reinterpret_cast<const char*>(trailer.data()), kTrailerBytes);
  };
  end_with();
  EXPECT_NE(refusal().find("bytes, but the size stored at its end is"), std::string::npos) << refusal();
  put_u64(std::span(trailer).subspan<8, 8>(), kHuge - kTrailerBytes);
  end_with();
  EXPECT_NE(refusal().find("of memory"), std::string::npos) << refusal();
}

TEST(Checkpoint, RightHashOverWrongContentIsRefusedByName) {
  const auto message = [](const std::vector<std::byte>& bytes) {
    return message_of<Error>([&] { decode_checkpoint(bytes, "a.h5"); });
  };
  EXPECT_NE(message(sealed_image([](hid_t) {})).find("no attribute 'format'"), std::string::npos);
  const std::int64_t dim = 3;
  const auto of_doubles = with_model([&](hid_t model) { hdf5::create_array(model, "w", H5T_IEEE_F64LE, {&dim, 1}); });
  EXPECT_NE(message(of_doubles).find("'w' is of another type"), std::string::npos);
  // No data was written, so the file is small: the claim alone must not take 4 * 2^62 bytes of memory.
  const std::int64_t dims[] = {std::int64_t{1} << 31, std::int64_t{1} << 29};
  const auto of_too_much = with_model([&](hid_t model) { hdf5::create_array(model, "w", H5T_IEEE_F32LE, dims); });
  EXPECT_NE(message(of_too_much).find("'w' claims more bytes than"), std::string::npos);
  const auto chunked = with_model([&](hid_t model) {
    const hdf5::PropertyList creation(CONVOY_CHECK_HDF5(H5Pcreate(H5P_DATASET_CREATE)));
    const hsize_t extent = 4;
    CONVOY_CHECK_HDF5(H5Pset_chunk(creation, 1, &extent));
    const hdf5::Dataspace space(CONVOY_CHECK_HDF5(H5Screate_simple(1, &extent, nullptr)));
    hdf5::Dataset(CONVOY_CHECK_HDF5(H5Dcreate2(model, "w", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
  });
  EXPECT_NE(message(chunked).find("'w' is not contiguous"), std::string::npos);
  expect_equal(decode_checkpoint(with_model([](hid_t) {}), "x"), [] {
    Checkpoint empty;
    empty.metadata = {.name = "x",
                      .input = ImageInput{.shape = {1, 1, 1},
                                          .resizes = true,
                                          .short_side = 1,
                                          .normalizes = true,
                                          .channel_mean = {0.5},
                                          .channel_stddev = {0.5}},
                      .class_names = {"x"}};
    empty.parameters = "x";
    return empty;
  }());
}

TEST(Checkpoint, AClaimOfOneHugeTextTakesNoMemoryAndIsRefused) {
  const auto bytes = sealed_image([](hid_t file) {
    hdf5::write_attribute(file, "format", std::int64_t{2});
    hdf5::create_array(file, "parameters", hdf5::text_type(std::size_t{1} << 31),
                       {});  // a scalar that is never written
  });
  EXPECT_CONTAINS(message_of<Error>([&] { decode_checkpoint(bytes, "a.h5"); }), "'parameters' claims more bytes than");
}

TEST(Checkpoint, ValuesInAnotherFileAreRefusedAndNotRead) {
  const auto bytes = with_model([](hid_t model) {
    const hdf5::PropertyList creation(CONVOY_CHECK_HDF5(H5Pcreate(H5P_DATASET_CREATE)));
    CONVOY_CHECK_HDF5(H5Pset_external(creation, "/dev/zero", 0, H5F_UNLIMITED));
    const hsize_t extent = 4;
    const hdf5::Dataspace space(CONVOY_CHECK_HDF5(H5Screate_simple(1, &extent, nullptr)));
    hdf5::Dataset(CONVOY_CHECK_HDF5(H5Dcreate2(model, "w", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
  });
  EXPECT_CONTAINS(message_of<Error>([&] { decode_checkpoint(bytes, "a.h5"); }),
                  "the values of its 'w' are in another file");
}

TEST(Checkpoint, ATensorWithoutAnyValueOrShapeIsRefused) {
  const auto bytes = with_model([](hid_t model) {
    const hdf5::Dataspace space(CONVOY_CHECK_HDF5(H5Screate(H5S_NULL)));
    hdf5::Dataset(
        CONVOY_CHECK_HDF5(H5Dcreate2(model, "w", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
  });
  EXPECT_CONTAINS(message_of<Error>([&] { decode_checkpoint(bytes, "a.h5"); }), "its 'w' has no values");
}

TEST(Checkpoint, SaysWhichConvoyWroteIt) {
  Checkpoint copied = make_checkpoint();
  copied.written_by = "convoy 0.0.1";
  EXPECT_EQ(decode_checkpoint(encode_checkpoint(copied), "a.h5").written_by, fmt::format("convoy {}", version()));
}

TEST(Checkpoint, ThatDoesNotKnowItsDataOrWriterIsOfAnOlderVersionAndRead) {
  const Checkpoint checkpoint = decode_checkpoint(with_model([](hid_t) {}), "a.h5");
  EXPECT_EQ(checkpoint.written_by, "");
  const TrainingState& state = checkpoint.state;
  EXPECT_EQ(state.train_hash, 0);
  EXPECT_EQ(state.metric_hash, 0);
}

TEST(Checkpoint, ThatDoesNotSayItsKindOfInputIsOfImages) {
  EXPECT_STREQ(decode_checkpoint(with_model([](hid_t) {}), "a.h5").metadata.kind(), "images");
}

TEST(Checkpoint, OfANetworkOfTextsKeepsItsVocabulary) {
  Checkpoint checkpoint = make_checkpoint();
  const std::string model("good\nbad\n\0binary", 16);
  checkpoint.metadata.input =
      TextInput{.length = 256, .tokenization = {.kind = "words", .model = model, .vocabulary = 20'000}};
  expect_equal(decode_checkpoint(encode_checkpoint(checkpoint), "a.h5"), checkpoint);  // no columns, as in older files
  std::get<TextInput>(checkpoint.metadata.input).columns = {.text = "review", .label = "stars"};
  expect_equal(decode_checkpoint(encode_checkpoint(checkpoint), "a.h5"), checkpoint);
  EXPECT_EQ(checkpoint.metadata.shape(), InputShape(TextShape{.length = 256, .vocabulary = 20'000}));
}

TEST(Checkpoint, OfANetworkOfArraysKeepsTheirFormsStatisticsAndTargets) {
  for (const TargetKind kind : {TargetKind::kClass, TargetKind::kLabels, TargetKind::kNumbers}) {
    const DatasetInfo data = test::arrays_info(kind);
    Checkpoint checkpoint = make_checkpoint();
    checkpoint.metadata.input = ArraysInput{.inputs = data.arrays, .normalizes = kind == TargetKind::kLabels};
    checkpoint.metadata.target = data.target;
    checkpoint.metadata.network = "[]";
    const std::vector<std::byte> bytes = encode_checkpoint(checkpoint);
    EXPECT_EQ(bytes, encode_checkpoint(checkpoint));
    const Checkpoint read = decode_checkpoint(bytes, "a.h5");
    expect_equal(read, checkpoint);
    EXPECT_STREQ(read.metadata.kind(), "arrays");
    EXPECT_EQ(to_string(read.metadata.shape()), "a (2), b (3, 2), c (1, 2, 3)");
    EXPECT_EQ(message_of<RequestError>([&] { read.metadata.image(); }),
              "the network resnet20 reads arrays, and not images");
  }
}

TEST(Checkpoint, OfANetworkThatAnswersAFieldKeepsItsForm) {
  for (const ChannelAxis axis : {ChannelAxis::kLast, ChannelAxis::kFirst, ChannelAxis::kNone}) {
    DatasetInfo data = test::field_info({2, 4, 3}, Shape::images(1, 2, 4, 3));
    data.target.channel_axis = axis;
    Checkpoint checkpoint = make_checkpoint();
    checkpoint.metadata.input = ArraysInput{.inputs = data.arrays};
    checkpoint.metadata.target = data.target;
    checkpoint.metadata.class_names = data.class_names;
    checkpoint.metadata.network = "[]";
    const Checkpoint read = decode_checkpoint(encode_checkpoint(checkpoint), "a.h5");
    expect_equal(read, checkpoint);
    EXPECT_EQ(read.metadata.target, data.target);
  }
}

TEST(Checkpoint, WhoseSampleIsNoTypeOfARecordIsRefused) {
  const auto refusal = [](const std::function<void(hid_t card)>& add_sample) {
    const auto bytes = sealed_image([&](hid_t file) {
      hdf5::write_attribute(file, "format", std::int64_t{2});
      const std::string text = "x";
      hdf5::write_texts(file, "parameters", {&text, 1});
      const hdf5::Group card = hdf5::create_group(file, "card");
      hdf5::write_texts(card, "name", {&text, 1});
      hdf5::write_kind(card, "arrays");
      add_sample(card);
    });
    return message_of<Error>([&] { decode_checkpoint(bytes, "a.h5"); });
  };
  EXPECT_CONTAINS(refusal([](hid_t) {}), "checkpoint 'a.h5': it has no 'sample'");
  EXPECT_CONTAINS(refusal([](hid_t card) { hdf5::create_group(card, "sample"); }), "checkpoint 'a.h5': HDF5: ");
  EXPECT_CONTAINS(refusal([](hid_t card) { hdf5::commit(card, "sample", hdf5::text_type(8)); }),
                  "its samples are not records of arrays");
}

TEST(Checkpoint, OfAnotherKindOfInputIsRefusedWithTheFileAndBothKinds) {
  const auto bytes = sealed_image([](hid_t file) {
    hdf5::write_attribute(file, "format", std::int64_t{2});
    const std::string text = "x";
    hdf5::write_texts(file, "parameters", {&text, 1});
    const hdf5::Group metadata = hdf5::create_group(file, "card");
    hdf5::write_texts(metadata, "name", {&text, 1});
    hdf5::write_kind(metadata, "sounds");
  });
  EXPECT_EQ(message_of<RequestError>([&] { decode_checkpoint(bytes, "a.h5"); }),
            "checkpoint 'a.h5': its network reads sounds, but this program reads only images, text, arrays");
}

TEST(Checkpoint, OfAnotherFormatIsRefusedInOneLineThatSaysWhatToDo) {
  for (const std::int64_t format : {1, 3}) {
    const auto bytes = sealed_image([&](hid_t file) { hdf5::write_attribute(file, "format", format); });
    const std::string message = message_of<RequestError>([&] { decode_checkpoint(bytes, "a.h5"); });
    EXPECT_NE(message.find(fmt::format("checkpoint 'a.h5': it has format {}, but this program reads format 2", format)),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("convoy export"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Checkpoint, TensorWhoseShapeDoesNotFitItsValuesIsNotWritten) {
  Checkpoint checkpoint = make_checkpoint();
  checkpoint.model[1].values.pop_back();
  EXPECT_NE(message_of<Error>([&] { encode_checkpoint(checkpoint); }).find("fc.bias"), std::string::npos);
}

/// The exit status of an HDF5 tool; skips the test if the tool is not installed.
int run_tool(const std::string& command) {
  const int status = std::system((command + " > /dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
constexpr int kCommandNotFound = 127;

TEST(Checkpoint, H5diffComparesTwoDespiteTheirTrailers) {
  if (run_tool("h5diff --version") == kCommandNotFound) GTEST_SKIP() << "h5diff is not installed (hdf5-tools)";
  const TemporaryDirectory directory;
  Checkpoint checkpoint = make_checkpoint();
  write_file_atomically(directory / "a.h5", encode_checkpoint(checkpoint));
  checkpoint.state.step += 1;
  write_file_atomically(directory / "b.h5", encode_checkpoint(checkpoint));
  checkpoint.model[2].values[5] = std::nextafter(checkpoint.model[2].values[5], 1e9f);
  write_file_atomically(directory / "c.h5", encode_checkpoint(checkpoint));
  const auto h5diff = [&](const char* a, const char* b, const char* object) {
    return run_tool(fmt::format("h5diff '{}' '{}' {}", directory / a, directory / b, object));
  };
  EXPECT_EQ(h5diff("a.h5", "b.h5", "/model"), 0);
  EXPECT_EQ(h5diff("a.h5", "b.h5", "/optimizer"), 0);
  EXPECT_EQ(h5diff("a.h5", "b.h5", "/state"), 1);
  EXPECT_EQ(h5diff("b.h5", "c.h5", "/model"), 1);
}

// HDF5 allows only one thread: without the lock of io/hdf5.h it crashes or gives errors.
TEST(Checkpoint, IsWrittenByOneThreadWhileAnotherReads) {
  const Checkpoint checkpoint = make_checkpoint();
  const std::vector<std::byte> bytes = encode_checkpoint(checkpoint);
  constexpr int kTimes = 200;
  std::atomic<int> num_same = 0;
  {
    const std::jthread writer([&] {
      for (int i = 0; i < kTimes; ++i) num_same += encode_checkpoint(checkpoint) == bytes;
    });
    for (int i = 0; i < kTimes; ++i) num_same += decode_state(bytes, "b.h5").step == checkpoint.state.step;
  }
  EXPECT_EQ(num_same, 2 * kTimes);
}

}  // namespace
}  // namespace convoy::io
