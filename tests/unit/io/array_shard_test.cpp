/// Shards of arrays: all types and ranks, with classes, labels or numbers as targets, are read back; what hostile or
/// damaged files say of them is refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/dataset.h"
#include "convoy/io/inspect.h"
#include "convoy/io/shard_writer.h"

#include "io/hdf5.h"
#include "io/shard.h"
#include "io/stored_arrays.h"
#include "unit/io/array_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

using test::arrays_info;
using test::known_record;
using test::known_target;
using test::kNumArraySamples;
using test::make_array;
using test::message_of;
using test::TemporaryDirectory;
using test::write_arrays;
using enum TargetKind;

std::vector<std::byte> read_record(const Dataset& dataset, std::int64_t sample) {
  std::vector<std::byte> record, memory;
  for (std::size_t i = 0; i < dataset.info().arrays.size(); ++i) {
    const auto bytes = dataset.read_array(sample, i, memory);
    record.insert(record.end(), bytes.begin(), bytes.end());
  }
  return record;
}

std::vector<float> read_target(const Dataset& dataset, std::int64_t sample) {
  std::vector<float> target(static_cast<std::size_t>(dataset.info().num_target_values()));
  dataset.read_target(sample, target);
  return target;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST(ArrayShard, GivesEveryTypeAndRankBack) {
  DatasetInfo info = arrays_info();
  info.arrays.clear();
  const std::vector<std::vector<std::int64_t>> dims = {{3}, {2, 3}, {2, 1, 3}, {2, 2, 1, 3}};
  for (int i = 0; i <= static_cast<int>(ElementType::kFloat64); ++i) {
    const auto type = static_cast<ElementType>(i);
    info.arrays.push_back(make_array(to_string(type), type, dims[static_cast<std::size_t>(i) % 4]));
  }
  for (const std::int64_t num_shards : {1, 2}) {
    const TemporaryDirectory directory;
    write_arrays(directory.path(), info, num_shards);
    const Dataset dataset(directory.path(), "data.train");
    EXPECT_EQ(dataset.info().kind, "arrays");
    EXPECT_EQ(dataset.info().arrays, info.arrays);
    ASSERT_EQ(dataset.info().num_samples, kNumArraySamples);
    for (const std::int64_t i : {5, 0, 3, 1, 4, 2}) {
      EXPECT_EQ(read_record(dataset, i), known_record(info, i));
      EXPECT_EQ(dataset.label(i), i % 3);
      EXPECT_EQ(dataset.name(i), fmt::format("row {}", i));
    }
    for (const Verdict& verdict : verify(directory.path())) EXPECT_EQ(verdict.damage, std::nullopt);
  }
}

TEST(ArrayShard, GivesClassesLabelsAndNumbersBack) {
  for (const TargetKind kind : {kClass, kLabels, kNumbers})
    for (const std::int64_t num_shards : {1, 2}) {
      const TemporaryDirectory directory;
      const DatasetInfo info = arrays_info(kind);
      write_arrays(directory.path(), info, num_shards);
      const Dataset dataset(directory.path(), "data.train");
      EXPECT_EQ(dataset.info().target, info.target);
      EXPECT_EQ(dataset.info().arrays, info.arrays);
      EXPECT_EQ(dataset.info().class_names, info.class_names);
      EXPECT_EQ(dataset.info().class_counts, info.class_counts);
      for (std::int64_t i = 0; i < kNumArraySamples; ++i) {
        EXPECT_EQ(dataset.label(i), kind == kClass ? i % 3 : -1);
        if (kind == kClass)
          EXPECT_CONTAINS(message_of<Error>([&] { read_target(dataset, i); }),
                          "the targets of 'made for a test' are classes");
        else
          EXPECT_TRUE(same(read_target(dataset, i), known_target(kind, i))) << i;
      }
    }
}

TEST(ArrayShard, GivesFieldsAndLongRowsBack) {
  for (const auto& [dims, shape] : {std::pair(std::vector<std::int64_t>{2, 4, 3}, Shape::images(1, 2, 4, 3)),
                                    std::pair(std::vector<std::int64_t>{5, 2}, Shape::sequences(1, 5, 2)),
                                    std::pair(std::vector<std::int64_t>{1025}, Shape::vectors(1, 1025))})
    for (const std::int64_t num_shards : {1, 2}) {
      const TemporaryDirectory directory;
      const DatasetInfo info = test::field_info(dims, shape);
      write_arrays(directory.path(), info, num_shards);
      const Dataset dataset(directory.path(), "data.train");
      EXPECT_EQ(dataset.info().target, info.target);
      EXPECT_EQ(dataset.info().arrays, info.arrays);
      EXPECT_EQ(dataset.info().num_target_values(), shape.count());
      for (const std::int64_t i : {5, 0, 3, 1, 4, 2}) {
        std::vector<std::byte> record = read_record(dataset, i);
        const std::vector<float> target = read_target(dataset, i);
        const auto bytes = std::as_bytes(std::span(target));
        record.insert(record.end(), bytes.begin(), bytes.end());
        EXPECT_EQ(record, known_record(info, i));
      }
      for (const Verdict& verdict : verify(directory.path())) EXPECT_EQ(verdict.damage, std::nullopt);
    }
}

TEST(ArrayShard, WhoseFieldHasChangedIsDamaged) {
  const TemporaryDirectory directory;
  const DatasetInfo info = test::field_info({2, 4, 3}, Shape::images(1, 2, 4, 3));
  write_arrays(directory.path(), info);
  std::vector<std::byte> bytes = read_file(directory / "train.h5");
  const std::vector<std::byte> record = known_record(info, 3);
  const auto found = std::search(bytes.begin(), bytes.end(), record.begin(), record.end());
  ASSERT_NE(found, bytes.end());
  *(found + std::ssize(record) - 1) ^= std::byte{1};  // the last byte of the field
  test::write_bytes(directory / "train.h5", bytes);
  const Dataset dataset(directory.path(), "data.train");
  EXPECT_EQ(read_record(dataset, 3).size(), record.size() - 24 * sizeof(float)) << "the inputs are as they were";
  read_target(dataset, 2);
  EXPECT_CONTAINS(message_of<StoreError>([&] { read_target(dataset, 3); }), "the bytes of its sample 3 are not those");
}

// Folds of 6 samples: 1 and 2 in turn.
TEST(ArrayShard, GivesFoldsAndTheStatisticsOutsideThemBack) {
  for (const TargetKind kind : {kClass, kNumbers}) {
    const TemporaryDirectory directory;
    DatasetInfo info = arrays_info(kind);
    info.num_folds = 2;
    const std::size_t num_values = kind == kNumbers ? 10 : 7;
    for (std::size_t i = 0; i < 2 * num_values; ++i) {
      info.fold_mean.push_back(static_cast<double>(i) / 3);
      info.fold_stddev.push_back(static_cast<double>(100 + i) / 7);
    }
    write_arrays(directory.path(), info, 2);
    Dataset dataset(directory.path(), "data.train");
    EXPECT_EQ(dataset.info().num_folds, 2);
    EXPECT_EQ(dataset.info().arrays, info.arrays) << "those over all samples";
    for (std::int64_t i = 0; i < kNumArraySamples; ++i) EXPECT_EQ(dataset.fold(i), i % 2 + 1);
    dataset.keep({0, 2, 4}, /*fold=*/2);
    EXPECT_EQ(dataset.fold(2), 1);
    EXPECT_EQ(dataset.info().arrays[0].mean, std::vector(info.fold_mean.begin() + num_values,  //
                                                         info.fold_mean.begin() + num_values + 2));
    EXPECT_EQ(dataset.info().arrays[2].stddev, std::vector(info.fold_stddev.begin() + num_values + 4,  //
                                                           info.fold_stddev.begin() + num_values + 7));
    if (kind == kNumbers) {
      EXPECT_EQ(dataset.info().target.mean, std::vector(info.fold_mean.end() - 3, info.fold_mean.end()));
    }
    const Dataset all = dataset.with_all();
    EXPECT_EQ(all.info().num_samples, kNumArraySamples);
    EXPECT_EQ(all.info().class_counts, info.class_counts);
    EXPECT_EQ(all.content_hash(), Dataset(directory.path(), "data.train").content_hash());
    EXPECT_CONTAINS(describe(directory.path()), "folds         2, of 3, 3 samples\n");
  }
}

TEST(ArrayShard, OpenedAloneCountsItsOwnLabels) {
  for (const auto& [kind, counts] :
       {std::pair(kClass, std::vector<std::int64_t>{1, 1, 1}), std::pair(kLabels, std::vector<std::int64_t>{1, 1, 1}),
        std::pair(kNumbers, std::vector<std::int64_t>{})}) {
    const TemporaryDirectory directory;
    write_arrays(directory.path(), arrays_info(kind), 2);
    EXPECT_EQ(Dataset(directory / "train-000.h5", "data.train").info().class_counts, counts);
  }
}

TEST(ArrayShard, OfWhichSomeSamplesAreKeptIsLikeOneOfThemAlone) {
  const std::vector<std::int64_t> chosen = {1, 2, 4};
  for (const auto& [kind, counts] :
       {std::pair(kClass, std::vector<std::int64_t>{0, 2, 1}), std::pair(kLabels, std::vector<std::int64_t>{0, 1, 1}),
        std::pair(kNumbers, std::vector<std::int64_t>{})}) {
    const TemporaryDirectory directory, alone;
    const DatasetInfo info = arrays_info(kind);
    write_arrays(directory.path(), info, 2);
    write_arrays(alone.path(), info, 1, chosen);
    const Dataset expected(alone.path(), "data.train");
    Dataset dataset(directory.path(), "data.train");
    const std::int64_t whole = dataset.content_hash();
    dataset.keep(chosen);
    ASSERT_EQ(dataset.info().num_samples, 3);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto sample = static_cast<std::int64_t>(i);
      EXPECT_EQ(read_record(dataset, sample), known_record(info, chosen[i]));
      EXPECT_EQ(dataset.label(sample), expected.label(sample));
      if (kind != kClass) {
        EXPECT_TRUE(same(read_target(dataset, sample), known_target(kind, chosen[i])));
      }
    }
    EXPECT_EQ(dataset.info().class_counts, counts);
    EXPECT_EQ(dataset.content_hash(), expected.content_hash());
    EXPECT_EQ(dataset.content_hash(/*of_all=*/true), whole);
    EXPECT_NE(dataset.content_hash(), whole);
  }
}

