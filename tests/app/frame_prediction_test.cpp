/// Predictions of the frames of a film that come from the standard input.
#include <cstdint>
#include <cstring>
#include <filesystem>

#include <fmt/core.h>
#include <png.h>

#include "app/prediction.h"

namespace convoy::test {

namespace {

constexpr int kWidth = 31, kHeight = 20;  // the network reads 12 x 12 in grey
constexpr int kFrameBytes = 3 * kWidth * kHeight;
constexpr int kFrames = 150;  // neither whole steps of 64 nor whole micro-batches of 8

/// A film of colours in which a bright bar moves down, as raw frames and as a folder of PNG files.
class FramePrediction : public Prediction {
 protected:
  FramePrediction() {
    std::filesystem::create_directories(directory_ / "pictures");
    for (int i = 0; i < kFrames; ++i) {
      const std::string frame = make_frame(i);
      film_ += frame;
      png_image image;
      std::memset(&image, 0, sizeof image);
      image.version = PNG_IMAGE_VERSION;
      image.width = kWidth;
      image.height = kHeight;
      image.format = PNG_FORMAT_RGB;
      const std::string path = directory_ / fmt::format("pictures/{:06}.png", i + 1);
      EXPECT_NE(png_image_write_to_file(&image, path.c_str(), 0, frame.data(), 0, nullptr), 0);
    }
    write_text(directory_ / "film.rgb", film_);
  }

  static std::string make_frame(int number) {
    std::string frame;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int channel = 0; channel < 3; ++channel) {
          const int bar = (y + kHeight - number % kHeight) % kHeight < 3 ? 150 : 0;
          frame += static_cast<char>(bar + (7 * x + 13 * y + 29 * channel + 3 * number) % 90);
        }
    return frame;
  }

  ProcessResult predict_film(const std::string& name, const std::vector<std::string>& more = {}, int ranks = 0,
                             const std::string& film = "film.rgb") const {
    const std::vector<std::string> keys = {"predict", run_ + "/params.cfg", "--predict.data=-",
                                           fmt::format("--predict.frames={}x{}", kWidth, kHeight),
                                           "--predict.output=" + (directory_ / name)};
    return run_program({.arguments = keys + more, .ranks = ranks, .input = directory_ / film});
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& message,
                      const std::string& input = "/dev/null") const {
    const ProcessResult result = run_program({.arguments = arguments, .input = input});
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_TRUE(contains(result.output, message)) << result.output;
  }

  std::string film_;
};

}  // namespace

TEST_F(FramePrediction, GivesTheSameBytesOnEveryGridAndTheProbabilitiesOfPictures) {
  const ProcessResult one = predict_film("1x1.csv");
  ASSERT_EQ(one.status, 0) << one.output;
  EXPECT_TRUE(contains(one.output, "150 frames in ")) << one.output;
  EXPECT_TRUE(contains(one.output, " frames/s\n-> ")) << one.output;
  const std::string csv = read_text(directory_ / "1x1.csv");
  for (const auto& [stages, replicas] : {std::pair{1, 2}, {2, 1}, {2, 2}, {1, 4}}) {
    const std::string name = fmt::format("{}x{}.csv", stages, replicas);
    const ProcessResult result =
        predict_film(name, {fmt::format("--grid.stages={}", stages), "--data.loader_threads=3"}, stages * replicas);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(read_text(directory_ / name) == csv) << name;
  }

  const ProcessResult folder = predict("pictures.csv", {"--predict.data=" + (directory_ / "pictures")}, 2);
  ASSERT_EQ(folder.status, 0) << folder.output;
  Rows pictures = read_rows(directory_ / "pictures.csv"), frames = read_rows(directory_ / "1x1.csv");
  ASSERT_EQ(frames.size(), 1u + kFrames);
  EXPECT_EQ(frames[0][0], "frame");
  EXPECT_NE(frames[1][3], frames[12][3]) << "alike, the test could tell nothing";
  for (int i = 1; i <= kFrames; ++i) {
    EXPECT_EQ(frames[i][0], std::to_string(i));
    pictures[i][0] = frames[i][0];
  }
  pictures[0][0] = "frame";
  EXPECT_EQ(frames, pictures);
}

TEST_F(FramePrediction, WithMirroredViewsIsThatOfPictures) {
  const std::vector<std::string> mirror = {"--evaluate.mirror=true"};
  ASSERT_EQ(predict_film("frames.csv", mirror, 2).status, 0);
  ASSERT_EQ(predict("pictures.csv", mirror + std::vector{"--predict.data=" + (directory_ / "pictures")}).status, 0);
  const Rows frames = read_rows(directory_ / "frames.csv"), pictures = read_rows(directory_ / "pictures.csv");
  ASSERT_EQ(frames.size(), pictures.size());
  for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_EQ(frames[i][3], pictures[i][3]) << i;
}

