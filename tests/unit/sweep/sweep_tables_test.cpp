/// Tests the tables and the picture of a sweep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/params/parameters.h"

#include "sweep/sweep_files.h"
#include "sweep/sweep_rows.h"
#include "sweep/sweep_table.h"
#include "unit/svg_texts.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Example {
  Example() {
    Parameters params;
    params.batch = {.global = 100, .micro = 10};
    params.sweep.stages = {1, 2};
    params.sweep.micro = {10, 20, 30};
    table = make_table(params, 2);
    results.resize(6);
    for (const std::size_t row : {0u, 1u, 3u, 4u}) {
      RowMeasurement m{.stages = row < 3 ? 1 : 2,
                       .replicas = row < 3 ? 2 : 1,
                       .batch_global = 100,
                       .batch_micro = row % 3 == 0 ? 10 : 20,
                       .num_samples = 60'000,
                       .num_parameters = 1'272'474,
                       .output_bytes = std::int64_t{5} << 20,
                       .step_seconds = 0.5 / static_cast<double>(row + 1),
                       .predicted_seconds = 0.4 / static_cast<double>(row + 1),
                       .shares = TimeShares{.busy = 0.75, .bubble = 0.25},
                       .busy_of_ranks = {0.7, 0.8},
                       .memory_bytes_of_ranks = {std::int64_t{100} << 20, std::int64_t{300} << 20}};
      results[row] = summarise({m});
    }
    results[5].failure = "out of <memory>, \"twice\"";
  }

  SweepTable table;
  std::vector<RowResult> results;
  SweepHead head{.network = "resnet20",
                 .sample = "image",
                 .machine = "2 ranks",
                 .date = "2026-01-31",
                 .num_rounds = 3,
                 .num_steps = 10};
};

std::int64_t count(const std::string& text, const std::string& part) {
  std::int64_t num = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++num;
  return num;
}

TEST(SweepMarkdown, SaysHowManyParametersTheNetworkHas) {
  Example example;
  EXPECT_TRUE(sweep_markdown(example.head, example.table, example.results)
                  .starts_with("# resnet20, 1,272,474 parameters, training\n"));
  example.results[0].median.num_parameters = 999;
  EXPECT_TRUE(sweep_markdown(example.head, example.table, example.results)
                  .starts_with("# resnet20, 999 parameters, training\n"));
  example.results.assign(6, {});
  EXPECT_TRUE(sweep_markdown(example.head, example.table, example.results).starts_with("# resnet20, training\n"));
}

TEST(SweepCsv, HasEqualNumbersOfColumnsAndWhatWasMeasured) {
  const Example example;
  const std::string csv = sweep_csv(example.table, example.results);
  const std::string first_row = csv.substr(csv.find('\n') + 1, csv.find('\n', csv.find('\n') + 1) - csv.find('\n') - 1);
  EXPECT_EQ(first_row,
            "1,1,10,2,100,10,1,2,1,0.5,0.5,0.5,200,300,0.4,0.8000,0.7500,0.2500,0.0000,0.0000,0.0000,0.7000 0.8000,"
            "104857600,314572800,104857600 314572800,5242880,");
  const std::string header = csv.substr(0, csv.find('\n'));
  EXPECT_EQ(count(first_row, ","), count(header, ","));
  // A row that was not measured has the same columns, which are empty, and its reason, quoted if it contains commas.
  EXPECT_THAT(csv, HasSubstr("3,1,30,2,,,,,,,,,,,,,,,,,,,,,,,\"batch.micro = 30 does not divide"));
  EXPECT_THAT(csv, HasSubstr("\"out of <memory>, \"\"twice\"\"\"\n"));
}

TEST(SweepMarkdown, IsATableWithReasonsAndAJudgement) {
  const Example example;
  const std::string text = sweep_markdown(example.head, example.table, example.results);
  EXPECT_THAT(text, HasSubstr("# resnet20, 1,272,474 parameters, training\n"));
  EXPECT_THAT(text, HasSubstr("| row | stages | micro | batch | images/s | epoch | step, ms |"));
  EXPECT_THAT(text, HasSubstr("| 1 | 1 | 10 | 100 | 200.0 | 5 min 00 s | 500 | 500 to 500 | 400 | 0.80 | "
                              "70.0 %, 80.0 % | 25.0 % | 0.0 % | 100.0 MiB, 300.0 MiB |"));
  EXPECT_THAT(text, HasSubstr("out of <memory>"));
  EXPECT_THAT(text, HasSubstr("differ by 20.0 % in the median of 4 rows"));
}

TEST(SweepMarkdown, ExplainsItsColumnsAndWhatGatheringOutputsWouldTake) {
  const Example example;
  const std::string text = sweep_markdown(example.head, example.table, example.results);
  EXPECT_THAT(text, HasSubstr("- **images/s**: images per second: those of a step divided by its time\n"));
  EXPECT_THAT(text, HasSubstr("- **busy**: "));
  EXPECT_THAT(text,
              HasSubstr("If one rank gathered the outputs of 100 images to compute the loss, it would hold 10.0 MiB "
                        "more than the others"));
  EXPECT_THAT(text, Not(HasSubstr("(!)")));
}