TEST(ArrayShard, HasOneHashForEverythingThatATrainingReads) {
  const auto hash_of_content = [](const DatasetInfo& info, std::int64_t num_shards = 1) {
    const TemporaryDirectory directory;
    write_arrays(directory.path(), info, num_shards);
    return Dataset(directory.path(), "data.train").content_hash();
  };
  const DatasetInfo info = arrays_info(kNumbers);
  const std::int64_t hash = hash_of_content(info);
  EXPECT_EQ(hash_of_content(info, 3), hash);
  const auto changed = [&](const std::function<void(DatasetInfo&)>& change) {
    DatasetInfo other = info;
    change(other);
    return hash_of_content(other);
  };
  EXPECT_NE(changed([](DatasetInfo& i) { i.arrays[0].name = "q"; }), hash);
  EXPECT_NE(changed([](DatasetInfo& i) { i.arrays[0].type = ElementType::kInt32; }), hash);
  EXPECT_NE(changed([](DatasetInfo& i) { i.arrays[2].dims = {2, 1, 3}; }), hash);
  EXPECT_NE(changed([](DatasetInfo& i) { i.class_names[1] = "w"; }), hash);
  EXPECT_NE(changed([](DatasetInfo& i) { i.target = {.kind = kLabels}, i.class_counts = {1, 1, 1}; }), hash);
  EXPECT_EQ(changed([](DatasetInfo& i) { i.source = "elsewhere"; }), hash);

  const TemporaryDirectory directory;
  write_arrays(directory.path(), info);
  std::vector<std::byte> bytes = read_file(directory / "train.h5");
  const float one = known_target(kNumbers, 1)[0];
  const auto value = std::as_bytes(std::span(&one, 1));
  const auto found = std::search(bytes.begin(), bytes.end(), value.begin(), value.end());
  ASSERT_NE(found, bytes.end());
  *found ^= std::byte{1};
  OpenShard open = open_shard(directory / "train.h5");
  const auto trailer = encode_shard_trailer(open.trailer, std::span(bytes).first(open.trailer.body_offset));
  std::ranges::copy(trailer, bytes.end() - std::ssize(trailer));
  write_file_atomically(directory / "train.h5", bytes);
  EXPECT_NE(Dataset(directory.path(), "data.train").content_hash(), hash) << "of another number as target";
}

