/// The form of a profile, as a table for programs and as lines for people.
#include "run/profile.h"

#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace convoy {
namespace {

ProfileRow row(std::int64_t stage, const char* cell, const LayerInfo& layer, LayerWork work, double seconds,
               double flop) {
  return {.stage = stage, .cell = cell, .layer = layer, .work = work, .calls = 2, .seconds = seconds, .flop = flop};
}

// Two stages, of 0.1 s each: a convolution on the first, which waits; that and a batch norm on the second.
Profile profile() {
  const TensorSpec x{Shape::images(2, 8, 8, 16)};
  const LayerInfo convolution{
      .operation = "convolution", .name = "a.conv1", .weight_shape = "16x16x3x3", .x = x, .y = x};
  LayerInfo other = convolution;
  other.name = "b.conv1";
  const LayerInfo norm{.operation = "batch normalisation", .name = "b.bn1", .weight_shape = "16", .x = x, .y = x};
  return {.first_step = 4,
          .num_steps = 3,
          .num_stages = 2,
          .step_seconds = 0.1,
          .product_flop_a_second = 200e9,
          .rows = {row(0, "a", convolution, LayerWork::kForward, 0.02, 2e9),
                   {.stage = 0, .layer = {.operation = "waiting for other stages"}, .seconds = 0.07},
                   row(1, "b", other, LayerWork::kForward, 0.02, 4e9),
                   row(1, "b", norm, LayerWork::kInputGradient, 0.06, 0),
                   row(1, "b", norm, LayerWork::kWeightGradient, 1e-5, 0)}};
}

TEST(Profile, IsATableWithARowForEachLayersWork) {
  EXPECT_EQ(to_csv(profile()),
            "stage,cell,operation,name,weight_shape,x,y,work,calls,milliseconds,share_percent,gflop,gflop_per_second,"
            "percent_of_product\n"
            "0,a,convolution,a.conv1,16x16x3x3,2x8x8x16 f32,2x8x8x16 f32,forward,2,20.0000,20.00,2.0000,100.0,50.0\n"
            "0,,waiting for other stages,,,,,,0,70.0000,70.00,0.0000,0.0,0.0\n"
            "1,b,convolution,b.conv1,16x16x3x3,2x8x8x16 f32,2x8x8x16 f32,forward,2,20.0000,20.00,4.0000,200.0,100.0\n"
            "1,b,batch normalisation,b.bn1,16,2x8x8x16 f32,2x8x8x16 f32,gradient of x,2,60.0000,60.00,0.0000,0.0,0.0\n"
            "1,b,batch normalisation,b.bn1,16,2x8x8x16 f32,2x8x8x16 f32,gradient of w,2,0.0100,0.01,0.0000,0.0,0.0\n");
}

TEST(Profile, SaysWhatTakesLongestFirst) {
  EXPECT_EQ(summary_of(profile()),
            "profile of steps 4 to 6: 100 ms each, of these\n"
            "  waiting for other stages                     35.00 ms  35.0 %\n"
            "  batch normalisation, gradient of x           30.00 ms  30.0 %\n"
            "  convolution, forward                         20.00 ms  20.0 %     150 GFLOP/s   75 %\n"
            "  last column: percent of the speed of a large matrix product on a rank, 200 GFLOP/s");
}

TEST(Profile, KeepsItsColumnsWhereANameIsLong) {
  Profile with_long_name = profile();
  with_long_name.rows[3].layer.operation = "batch normalisation with max pooling and a longer name";
  std::istringstream lines(summary_of(with_long_name));
  std::set<std::size_t> columns;
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line) && line.find(" ms") != std::string::npos;)
    columns.insert(line.find(" ms"));
  EXPECT_EQ(columns.size(), 1u) << summary_of(with_long_name);
}

TEST(Profile, SaysNoShareOfAProductThatCouldNotBeMeasured) {
  Profile without = profile();
  without.product_flop_a_second = 0;
  const std::string summary = summary_of(without);
  EXPECT_TRUE(summary.ends_with("150 GFLOP/s")) << summary;
}

}  // namespace
}  // namespace convoy
