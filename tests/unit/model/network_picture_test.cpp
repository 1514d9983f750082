/// Pictures of networks: well-formed, with every cell and every kind's layers, from 4 cells to 150.
#include "convoy/model/network_picture.h"

#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/features.h"
#include "convoy/model/network.h"
#include "convoy/model/network_file.h"

#include "model/built_in_networks.h"
#include "unit/model/declared_input.h"
#include "unit/schedule/well_formed.h"

namespace convoy {
namespace {

using testing::HasSubstr;

std::string draw(const std::string& name, const std::string& text) {
  const InputShape input = ImageShape{32, 32, 3};
  const NetworkSource source{.name = "my.lua", .text = text};
  return draw_network(name, build_network_list({.file = source, .input = input, .num_classes = 10}).list, input);
}

// A file with a stem, `repeats` cells with this body, and a head.
std::string file_of(const std::string& body, int repeats) {
  return "network{}\nlocal x = cell('stem', function() return conv('conv', feature('image'), {8, kernel = 3}) end)\n"
         "for i = 1, " +
         std::to_string(repeats) + " do x = cell('block' .. i, function(x) " + body +
         " end, x) end\n"
         "return cell('head', function(x) return logits('fc', global_average_pool(x), num_classes) end, x)\n";
}

int count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<int>(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

TEST(NetworkPicture, OfEveryBuiltInNetworkIsWellFormedAndHasAllCells) {
  for (const std::string& name : network_names()) {
    const NetworkDeclaration declared = find_declaration({.name = name});
    const std::int64_t size = std::max<std::int64_t>(32, declared.image_size);
    const InputShape input = test::declared_input(name, {size, size, 3}, {.length = 64, .vocabulary = 1000});
    const NetworkList list =
        build_network_list({.name = name, .input = input, .num_classes = test::kDeclaredOutputs}).list;
    const std::string svg = draw_network(name, list, input);
    EXPECT_EQ(test::fault_in_xml(svg), "") << name;
    for (const CellList& cell : list.cells) EXPECT_THAT(svg, HasSubstr("<title>" + cell.name + ": ")) << name;
    EXPECT_LT(svg.size(), 60'000u) << name;
  }
}

TEST(NetworkPicture, ShowsDilationAndGroups) {
  EXPECT_THAT(draw("a", file_of("return conv('c', x, {8, kernel = 3, dilation = 2})", 1)),
              HasSubstr(">conv 3 × 3 dilation 2<"));
  EXPECT_THAT(draw("a", file_of("return conv('c', x, {8, kernel = 3, groups = 4})", 1)),
              HasSubstr(">conv 3 × 3 4 groups<"));
  EXPECT_THAT(draw("a", file_of("return conv('c', x, {8, kernel = 7, stride = 2, groups = 8})", 1)),
              HasSubstr(">depthwise 7 × 7 / 2<"));
}

TEST(NetworkPicture, AResidualConnectionIsACurveAndAChainHasNone) {
  EXPECT_EQ(count(draw("a", file_of("return x + relu(conv('conv', x, {8}))", 1)), "class=\"skip\" d=\"M[^\"]*Q"), 1);
  EXPECT_EQ(count(draw("a", file_of("return relu(conv('conv', x, {8}))", 1)), "class=\"skip\" d=\"M[^\"]*Q"), 0);
}

TEST(NetworkPicture, NeighboursOfOneKindShareABoxAndAreAllNamed) {
  const std::string svg = draw("deep", file_of("return x + conv('conv', x, {8})", 150));
  EXPECT_THAT(svg, HasSubstr("× 150"));
  EXPECT_THAT(svg, HasSubstr("block1 … block150"));
  EXPECT_EQ(count(svg, "<title>block[0-9]+: 32 × 32 × 8"), 150);
  EXPECT_THAT(svg, HasSubstr("150 cells; shapes of the first"));
  EXPECT_LT(svg.size(), 60'000u);
}

TEST(NetworkPicture, CellsOfManyKindsFillSeveralColumns) {
  const std::string svg = draw("many", file_of("return i % 2 == 0 and relu(x) or conv('conv', x, {8})", 150));
  EXPECT_EQ(test::fault_in_xml(svg), "");
  EXPECT_EQ(count(svg, ">block[0-9]+</text>"), 150);
  std::smatch size;
  ASSERT_TRUE(std::regex_search(svg, size, std::regex("width=\"([0-9]+)\" height=\"([0-9]+)\"")));
  const double width_of_height = std::stod(size[1]) / std::stod(size[2]);
  EXPECT_TRUE(width_of_height > 0.5 && width_of_height < 2) << width_of_height;
}

TEST(NetworkPicture, ShapesAreOnTheEdgesAndWindowsInTheBoxes) {
  const std::string svg = draw("a", file_of("return conv('conv', x, {24, kernel = 3, stride = 2})", 1));
  EXPECT_THAT(svg, HasSubstr(">conv 3 × 3 / 2<"));
  EXPECT_THAT(svg, HasSubstr(">16 × 16 × 24<"));
  EXPECT_THAT(svg, HasSubstr(">10<"));  // logits
}

TEST(NetworkPicture, NamesAreEscaped) {
  const std::string svg = draw("<a & \"b\">", file_of("return relu(x)", 1));
  EXPECT_EQ(test::fault_in_xml(svg), "");
  EXPECT_THAT(svg, HasSubstr("&lt;a &amp; "));
}

}  // namespace
}  // namespace convoy