TEST(SweepMarkdown, MarksRowsWhoseRoundsDiffer) {
  Example example;
  RowResult& row = example.results[1];
  row.min_step_seconds = 0.9 * row.median.step_seconds;
  row.max_step_seconds = 1.09 * row.median.step_seconds;
  EXPECT_THAT(sweep_markdown(example.head, example.table, example.results), Not(HasSubstr("(!)")));
  row.max_step_seconds = 1.11 * row.median.step_seconds;
  const std::string text = sweep_markdown(example.head, example.table, example.results);
  EXPECT_THAT(text, HasSubstr("| 2 (!) | 1 | 20 |"));
  EXPECT_THAT(text, HasSubstr("**(!)**: the rounds of this row differ by more than 20 %"));
}

// The numbers of many ranks are not all in one cell.
TEST(SweepMarkdown, OfManyRanksHasTheSmallestAndTheLargest) {
  Example example;
  example.results[0].median.busy_of_ranks = {0.9, 0.8, 0.7, 0.6, 0.5, 0.9, 0.9, 0.9, 0.95};
  example.results[0].median.memory_bytes_of_ranks.assign(9, std::int64_t{1} << 20);
  EXPECT_THAT(sweep_markdown(example.head, example.table, example.results),
              HasSubstr("| 50.0 % to 95.0 % | 25.0 % | 0.0 % | 1.0 MiB |"));
}

TEST(SweepMarkdown, SaysEachSizeOnce) {
  Example example;
  example.table.factors = {"global", "micro"};
  EXPECT_THAT(sweep_markdown(example.head, example.table, example.results),
              HasSubstr("| row | global | micro | images/s |"));
  example.table.rows[2].values[1] = "max";  // the size that was found is in a column of its own
  EXPECT_THAT(sweep_markdown(example.head, example.table, example.results),
              HasSubstr("| row | global | micro | micro-batch | images/s |"));
}

TEST(SweepMarkdown, OfAPredictionHasNoShares) {
  Example example;
  example.head.work = SweepWork::kPredict;
  const std::string text = sweep_markdown(example.head, example.table, example.results);
  EXPECT_THAT(text, HasSubstr("# resnet20, 1,272,474 parameters, prediction"));
  EXPECT_THAT(text, HasSubstr("| 200.0 | 5 min 00 s | 500 | 500 to 500 | 400 | 0.80 | 100.0 MiB, 300.0 MiB |"));
  EXPECT_THAT(text, Not(HasSubstr("bubble")));
  EXPECT_THAT(text, HasSubstr("differ by 20.0 % in the median of 4 rows"));
}

TEST(SweepMarkdown, OfWhatNobodyPredictedHasNoRatio) {
  Example example;
  for (RowResult& result : example.results) result.median.predicted_seconds = 0;
  const std::string text = sweep_markdown(example.head, example.table, example.results);
  EXPECT_THAT(text, HasSubstr("| 500 to 500 |  |  | 70.0 %, 80.0 % |"));
  EXPECT_THAT(text, Not(HasSubstr("median of 4 rows")));
}

TEST(SweepPicture, DrawsALineForEachCombinationOfTheOtherFactors) {
  const Example example;
  const std::string svg = draw_sweep(example.head, example.table, example.results);
  EXPECT_EQ(count(svg, "<circle"), 4);
  EXPECT_EQ(count(svg, "<polyline"), 2 * 2);  // measured and predicted
  EXPECT_THAT(svg, HasSubstr(">stages 1<"));
  EXPECT_THAT(svg, HasSubstr(">stages 2<"));
  EXPECT_THAT(svg, HasSubstr(">30<"));  // a mark without a dot
  EXPECT_THAT(svg, HasSubstr(">micro (samples of a micro-batch)<"));
  EXPECT_THAT(svg, HasSubstr(">images per second<"));
  EXPECT_THAT(svg, HasSubstr(">dots: measured, median of 3 rounds; bars: from the slowest to the fastest round; "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(SweepPicture, IsLargeEnoughForItsTitleAndForTheNamesOfItsLines) {
  Example example;
  example.head.machine = "a processor with a very long name, as some vendors like them; 128 nodes, 4 ranks on each";
  EXPECT_EQ(test::text_outside(draw_sweep(example.head, example.table, example.results)), "");
  for (std::size_t row = 0; row < example.table.rows.size(); ++row)
    example.table.rows[row].values.front() = "a value that is long enough to leave the picture " + std::to_string(row);
  EXPECT_EQ(test::text_outside(draw_sweep(example.head, example.table, example.results)), "");
}

TEST(SweepPicture, OfNothingMeasuredIsAnEmptyFrame) {
  Example example;
  example.results.assign(6, RowResult{});
  EXPECT_EQ(count(draw_sweep(example.head, example.table, example.results), "<circle"), 0);
}

}  // namespace
}  // namespace convoy
