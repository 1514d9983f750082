/// Tests that pictures of steps are well-formed and small, and contain everything.
#include "convoy/schedule/drawing.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/schedule/draw.h"
#include "unit/schedule/well_formed.h"

namespace convoy {
namespace {

using testing::pipeline;

Panel panel_of(const PipelineSpec& spec, const ChunkCost& cost) {
  const Schedule schedule = make_1f1b(spec);
  std::vector<WorkSeconds> work;
  for (const StageProgram& program : schedule) work.push_back(work_seconds(program, {cost}));
  Panel panel{.title = "planned", .note = "", .step = planned_step({schedule}, work), .idle = {}};
  panel.idle = divide_idle(panel.step, panel.step);
  return panel;
}

const ChunkCost kCost{.forward_seconds = 1e-3, .backward_seconds = 2e-3};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

TEST(Drawing, IsWellFormedWhateverItsTitle) {
  Panel panel = panel_of(pipeline({2, 4, 3}), kCost);
  panel.title = "a < b & \"c\" > 'd'";
  const std::string svg = draw({panel, panel});
  EXPECT_EQ(test::fault_in_xml(svg), "");
  EXPECT_NE(svg.find("a &lt; b &amp; \"c\" &gt; 'd'"), std::string::npos);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(test::fault_in_xml(draw({})), "");
  EXPECT_EQ(test::fault_in_xml(draw({Panel{}})), "");
}

TEST(Drawing, TheWellFormednessCheckFindsFaults) {
  EXPECT_EQ(test::fault_in_xml("<a b=\"c\"><d/>e &amp; f</a>\n"), "");
  for (const char* fault : {"<a>", "<a></b>", "<a/><b/>", "a", "<a b=c/>", "<a b=\"c/>", "<a>&b</a>", "<a><</a>",
                            "<a b=\"1\" b=\"2\"/>", "<a>&nbsp;</a>", ""})
    EXPECT_NE(test::fault_in_xml(fault), "") << fault;
}

TEST(Drawing, NumbersTheMicroBatchesInEveryRow) {
  const std::string svg = draw({panel_of(pipeline({2, 4}), kCost)});
  for (int m = 0; m < 4; ++m)  // forward and backward on each of two ranks
    EXPECT_EQ(count(svg, "class=\"n\"") > 0 ? count(svg, ">" + std::to_string(m) + "</text>\n<text class=\"n\"") +
                                                  count(svg, ">" + std::to_string(m) + "</text>\n<text class=\"r\"") +
                                                  count(svg, ">" + std::to_string(m) + "</text>\n</svg>")
                                            : 0,
              4u)
        << m;
  EXPECT_NE(svg.find(">rank 0<"), std::string::npos);
  EXPECT_NE(svg.find(">rank 1<"), std::string::npos);
  EXPECT_NE(svg.find(">time, ms<"), std::string::npos);
  for (const char* name : {">forward<", ">backward<", ">weight gradient<", ">bubble<", ">wait for straggler<"})
    EXPECT_EQ(count(svg, name), 1u) << name;
}

TEST(Drawing, OfPanelsOfDifferentLengthHasOneScale) {
  // A step of 12 ms above one of 24 ms: the axis ends with the longer one, and the shorter one's boxes are half as
  // wide.
  const Panel fast = panel_of(pipeline({1, 4}), kCost),
              slow = panel_of(pipeline({1, 4}), {.forward_seconds = 2e-3, .backward_seconds = 4e-3});
  const std::string svg = draw({fast, slow});
  EXPECT_NE(svg.find(">20<"), std::string::npos);
  EXPECT_EQ(svg.find(">30<"), std::string::npos);
  // 1 ms of 24 ms on 1090 pixels, minus the seam, is 44.7 pixels; 2 ms are 90.1.
  EXPECT_NE(svg.find("h44.7v20"), std::string::npos) << svg;
  EXPECT_NE(svg.find("h90.1v20"), std::string::npos) << svg;
}

TEST(Drawing, EndsItsAxisAtItsLength) {
  const Schedule schedule = {{{Op::kForward, 0}}};
  Panel panel{.title = "", .note = "", .step = planned_step({schedule}, {{0.1234}}), .idle = {}};
  panel.idle = divide_idle(panel.step, panel.step);
  const std::string svg = draw({panel});
  EXPECT_NE(svg.find(">100</text>"), std::string::npos) << svg;
  EXPECT_EQ(svg.find(">120</text>"), std::string::npos) << "too near to the end";
  EXPECT_NE(svg.find(">123</text>"), std::string::npos) << svg;
}

TEST(Drawing, OfThousandsOfInstructionsStaysASmallFile) {
  const std::string svg = draw({panel_of(pipeline({4, 2000, 8}), kCost)});
  EXPECT_EQ(test::fault_in_xml(svg), "");
  EXPECT_LT(svg.size(), 200u << 10) << "a few boxes every 6 pixels, of 1090 in each of four rows, 25 bytes each";
  // Stacks of 20 pixels: a third is forward, above two thirds of backward.
  EXPECT_GT(count(svg, "v6.7h"), 100u);
  EXPECT_GT(count(svg, "v13.3h"), 100u);
}

TEST(Drawing, OfAThousandRanksShowsTheFirstAndSaysSo) {
  Panel panel = panel_of(pipeline({2, 4}), kCost);
  while (panel.step.num_ranks() < 1000) {
    panel.step.ranks.push_back(panel.step.ranks[panel.step.num_ranks() % 2]);
    panel.idle.push_back(panel.idle[panel.idle.size() % 2]);
  }
  const std::string svg = draw({panel});
  EXPECT_NE(svg.find("(968 more ranks not drawn)"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"r\""), 32u);
}

}  // namespace
}  // namespace convoy
