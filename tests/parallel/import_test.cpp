/// However many ranks import, the same files appear; and where one rank fails, none.
#include "convoy/data/import.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/inspect.h"
#include "convoy/params/data_parameters.h"

#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "unit/data/image_files.h"
#include "unit/io/dataset_samples.h"
#include "unit/messages.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::world;

void ignore(const ImportProgress&) {}

/// A directory of all ranks, with images; what each rank does alone goes to a group of itself.
class ParallelImport : public testing::Test {
 protected:
  ParallelImport() : alone_(world().split(world().rank(), 0)) {
    if (world().rank() == 0) test::write_image_folder(root_ + "/images");
    world().barrier();
    params_.source = root_ + "/images";
    params_.output = root_ + "/out";
    params_.size = 16;
  }

  ImportSummary import() const { return import_samples(params_, 3, world(), ignore); }

  std::map<std::string, std::vector<std::byte>> files_of(const std::string& folder) const {
    std::map<std::string, std::vector<std::byte>> files;
    for (const fs::directory_entry& file : fs::directory_iterator(folder))
      files[file.path().filename().string()] = io::read_file(file.path().string());
    return files;
  }

  /// Imports with all ranks, and by rank 0 alone elsewhere: the files must be the same.
  void expect_same_files_by_one_rank() {
    import();
    if (world().rank() == 0) {
      ImportParams params = params_;
      params.output = root_ + "/alone";
      import_samples(params, 3, alone_, ignore);
      EXPECT_TRUE(files_of(params_.output) == files_of(params.output));
      for (const auto& [name, bytes] : files_of(params_.output)) {
        EXPECT_EQ(io::verify_file(params_.output + "/" + name), std::nullopt) << name;
      }
      fs::remove_all(params_.output);
      fs::remove_all(params.output);
    }
    world().barrier();
  }

  void on_root(const std::function<void()>& work) const {
    world().barrier();
    if (world().rank() == 0) work();
    world().barrier();
  }

  test::SharedDirectory directory_;
  std::string root_ = directory_.path();
  mpi::Communicator alone_;
  ImportParams params_;
};

TEST_F(ParallelImport, GivesTheSameFilesOnAnyNumberOfRanks) {
  for (const std::int64_t shards : {0, 1, 5}) {
    for (const StorageKind storage : {StorageKind::kRaw, StorageKind::kEncoded}) {
      params_.shards = shards;
      params_.storage = storage;
      params_.size = storage == StorageKind::kRaw ? 16 : 0;
      params_.val_fraction = shards == 1 ? 0.2 : 0;
      expect_same_files_by_one_rank();
      on_root([&] { fs::remove_all(params_.output); });
    }
  }
}

TEST_F(ParallelImport, StoresEverySampleUnderItsNameAndLabelInOrder) {
  params_.shards = 3;
  params_.resize = ResizeKind::kSquash;
  params_.size = 20;
  const ImportSummary summary = import();
  ASSERT_EQ(summary.splits.size(), 2u);
  EXPECT_EQ(summary.splits[0].info.class_counts, (std::vector<std::int64_t>{7, 8, 9}));
  const io::Dataset train(params_.output, "data.train");
  ASSERT_EQ(train.info().num_samples, 24);
  EXPECT_EQ(train.info().image, (ImageShape{20, 20, 3}));
  EXPECT_EQ(train.info().class_names, (std::vector<std::string>{"ant", "bee", "cat"}));
  EXPECT_EQ(train.info().channel_mean, summary.splits[0].info.channel_mean);
  EXPECT_EQ(train.name(0), "train/ant/00.jpg");
  EXPECT_EQ(train.name(23), "train/cat/images/08.png");
  for (std::int64_t i = 0; i < 24; ++i) EXPECT_EQ(train.label(i), i < 7 ? 0 : i < 15 ? 1 : 2) << i;
  for (std::int64_t i = 7; i < 15; ++i) {
    const std::vector<std::uint8_t> image = test::read_sample(train, i);
    EXPECT_EQ(image[0], image[2]) << "grey in three channels";
  }
  world().barrier();
}

TEST_F(ParallelImport, IsGreyWhereEveryFileIs) {
  on_root([&] {
    for (const std::string split : {"train", "test"}) {
      const fs::path folder = fs::path(params_.source) / split;
      for (const std::string name : {"ant", "cat"}) fs::remove_all(folder / name);
      fs::copy(folder / "bee", folder / "cow");
    }
  });
  EXPECT_EQ(import().splits[0].info.image, (ImageShape{16, 16, 1}));
  params_.channels = ChannelsKind::kColour;
  params_.replace = true;
  EXPECT_EQ(import().splits[0].info.image, (ImageShape{16, 16, 3}));
}