TEST(ArrayShard, OfAnotherImportDoesNotFitTheOthers) {
  const auto refusal = [](const std::function<void(DatasetInfo&)>& change) {
    const TemporaryDirectory a, b;
    DatasetInfo info = arrays_info(kNumbers);
    write_arrays(a.path(), info, 2);
    change(info);
    write_arrays(b.path(), info, 2);
    std::filesystem::copy_file(b / "train-001.h5", a / "train-001.h5",
                               std::filesystem::copy_options::overwrite_existing);
    return message_of<RequestError>([&] { Dataset(a.path(), "data.train"); });
  };
  EXPECT_CONTAINS(refusal([](DatasetInfo& i) { i.arrays[0].type = ElementType::kUint32; }),
                  "holds the arrays a uint32 (2), b int16 (3, 2), c uint8 (1, 2, 3), but '");
  EXPECT_CONTAINS(refusal([](DatasetInfo& i) {
                    i.target = {.kind = kLabels}, i.class_counts = {1, 1, 1};
                  }),
                  "are labels, but those of '");
  EXPECT_CONTAINS(refusal([](DatasetInfo& i) { i.class_names[0] = "w"; }), "name different numbers");
  EXPECT_CONTAINS(refusal([](DatasetInfo& i) { i.arrays[1].mean[1] = 7; }), "come from different imports");
  EXPECT_CONTAINS(refusal([](DatasetInfo& i) { i.target.stddev[1] = 7; }), "come from different imports");
  EXPECT_EQ(refusal([](DatasetInfo&) {}), test::kNothingThrown);
}

