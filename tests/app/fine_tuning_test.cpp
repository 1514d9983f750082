/// Fine-tuning at full size: nine classes of Fashion-MNIST, then all ten from the weights of the nine, the first layers
/// frozen. Takes minutes: ctest -C slow -L slow.
#include <filesystem>

#include <gtest/gtest.h>

#include "convoy/io/checkpoint.h"

#include "app/runs.h"
#include "app/small_data.h"
#include "data/images/idx_files.h"
#include "unit/data/idx_files.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

const std::string kFashion = "/usr/share/datasets/fashion-mnist";  // Debian's dataset-fashion-mnist
constexpr std::int32_t kLeftOut = 9;                               // ankle boots

std::uint32_t unsigned_of(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}

/// Writes the split's samples without those of one class.
void write_nine_classes(const std::string& folder, const std::string& split) {
  const auto file = [&](const std::string& kind) { return "/" + split + "-" + kind + "-ubyte"; };
  const IdxSplit content = read_idx(kFashion + file("images-idx3") + ".gz", kFashion + file("labels-idx1") + ".gz");
  const ImageShape& image = content.image;
  std::string pixels, labels;
  for (std::size_t i = 0; i < content.labels.size(); ++i) {
    if (content.labels[i] == kLeftOut) continue;
    const auto begin = content.images.begin() + static_cast<std::ptrdiff_t>(i) * image.count();
    pixels.append(begin, begin + image.count());
    labels.push_back(static_cast<char>(content.labels[i]));
  }
  const std::uint32_t count = unsigned_of(std::ssize(labels));
  write_text(folder + file("images-idx3"), idx_header({count, unsigned_of(image.h), unsigned_of(image.w)}) + pixels);
  write_text(folder + file("labels-idx1"), idx_header({count}) + labels);
}

class FineTuning : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFashion)) GTEST_SKIP() << "no Fashion-MNIST: apt-get install dataset-fashion-mnist";
  }

  std::string import(const std::string& name, const std::string& source) const {
    const ProcessResult result = run_program(
        {.arguments = {"import", "--import.source=" + source, "--import.output=" + (directory_ / name)}, .ranks = 2});
    EXPECT_EQ(result.status, 0) << result.output;
    return directory_ / name;
  }

  // Trains a quarter of an epoch: one cycle of the learning rate.
  io::Checkpoint train(const std::string& name, const std::string& data, const std::vector<std::string>& more) const {
    const ProcessResult result = run_program(
        {.arguments = std::vector<std::string>{"train", std::string(CONVOY_INPUT) + "/fashion_resnet20.cfg",
                                               "--data.train=" + data + "/train", "--data.test=" + data + "/test",
                                               "--train.epochs=0.25", "--run.device=cpu", "--run.threads=1",
                                               "--run.directory=" + (directory_ / name)} +
                      more,
         .ranks = 2,
         .timeout_seconds = 3000});
    EXPECT_EQ(result.status, 0) << result.output;
    const auto found =
        io::find_newest_checkpoint((directory_ / name) + "/checkpoints", [](const auto&, const auto&) {});
    if (!found) throw std::runtime_error("no checkpoint: " + result.output);
    io::Checkpoint checkpoint = io::decode_checkpoint(found->bytes, found->path);
    std::printf("%s: test top-1 %.2f %% after %lld steps\n", name.c_str(), 100 * checkpoint.state.best_value,
                static_cast<long long>(checkpoint.state.step));
    return checkpoint;
  }

  WorkingDirectory directory_;
};

}  // namespace

TEST_F(FineTuning, TenClassesFromTheWeightsOfNineWithLayer1Frozen) {
  std::filesystem::create_directories(directory_ / "idx");
  write_nine_classes(directory_ / "idx", "train");
  write_nine_classes(directory_ / "idx", "t10k");
  const io::Checkpoint nine = train("nine", import("nine-data", directory_ / "idx"), {});
  EXPECT_EQ(nine.state.num_samples, 54000);
  // A guess among nine classes finds 11 %. A quarter of an epoch confuses shirts, coats and pullovers.
  EXPECT_GT(nine.state.best_value, 0.5);

  const std::string weights = io::checkpoint_path((directory_ / "nine") + "/checkpoints", nine.state.step);
  const io::Checkpoint ten = train("ten", import("ten-data", kFashion),
                                   {"--init.weights=" + weights, "--init.strict=false", "--train.freeze=layer1.*"});
  EXPECT_EQ(ten.state.num_samples, 60000);
  EXPECT_GT(ten.state.best_value, nine.state.best_value - 0.1) << "what was learnt of nine classes is lost";
  ASSERT_EQ(ten.model.size(), nine.model.size());
  int num_frozen = 0;
  for (std::size_t i = 0; i < ten.model.size(); ++i) {
    const bool frozen = ten.model[i].name.starts_with("layer1.");
    num_frozen += frozen ? 1 : 0;
    EXPECT_EQ(same_bits(ten.model[i], nine.model[i]), frozen) << ten.model[i].name;
  }
  EXPECT_EQ(num_frozen, 3 * 2 * 5) << "three blocks of two convolutions and batch norms, the latter of four tensors";
}

}  // namespace convoy::test
