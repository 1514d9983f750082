/// A checkpoint in parts holds the same as one file, is whole only with all its parts, and leaves no folder that is not
/// needed.
#include "convoy/io/checkpoint_parts.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/inspect.h"

#include "unit/io/checkpoint_samples.h"
#include "unit/io/parts_samples.h"
#include "unit/io/same_bits.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy::io {
namespace {

namespace fs = std::filesystem;
using test::make_checkpoint;
using test::message_of;
using test::SplitCheckpoint;

class CheckpointPartsTest : public testing::Test {
 protected:
  std::string path(std::int64_t step) const { return checkpoint_path(directory_.path(), step); }
  std::string part(std::int64_t step, std::int64_t number) const {
    return part_path(directory_.path(), parts_folder(step, 7), number);
  }
  /// Writes make_checkpoint(step) in parts.
  void write(std::int64_t step, std::int64_t num_parts = 3) const {
    test::write_parts(test::split(make_checkpoint(step), num_parts), path(step));
  }
  std::string damage(std::int64_t step) const {
    return message_of<Error>([&] { read_checkpoint_file(path(step)); });
  }

  test::TemporaryDirectory directory_;
};

void expect_same(const Checkpoint& got, const Checkpoint& want) {
  test::expect_same_bits(got.model, want.model);
  test::expect_same_bits(got.ema, want.ema);
  ASSERT_EQ(got.optimizer.size(), want.optimizer.size());
  for (const auto& [slot, tensors] : want.optimizer) test::expect_same_bits(got.optimizer.at(slot), tensors);
  EXPECT_EQ(got.counters, want.counters);
  EXPECT_EQ(got.state.step, want.state.step);
  EXPECT_EQ(got.metadata.class_names, want.metadata.class_names);
  EXPECT_EQ(got.parameters, want.parameters);
}

TEST_F(CheckpointPartsTest, HoldWhatOneFileHolds) {
  for (const std::int64_t num_parts : {1, 2, 5, 12}) {
    SCOPED_TRACE(num_parts);
    write(40, num_parts);
    Checkpoint checkpoint = decode_checkpoint(read_checkpoint_file(path(40)), path(40));
    EXPECT_TRUE(checkpoint.model.front().values.empty()) << "they are in the parts";
    load_values(checkpoint, path(40));
    expect_same(checkpoint, make_checkpoint(40));
    checkpoint.parts.reset();
    EXPECT_EQ(encode_checkpoint(checkpoint), encode_checkpoint(make_checkpoint(40)));
  }
}

TEST_F(CheckpointPartsTest, OfOneGroupAreReadAlone) {
  write(40);
  Checkpoint checkpoint = decode_checkpoint(read_checkpoint_file(path(40)), path(40));
  load_values(checkpoint, path(40), groups::kEma);
  test::expect_same_bits(checkpoint.ema, make_checkpoint(40).ema);
  EXPECT_TRUE(checkpoint.model.front().values.empty());
}

TEST_F(CheckpointPartsTest, MakeTheCheckpointDamagedWhereOneIsMissingDamagedOrAnothers) {
  write(40), write(50);
  EXPECT_EQ(damage(40), test::kNothingThrown);
  const std::vector<std::byte> bytes = read_file(part(40, 1));

  std::vector<std::byte> flipped = bytes;
  flipped[flipped.size() / 2] ^= std::byte{1};
  write_file_atomically(part(40, 1), flipped);
  EXPECT_CONTAINS(damage(40), part(40, 1) + "': it is damaged: its hash (XXH3-128) differs");
  EXPECT_CONTAINS(*verify_file(path(40)), part(40, 1));

  write_file_atomically(part(40, 1), std::span(bytes).first(bytes.size() - 40));
  EXPECT_CONTAINS(damage(40), "it is truncated, or it is not a part of a checkpoint");

  write_file_atomically(part(40, 1), read_file(part(40, 0)));
  EXPECT_CONTAINS(damage(40), "it is whole, but not the part that was written for this checkpoint");

  fs::remove(part(40, 1));
  EXPECT_CONTAINS(damage(40),
                  part(40, 1) + "' is missing: the directory step-00000040-7.parts must be next to the checkpoint");
  EXPECT_EQ(damage(50), test::kNothingThrown);
}

TEST_F(CheckpointPartsTest, OfADamagedCheckpointArePassedOverForAnOlderOne) {
  write(40), write(50);
  fs::remove(part(50, 2));
  std::vector<std::string> reasons;
  const auto found = find_newest_checkpoint(
      directory_.path(), [&](const std::string&, const std::string& reason) { reasons.push_back(reason); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, path(40));
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_CONTAINS(reasons.front(), "is missing");
}

TEST_F(CheckpointPartsTest, AreJoinedUnderTheSameName) {
  write(40), write(50);
  EXPECT_TRUE(join_checkpoint(path(40)));
  EXPECT_EQ(read_file(path(40)), encode_checkpoint(make_checkpoint(40)));
  EXPECT_FALSE(fs::exists(fs::path(part(40, 0)).parent_path()));
  EXPECT_FALSE(join_checkpoint(path(40))) << "it is one file";
  EXPECT_EQ(damage(50), test::kNothingThrown) << "others are as they were";
  fs::remove(part(50, 0));
  EXPECT_CONTAINS(message_of<Error>([&] { join_checkpoint(path(50)); }), path(50));
  EXPECT_TRUE(decode_checkpoint(read_file(path(50)), path(50)).parts) << "a failure leaves it as it was";
}

TEST_F(CheckpointPartsTest, ThatNoCheckpointListsAreRemoved) {
  write(40), write(50);
  const auto folder = [&](const std::string& name) { return directory_ / name; };
  fs::create_directories(folder("step-00000060-8.parts"));  // from a save that did not end
  write_text_atomically(folder("step-00000060-8.parts") + "/0.h5.partial", "x");
  fs::create_directories(folder("mine.parts"));
  fs::copy_file(path(40), best_checkpoint_path(directory_.path()));
  fs::remove(path(40));
  fs::rename(path(50), path(50) + ".mine");
  EXPECT_EQ(last_save(directory_.path()), 8);
  remove_unlisted_parts(directory_.path());
  EXPECT_FALSE(fs::exists(folder("step-00000060-8.parts")));
  EXPECT_TRUE(fs::exists(folder("mine.parts"))) << "no run of ours made it";
  EXPECT_TRUE(fs::exists(part(40, 0))) << "best.h5 lists it";
  EXPECT_TRUE(fs::exists(part(50, 0))) << "a checkpoint lists it, whatever its name";

  write(70);
  std::vector<std::byte> bytes = read_file(path(70));
  bytes[100] ^= std::byte{1};
  write_file_atomically(path(70), bytes);
  fs::remove(best_checkpoint_path(directory_.path()));
  remove_unlisted_parts(directory_.path());
  EXPECT_TRUE(fs::exists(part(40, 0))) << "nobody knows what the damaged one lists";
  fs::remove(path(70));
  remove_unlisted_parts(directory_.path());
  EXPECT_FALSE(fs::exists(part(40, 0)));
  EXPECT_FALSE(fs::exists(part(70, 0)));
  EXPECT_TRUE(fs::exists(part(50, 0)));
  EXPECT_NO_THROW(remove_unlisted_parts(directory_ / "absent"));
}

TEST_F(CheckpointPartsTest, GoWithTheCheckpointsThatAreTooOld) {
  for (const std::int64_t step : {10, 20, 30}) write(step);
  CheckpointKeeper keeper(directory_.path(), 2);
  keeper.remove_old(30);
  EXPECT_FALSE(fs::exists(part(10, 0)));
  EXPECT_EQ(damage(20), test::kNothingThrown);
  EXPECT_EQ(damage(30), test::kNothingThrown);
}

TEST_F(CheckpointPartsTest, ThatDoNotHoldAllValuesAreRefused) {
  const std::vector<std::pair<std::string, std::function<void(Checkpoint&)>>> cases = {
      {"where value 1 of tensor 'fc.bias' is", [](Checkpoint& c) { c.parts->tensors.at("fc.bias").pieces.clear(); }},
      {"where value 9 of tensor 'fc.bias' is",
       [](Checkpoint& c) { c.parts->tensors.at("fc.bias").pieces.back().first += 1; }},
      {"where value 9 of tensor 'fc.bias' is",
       [](Checkpoint& c) { c.parts->tensors.at("fc.bias").pieces.back().count += 1; }},
      {"where value 10 of tensor 'fc.bias' is",
       [](Checkpoint& c) { c.parts->tensors.at("fc.bias").pieces.back().count -= 1; }},
      {"where value 1 of tensor 'fc.bias' is",
       [](Checkpoint& c) { c.parts->tensors.at("fc.bias").pieces.front().count = -4; }},
      {"part 3, but there are only 3", [](Checkpoint& c) { c.parts->tensors.at("fc.bias").pieces.front().part = 3; }},
      {"part -1, but there are only 3", [](Checkpoint& c) { c.parts->tensors.at("fc.bias").pieces.front().part = -1; }},
      {"stores the pixels of tensor 'fc.bias' first",
       [](Checkpoint& c) { c.parts->tensors.at("fc.bias").cuts_pixels_first = true; }},
      {"larger than all its parts",
       [](Checkpoint& c) {
         c.model.front().dims = {std::int64_t{1} << 30, std::int64_t{1} << 30, 3, 3};
       }},
      {"shape '0x3x3x3'",
       [](Checkpoint& c) {
         c.model.front().dims = {0, 3, 3, 3};
       }},
      {"not a directory of parts", [](Checkpoint& c) { c.parts->folder = "step-1/../../step-1.parts"; }},
      {"not a directory of parts", [](Checkpoint& c) { c.parts->folder = "elsewhere"; }},
      {"list of parts is damaged", [](Checkpoint& c) { c.parts->files[1].size_bytes = -1; }},
      {"list of parts is damaged", [](Checkpoint& c) { c.parts->files[1].hash = "0123"; }},
  };
  for (const auto& [reason, change] : cases) {
    SCOPED_TRACE(reason);
    SplitCheckpoint split = test::split(make_checkpoint(40), 3);
    change(split.checkpoint);
    const std::vector<std::byte> bytes = encode_checkpoint(split.checkpoint);
    EXPECT_CONTAINS(message_of<Error>([&] { decode_checkpoint(bytes, "a.h5"); }), reason);
    EXPECT_EQ(decode_state(bytes, "a.h5").step, 40);
  }
}

TEST_F(CheckpointPartsTest, OfOtherSizesThanTheListSaysAreRefused) {
  SplitCheckpoint split = test::split(make_checkpoint(40), 3);
  auto& pieces = split.checkpoint.parts->tensors.at("fc.bias").pieces;  // 4, 4, 2
  pieces[0].count -= 1, pieces[1].first -= 1, pieces[1].count += 1;
  test::write_parts(split, path(40));
  Checkpoint checkpoint = decode_checkpoint(read_checkpoint_file(path(40)), path(40));
  EXPECT_CONTAINS(message_of<Error>([&] { load_values(checkpoint, path(40)); }),
                  part(40, 0) + "': it holds 4 values of model/fc.bias, not 3");
}

TEST_F(CheckpointPartsTest, AreDescribed) {
  write(40);
  const std::string text = describe_file(path(40));
  EXPECT_CONTAINS(text, "3 files in step-00000040-7.parts next to it");
  EXPECT_CONTAINS(text, "306 in 3 tensors");
}

}  // namespace
}  // namespace convoy::io