TEST(ArrayShard, HasNoImagesAndNoOtherArrays) {
  const TemporaryDirectory directory;
  write_arrays(directory.path(), arrays_info());
  const Dataset dataset(directory.path(), "data.train");
  std::vector<std::byte> memory;
  EXPECT_EQ(message_of<Error>([&] { dataset.read_file(0, memory); }),
            "an image's file was requested, but 'made for a test' holds arrays");
  EXPECT_CONTAINS(message_of<Error>([&] { dataset.read_array(0, 3, memory); }), "an array was requested, but");
  EXPECT_CONTAINS(message_of<Error>([&] { dataset.read_array(kNumArraySamples, 0, memory); }), "has 6 samples");
}

// A stage that reads one array verifies this array alone.
TEST(ArrayShard, WhoseArrayIsDamagedStillGivesTheOthers) {
  for (const VerifyKind verify_kind : {VerifyKind::kEpoch, VerifyKind::kOnce}) {
    const TemporaryDirectory directory;
    const DatasetInfo info = arrays_info();
    write_arrays(directory.path(), info);
    std::vector<std::byte> bytes = read_file(directory / "train.h5");
    const std::uint64_t body = open_shard(directory / "train.h5").trailer.body_offset;
    bytes[body + static_cast<std::size_t>(info.record_bytes()) * 2 + 8] ^= std::byte{1};  // 'b' of sample 2
    write_file_atomically(directory / "train.h5", bytes);
    EXPECT_CONTAINS(verify_file(directory / "train.h5").value_or(""), "the hash of its samples and names");
    const Dataset dataset(directory.path(), "data.train", verify_kind);
    std::vector<std::byte> memory;
    for (std::int64_t i = 0; i < kNumArraySamples; ++i)
      for (std::size_t input = 0; input < 3; ++input) {
        const std::string message = message_of<StoreError>([&] { dataset.read_array(i, input, memory); });
        if (i == 2 && input == 1)
          EXPECT_CONTAINS(message, "the bytes of its sample 2 are not those that were imported");
        else
          EXPECT_EQ(message, test::kNothingThrown);
      }
  }
}

// The whole of a small data set is read at once, also from a copy of its body.
TEST(ArrayShard, IsKeptInMemoryIfItIsSmall) {
  const TemporaryDirectory directory;
  const DatasetInfo info = arrays_info();
  write_arrays(directory.path(), info, 2);
  for (const bool copies : {false, true}) {
    Dataset dataset(directory.path(), "data.train");
    EXPECT_EQ(dataset.info().bytes_in_memory, kNumArraySamples * 26);
    const std::string copy = directory / "copy";
    if (copies)
      for (const std::int64_t shard : {0, 1}) {
        const auto file = std::make_shared<const FileDescriptor>(::open(copy.c_str(), O_CREAT | O_RDWR, 0600));
        EXPECT_EQ(dataset.copy_body(shard, *file, 100 * static_cast<std::uint64_t>(shard), [] {}), std::nullopt);
        dataset.read_from_copy(shard, file, 100 * static_cast<std::uint64_t>(shard));
      }
    EXPECT_EQ(read_record(dataset, 0), known_record(info, 0));
    const std::string& first = copies ? copy : dataset.shard_path(0);
    const std::vector<std::byte> whole = read_file(first);
    std::filesystem::resize_file(first, 0);
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(read_record(dataset, i), known_record(info, i));
    if (!copies) {
      EXPECT_EQ(read_record(dataset, 5), known_record(info, 5));
    }
    test::write_bytes(first, whole);
  }
}