TEST_F(ParallelImport, NamesCountsAndSkipsSkippedSamples) {
  on_root([&] {
    test::write_bytes(params_.source + "/train/ant/03.png", {});
    std::vector<std::byte> cut = test::make_jpeg();
    cut.resize(cut.size() / 2);
    test::write_bytes(params_.source + "/train/cat/zz.jpg", cut);
    std::ofstream(params_.source + "/test/bee/notes.txt") << "no image";
  });
  params_.shards = 3;
  const ImportSummary summary = import();
  EXPECT_EQ(summary.splits[0].info.num_samples, 23);
  if (world().rank() == 0) {
    ASSERT_EQ(summary.skipped.size(), 3u);
    EXPECT_EQ(summary.skipped[0].name, "test/bee/notes.txt");
    EXPECT_EQ(summary.skipped[0].reason, "it is neither a JPEG nor a PNG");
    EXPECT_EQ(summary.skipped[1].name, "train/ant/03.png");
    EXPECT_EQ(summary.skipped[1].reason, "it is empty");
    EXPECT_CONTAINS(summary.skipped[2].reason, "it is damaged");
  }
  params_.replace = true;
  expect_same_files_by_one_rank();

  params_.strict = true;
  params_.output = root_ + "/strict";
  EXPECT_CONTAINS(message_of<RequestError>([&] { import(); }), "import.strict = true: '");
  EXPECT_TRUE(fs::is_empty(params_.output));
  world().barrier();
}

TEST_F(ParallelImport, RefusesAClassWithoutAGoodImageAndLeavesNothing) {
  on_root([&] {
    for (const std::string name : {"00", "01"})
      for (const std::string suffix : {".png", ".jpg"})
        if (const std::string path = fmt::format("{}/test/bee/{}{}", params_.source, name, suffix); fs::exists(path))
          test::write_bytes(path, std::vector<std::byte>(10));
  });
  const std::string message = message_of<RequestError>([&] { import(); });
  EXPECT_CONTAINS(message, "class 'bee' of split test has no good sample; 'test/bee/0");
  EXPECT_TRUE(fs::is_empty(params_.output));
  world().barrier();
}

TEST_F(ParallelImport, RefusesWhatItCannotDoBeforeItWrites) {
  const auto refusal = [&] { return message_of<RequestError>([&] { import(); }); };
  params_.size = 0;
  EXPECT_CONTAINS(refusal(), "import.size = 0 keeps images as they are, but 'train/ant/00.jpg' has 18 x 30 pixels and");
  params_.size = 16;
  params_.shards = 7;
  EXPECT_CONTAINS(refusal(), "import.shards = 7, but split test has 6 images. Allowed: 1 to 6");
  params_.shards = 0;
  params_.source = root_ + "/absent";
  EXPECT_CONTAINS(refusal(), "import.source = " + root_ + "/absent: there is no such file or folder");
  on_root([&] { fs::create_directories(root_ + "/absent"); });
  EXPECT_CONTAINS(refusal(), "holds no folders");
  params_.format = ImportFormat::kCifar;
  EXPECT_CONTAINS(refusal(), "neither data_batch_1.bin");
  params_.format = ImportFormat::kIdx;
  EXPECT_CONTAINS(refusal(), "absent/train-");
  world().barrier();
}

TEST_F(ParallelImport, ReplacesADataSetOnlyWhereThatIsAskedFor) {
  import();
  const auto before = files_of(params_.output);
  params_.size = 20;
  EXPECT_CONTAINS(message_of<RequestError>([&] { import(); }),
                  "train.h5' exists, from an earlier import. Set import.replace = true to replace it");
  EXPECT_TRUE(files_of(params_.output) == before);
  params_.replace = true;
  EXPECT_EQ(import().splits[0].info.image, (ImageShape{20, 20, 3}));
  EXPECT_EQ(io::Dataset(params_.output, "data.train").info().image, (ImageShape{20, 20, 3}));
  world().barrier();
}

TEST_F(ParallelImport, WritesOneShardForEvery128MiBOfPixelsOrFiles) {
  EXPECT_EQ(import().splits[0].paths.size(), 1u);
  params_.output = root_ + "/large";
  params_.size = 1400;  // 135 MiB in train, a quarter of that in test
  const ImportSummary large = import();
  EXPECT_EQ(large.splits[0].paths.size(), 2u);
  EXPECT_EQ(large.splits[1].paths.size(), 1u);
  params_.output = root_ + "/files";
  params_.size = 0;
  params_.storage = StorageKind::kEncoded;
  EXPECT_EQ(import().splits[0].paths.size(), 1u);
  world().barrier();
}

TEST_F(ParallelImport, IsNotMixedWithAnother) {
  params_.val_fraction = 0.2;
  import();
  params_.val_fraction = 0;
  params_.replace = true;
  EXPECT_CONTAINS(message_of<RequestError>([&] { import(); }), "val.h5' comes from another import");
  world().barrier();
}

TEST_F(ParallelImport, AFullDiskUnderOneRankLeavesNothingOfAny) {
  on_root([&] {
    fs::create_directories(params_.output);
    std::ofstream(params_.output + "/mine.txt") << "stays";
  });
  params_.shards = 4;
  params_.size = 64;  // 12 KiB per image, 6 per shard
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  if (world().rank() == world().size() - 1) {
    const rlimit limit{20000, old_limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  const std::string message = message_of<Error>([&] { import(); });
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_CONTAINS(message, "File too large");
  EXPECT_EQ(std::distance(fs::directory_iterator(params_.output), {}), 1);
  world().barrier();
}

TEST_F(ParallelImport, TellsHowFarItIs) {
  std::int64_t last = 0, total = 0;
  import_samples(params_, 3, world(), [&](const ImportProgress& progress) {
    last = progress.done;
    total = progress.total;
  });
  EXPECT_EQ(total, world().rank() == 0 ? 30 : 0);
  EXPECT_EQ(last, total);  // the last sum is told too
}

}  // namespace
}  // namespace convoy