// Small steps make several windows, of which one is sent while another one is computed.
TEST_F(FramePrediction, OfManyWindowsIsThatOfOne) {
  const std::vector<std::string> small = {"--batch.global=8", "--batch.micro=4"};
  ASSERT_EQ(predict_film("one.csv", {"--batch.global=64", "--batch.micro=4"}).status, 0);
  for (const int ranks : {0, 2}) {
    ASSERT_EQ(predict_film("many.csv", small, ranks).status, 0);
    EXPECT_TRUE(read_text(directory_ / "many.csv") == read_text(directory_ / "one.csv")) << ranks;
  }
}

TEST_F(FramePrediction, OfAnIncompleteFrameFailsAndKeepsThoseBefore) {
  ASSERT_EQ(predict_film("whole.csv").status, 0);
  write_text(directory_ / "cut.rgb", film_.substr(0, film_.size() - 100));
  for (const int ranks : {0, 2}) {
    const ProcessResult cut = predict_film("cut.csv", {}, ranks, "cut.rgb");
    EXPECT_EQ(cut.status, 1) << cut.output;
    EXPECT_TRUE(contains(cut.output, fmt::format("the stream ends within frame 150: it has {} of the {} bytes",
                                                 kFrameBytes - 100, kFrameBytes)))
        << cut.output;
    EXPECT_TRUE(contains(cut.output, "The 149 frames before it are written")) << cut.output;
    const std::string rows = read_text(directory_ / "cut.csv");
    EXPECT_TRUE(read_text(directory_ / "whole.csv").starts_with(rows));
    EXPECT_EQ(read_rows(directory_ / "cut.csv").size(), 1u + 149);
  }
  write_text(directory_ / "short.rgb", film_.substr(0, 10));
  const ProcessResult none = predict_film("none.csv", {}, 2, "short.rgb");
  EXPECT_EQ(none.status, 1) << none.output;
  EXPECT_TRUE(contains(none.output, "ends within frame 1: it has 10 of the ")) << none.output;
}

TEST_F(FramePrediction, SaysWhatIsMissingOrDoesNotFit) {
  const std::string params = run_ + "/params.cfg", frames = "--predict.frames=31x20";
  const std::string command = "ffmpeg -i film.mp4 -f rawvideo -pix_fmt rgb24 - | convoy predict ";
  expect_refused({"predict", params, "--predict.data=-"}, "predict.data = - and predict.frames (not given) belong");
  expect_refused({"predict", params, "--predict.data=-"}, command);
  expect_refused({"predict", params, frames},
                 "predict.frames = 31x20 and predict.data = - (not given) belong together");
  expect_refused({"predict", params, frames, "--predict.data=photos"}, command);
  expect_refused({"predict", params, "--predict.data=-", "--predict.frames=31"}, "WIDTHxHEIGHT");
  expect_refused({"predict", params, "--predict.data=-", frames}, "the standard input is empty");
  expect_refused({"predict", params, "--predict.data=-", frames}, "the standard input, which is closed", "&-");
  expect_refused({"predict", params, "--predict.data=-", frames, "--predict.explain=true"}, "predict.explain = true");
  for (const std::string name : {"p.h5", "p.npy"})
    expect_refused({"predict", params, "--predict.data=-", frames, "--predict.output=" + (directory_ / name)},
                   "must end in .csv: frames are predicted until the stream ends");
  expect_refused({"predict", params, "--predict.data=-", "--predict.frames=16384x16384"},
                 "Give a smaller batch.global");
  write_text(directory_ / "empty.rgb", "");
  const ProcessResult empty = predict_film("p.csv", {}, 2, "empty.rgb");
  EXPECT_EQ(empty.status, 2) << empty.output;
  EXPECT_TRUE(contains(empty.output, "the standard input is empty")) << empty.output;

  write_text(directory_ / "mine.csv", "name,label\n");
  const ProcessResult other = predict_film("mine.csv");
  EXPECT_EQ(other.status, 2) << other.output;
  EXPECT_TRUE(contains(other.output, "exists and does not hold predictions of frames")) << other.output;
  ASSERT_EQ(predict_film("own.csv").status, 0);
  EXPECT_EQ(predict_film("own.csv").status, 0) << "an earlier table of frames is replaced";
}

}  // namespace convoy::test