TEST(ArrayShard, IsReadSampleBySampleIfItIsLarge) {
  const TemporaryDirectory directory;
  DatasetInfo info = arrays_info();
  info.arrays = {make_array("a", ElementType::kFloat32, {3 << 20})};  // 12 MiB
  const std::vector<std::byte> record(static_cast<std::size_t>(info.record_bytes()), std::byte{7});
  ShardWriter writer({directory / "train.h5", 0, 1}, info);
  for (std::int32_t i = 0; i < kNumArraySamples; ++i) writer.append(record, {.label = i % 3}, "");
  writer.end_samples();
  writer.finish(info);
  writer.commit();
  const Dataset dataset(directory.path(), "data.train");
  EXPECT_EQ(dataset.info().bytes_in_memory, 0);
  EXPECT_EQ(read_record(dataset, 1), record);
  std::filesystem::resize_file(directory / "train.h5", 100);
  EXPECT_CONTAINS(message_of<StoreError>([&] { read_record(dataset, 1); }), "The file was overwritten or cut short");
}

TEST(ArrayShard, IsDescribed) {
  const TemporaryDirectory directory;
  write_arrays(directory.path(), arrays_info(kNumbers));
  const std::string text = describe(directory.path()) + describe(directory / "train.h5");
  for (const char* part :
       {"input         arrays\n", "arrays        a float32 (2), b int16 (3, 2), c uint8 (1, 2, 3)\n",
        "numbers       3: x, y, z\n",
        "  a             height: mean -0.3333, standard deviation 1; mass: mean 0.1667, standard deviation 0.5\n",
        "targets       x: mean 1, standard deviation 0; y: mean -2, standard deviation 3",
        "(hash of samples, labels and classes)", "names         of the samples\n"})
    EXPECT_CONTAINS(text, part);
  const TemporaryDirectory of_labels;
  write_arrays(of_labels.path(), arrays_info(kLabels));
  EXPECT_CONTAINS(describe(of_labels.path()), "labels        3: x, y, z\n  with a label  2 to 3 each\n");
}

// --- Writing ---------------------------------------------------------------------------------------------------------

TEST(ArrayShard, TakesOnlyWholeRecordsAndPossibleTargets) {
  const TemporaryDirectory directory;
  const DatasetInfo labels = arrays_info(kLabels), numbers = arrays_info(kNumbers);
  ShardWriter of_labels({directory / "a.h5", 0, 1}, labels), of_numbers({directory / "b.h5", 0, 1}, numbers);
  const auto refusal = [&](ShardWriter& writer, std::size_t bytes, const std::vector<float>& target) {
    return message_of<Error>([&] { writer.append(std::vector<std::byte>(bytes), {.target = target}, ""); });
  };
  EXPECT_EQ(refusal(of_labels, 25, {0, 0, 0}),
            "a shard of at most 6 samples of a float32 (2), b int16 (3, 2), c uint8 (1, 2, 3) cannot take one of 25 "
            "bytes");
  EXPECT_EQ(refusal(of_labels, 26, {0, 1, 2}), "a sample has the targets 0, 1, 2, and not 3 labels, each 0 or 1");
  EXPECT_CONTAINS(refusal(of_numbers, 26, {1, HUGE_VALF, 2}), "1, inf, 2, and not 3 finite numbers");
  for (const auto& target : {std::vector<float>{0, 1}, std::vector<float>{0, 1, 1, 1}, std::vector<float>{}}) {
    EXPECT_CONTAINS(refusal(of_labels, 26, target), "a sample has the targets");
    EXPECT_CONTAINS(refusal(of_numbers, 26, target), "a sample has the targets");
  }
  EXPECT_EQ(of_labels.num_samples() + of_numbers.num_samples(), 0);
}

TEST(ArrayShard, IsNotBegunWithArraysOrTargetsThatNoReaderTakes) {
  const TemporaryDirectory directory;
  const auto refusal = [&](const std::function<void(DatasetInfo&)>& change) {
    DatasetInfo info = arrays_info(kNumbers);
    change(info);
    return message_of<Error>([&] { ShardWriter({directory / "a.h5", 0, 1}, info); });
  };
  const auto of_name = [&](const std::string& name) {
    return refusal([&](DatasetInfo& i) { i.arrays[0].name = name; });
  };
  for (const std::string& name : {std::string(), std::string("A"), std::string("1a"), std::string("a-b"),
                                  std::string(51, 'a'), std::string("a/b"), std::string("a\0b", 3)})
    EXPECT_CONTAINS(of_name(name), "cannot be the name of an array: names have lower-case letters");
  for (const char* name : {"target", "label", "mixed_label"})
    EXPECT_CONTAINS(of_name(name), "cannot be the name of an array: it is what a network has to answer");
  EXPECT_EQ(of_name("b"), "two arrays of its samples are called 'b'");
  EXPECT_EQ(of_name(std::string(50, 'a')), test::kNothingThrown);

  const auto of_dims = [&](std::vector<std::int64_t> dims) {
    return refusal([&](DatasetInfo& i) { i.arrays[2].dims = std::move(dims); });
  };
  EXPECT_CONTAINS(of_dims({}), "its array 'c' has the form uint8 (), and not 1 to 4 extents of at least 1");
  for (const auto& dims : {std::vector<std::int64_t>{0}, {2, -1}, {1, 1, 1, 1, 1}})
    EXPECT_CONTAINS(of_dims(dims), "and not 1 to 4 extents of at least 1");
  for (const auto& dims : {std::vector<std::int64_t>{std::int64_t{1} << 31, 1},
                           {std::int64_t{1} << 32, std::int64_t{1} << 32, std::int64_t{1} << 32, 1}})
    EXPECT_CONTAINS(of_dims(dims), "its samples have 2.0 GiB or more each");

  EXPECT_CONTAINS(refusal([](DatasetInfo& i) { i.arrays.clear(); }), "have 0 arrays, and not 1 to 64");
  EXPECT_CONTAINS(refusal([](DatasetInfo& i) { i.arrays.resize(65, i.arrays[0]); }), "have 65 arrays");
  EXPECT_CONTAINS(refusal([](DatasetInfo& i) { i.class_names.clear(); }), "have 0 numbers each, and not 1 to 1024");
  EXPECT_CONTAINS(refusal([](DatasetInfo& i) { i.class_names.resize(1025, "n"); }), "have 1025 numbers each");
}

// --- What hostile files say ------------------------------------------------------------------------------------------

/// A compound type whose members are given one by one.
class Compound {
 public:
  explicit Compound(std::size_t bytes) : type_(CONVOY_CHECK_HDF5(H5Tcreate(H5T_COMPOUND, bytes))) {}
  Compound& add(const std::string& name, std::size_t offset, hid_t member) {
    CONVOY_CHECK_HDF5(H5Tinsert(type_, name.c_str(), offset, member));
    return *this;
  }
  Compound& add_array(const std::string& name, std::size_t offset, hid_t element, const std::vector<hsize_t>& dims) {
    const auto rank = static_cast<unsigned>(dims.size());
    return add(name, offset, hdf5::Datatype(CONVOY_CHECK_HDF5(H5Tarray_create2(element, rank, dims.data()))));
  }
  hid_t type() const { return type_; }
  std::string refusal() const {
    return message_of<Error>([&] { read_record_type(type_); });
  }

 private:
  hdf5::Datatype type_;
};

TEST(RecordType, IsReadAsItWasMade) {
  const hdf5::Lock lock = hdf5::lock_library();
  const Record record = read_record_type(
      Compound(10).add_array("a", 0, H5T_STD_U16LE, {2}).add_array("b", 4, H5T_STD_I8LE, {1, 6}).type());
  EXPECT_EQ(describe_forms(record.arrays), "a uint16 (2), b int8 (1, 6)");
  EXPECT_FALSE(record.target.is_in_record());
  const Record with_field = read_record_type(
      Compound(26).add_array("a", 0, H5T_STD_U8LE, {2}).add_array("target", 2, H5T_IEEE_F32LE, {3, 2}).type());
  EXPECT_EQ(describe_forms(with_field.arrays), "a uint8 (2)");
  EXPECT_EQ(with_field.target.shape, Shape::sequences(1, 3, 2));
}

TEST(RecordType, OfAnyOtherFormIsRefused) {
  const hdf5::Lock lock = hdf5::lock_library();
  const hdf5::Datatype plain(CONVOY_CHECK_HDF5(H5Tcopy(H5T_IEEE_F32LE)));
  EXPECT_CONTAINS(message_of<Error>([&] { read_record_type(plain); }), "its samples are not records of arrays");

  constexpr const char* kGap = "the arrays of its samples do not lie one after the other";
  EXPECT_EQ(Compound(9).add_array("a", 1, H5T_IEEE_F32LE, {2}).refusal(), kGap);
  EXPECT_EQ(Compound(9).add_array("a", 0, H5T_IEEE_F32LE, {2}).refusal(), kGap);
  EXPECT_EQ(Compound(6).add_array("a", 4, H5T_STD_U8LE, {2}).add_array("b", 0, H5T_STD_U8LE, {4}).refusal(), kGap);

  EXPECT_EQ(Compound(4).add("a", 0, H5T_IEEE_F32LE).refusal(), "'a' of its samples is no array");
  EXPECT_EQ(Compound(8).add_array("a", 0, H5T_IEEE_F32BE, {2}).refusal(), "its array 'a' has values of another type");
  EXPECT_CONTAINS(Compound(8).add_array("a", 0, H5T_STD_B8LE, {8}).refusal(), "values of another type");
  EXPECT_CONTAINS(Compound(6).add_array("a", 0, hdf5::text_type(3), {2}).refusal(), "values of another type");
  const Compound inner = std::move(Compound(1).add("x", 0, H5T_STD_U8LE));
  EXPECT_CONTAINS(Compound(2).add_array("a", 0, inner.type(), {2}).refusal(), "values of another type");
  EXPECT_CONTAINS(Compound(1).add_array("a", 0, H5T_STD_U8LE, {1, 1, 1, 1, 1}).refusal(), "not 1 to 4 extents");
  EXPECT_CONTAINS(Compound(1).add_array("a", 0, H5T_STD_U8LE, std::vector<hsize_t>(32, 1)).refusal(), "not 1 to 4");

  EXPECT_CONTAINS(Compound(1).add_array("A", 0, H5T_STD_U8LE, {1}).refusal(), "cannot be the name of an array");
  EXPECT_CONTAINS(Compound(4).add_array("target", 0, H5T_IEEE_F32LE, {1}).refusal(), "what a network has to answer");
  EXPECT_CONTAINS(
      Compound(5).add_array("target", 0, H5T_IEEE_F32LE, {1}).add_array("a", 4, H5T_STD_U8LE, {1}).refusal(),
      "what a network has to answer");
  EXPECT_EQ(Compound(5).add_array("a", 0, H5T_STD_U8LE, {1}).add_array("target", 1, H5T_STD_I32LE, {1}).refusal(),
            std::string(kGap) + ", or their targets are not float32");
  EXPECT_CONTAINS(Compound(std::size_t{1} << 31).add_array("a", 0, H5T_STD_U8LE, {1 << 16, 1 << 15}).refusal(),
                  "its samples have 2.0 GiB or more each");
  Compound many(65);
  for (std::size_t i = 0; i < 65; ++i) many.add_array(fmt::format("a{}", i), i, H5T_STD_U8LE, {1});
  EXPECT_EQ(many.refusal(), "its samples have 65 arrays, and not 1 to 64");
}

/// Encodes a head that no import writes, with a body that fits it, and returns how it is refused.
class HostileArrayShard : public testing::Test {
 protected:
  static ShardHead head_of(TargetKind kind) {
    ShardHead head;
    head.info = arrays_info(kind);
    head.info.num_samples = 2;
    if (kind == kClass) head.labels = {0, 1};
    if (kind != kClass) head.targets = {0, 1, 1, 0, 0, 1};
    head.hashes.resize(6);
    return head;
  }
  std::string refusal(TargetKind kind, const std::function<void(ShardHead&)>& change) const {
    ShardHead head = head_of(kind);
    change(head);
    std::vector<std::byte> file = encode_shard_head(head);
    const ShardTrailer trailer{.body_offset = file.size(), .body_bytes = std::uint64_t{2} * 26};
    const std::vector<std::byte> end = encode_shard_trailer(trailer, file);
    file.resize(file.size() + trailer.body_bytes);
    file.insert(file.end(), end.begin(), end.end());
    test::write_bytes(path_, file);
    return message_of<RequestError>([&] { Dataset(path_, "data.train"); });
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_ / "train.h5";
};

TEST_F(HostileArrayShard, IsReadIfNothingIsWrong) {
  for (const TargetKind kind : {kClass, kLabels, kNumbers})
    EXPECT_EQ(refusal(kind, [](ShardHead&) {}), test::kNothingThrown);
}

TEST_F(HostileArrayShard, WithOtherFoldsIsRefused) {
  const auto of = [&](TargetKind kind, const std::function<void(ShardHead&)>& change) {
    return refusal(kind, [&](ShardHead& head) {
      head.info.num_folds = 2;
      head.folds = {2, 1};
      head.info.fold_mean.resize(kind == kNumbers ? 20 : 14);  // of 2 + 2 + 3 channels, and 3 numbers
      head.info.fold_stddev.resize(head.info.fold_mean.size());
      change(head);
    });
  };
  for (const std::vector<std::uint16_t>& folds : {std::vector<std::uint16_t>{1}, {0, 1}, {3, 1}})
    EXPECT_CONTAINS(of(kClass, [&](ShardHead& h) { h.folds = folds; }),
                    "its 'folds' are not those of 2 samples, each from 1 to 2");
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.info.num_folds = 1; }), "it has 1 folds, and not 2 to 65535");
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.info.fold_mean.resize(16); }),
                  "its 'fold_mean' has the dimensions 2 x 8, not 2 x 7");
  EXPECT_CONTAINS(of(kNumbers, [](ShardHead& h) { h.info.fold_stddev[19] = NAN; }),
                  "its 'fold_deviation' are not finite numbers");
}

TEST_F(HostileArrayShard, WithOtherCountsIsRefused) {
  const auto of = [&](TargetKind kind, const std::function<void(ShardHead&)>& change) { return refusal(kind, change); };
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.labels = {0}; }), "it holds 2 samples and 1 labels");
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.labels = {0, 3}; }), "label 3 of its sample 1 is not one of its 3");
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.hashes.resize(3); }),
                  "its 'hashes' has the dimensions 1 x 3, not 2 x 3");
  EXPECT_CONTAINS(of(kLabels, [](ShardHead& h) { h.targets.resize(3); }), "its 'targets' has the dimensions 1 x 3");
  EXPECT_CONTAINS(of(kNumbers, [](ShardHead& h) { h.targets.resize(9); }), "its 'targets' has the dimensions 3 x 3");
  EXPECT_CONTAINS(of(kNumbers, [](ShardHead& h) { h.targets[4] = HUGE_VALF; }), "its 'targets' hold infinities");
  EXPECT_CONTAINS(of(kLabels, [](ShardHead& h) { h.info.class_counts.resize(2); }),
                  "counts of 2 classes, but names of");
  EXPECT_CONTAINS(of(kNumbers, [](ShardHead& h) { h.info.target.mean.resize(2); }), "'target_mean' is not 3 finite");
  EXPECT_CONTAINS(of(kNumbers, [](ShardHead& h) { h.info.target.stddev[2] = NAN; }), "'target_deviation' is not 3");
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.info.arrays[1].mean.push_back(0); }), "its 'mean' is not 2 finite");
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.info.arrays[0].channel_names.resize(1); }),
                  "its array 'a' has 2 channels, but names of 1");
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.info.arrays[0].channel_names[1] = "\x1b[31m"; }),
                  "the name of a channel contains control characters");
  EXPECT_CONTAINS(of(kClass, [](ShardHead& h) { h.info.num_samples = 3; }), "truncated file");
}

// Later versions may have other targets: a word of their files is changed here.
TEST_F(HostileArrayShard, OfALaterVersionIsRefusedByName) {
  const auto refusal_after = [&](std::string_view word, std::string_view other) {
    refusal(kNumbers, [](ShardHead&) {});
    std::vector<std::byte> bytes = read_file(path_);
    const OpenShard open = open_shard(path_);
    const std::span<std::byte> head = std::span(bytes).first(open.trailer.body_offset);
    const auto from = std::as_bytes(std::span(word)), to = std::as_bytes(std::span(other));
    const auto found = std::search(head.begin(), head.end(), from.begin(), from.end());
    EXPECT_NE(found, head.end()) << word;
    std::ranges::copy(to, found);
    const std::vector<std::byte> trailer = encode_shard_trailer(open.trailer, head);
    std::ranges::copy(trailer, bytes.end() - std::ssize(trailer));
    test::write_bytes(path_, bytes);
    return message_of<RequestError>([&] { Dataset(path_, "data.train"); });
  };
  EXPECT_CONTAINS(refusal_after("numbers", "numbert"),
                  "its targets are 'numbert', but this program reads only classes");
}

}  // namespace
}  // namespace convoy::io
