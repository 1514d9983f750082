/// Networks of samples that are arrays: which features and shapes their files find, and what is refused by name.
#include <tuple>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/model/network.h"
#include "convoy/model/network_file.h"

#include "model/listed_cell.h"
#include "model/run_network_file.h"
#include "unit/messages.h"

namespace convoy {
namespace {

const ArrayShapes kSeveral{{{"spectrum", Shape::vectors(1, 8)},
                            {"words", Shape::sequences(1, 5, 6)},
                            {"volume", {.n = 1, .d = 2, .h = 3, .w = 4, .c = 5}}}};
const ArrayShapes kPatch{{{"patch", Shape::images(1, 12, 10, 7)}}};
const Target kNumbers{.kind = TargetKind::kNumbers, .shape = Shape::vectors(1, 4)};

struct Data {
  InputShape input = kSeveral;
  Target target = {};
};

Network build_on(const std::string& text, const Data& data = {}) {
  const BuiltNetwork built = run_network_file(
      {.name = "my.lua", .text = text}, {.name = "", .input = data.input, .num_classes = 4, .target = data.target});
  return build_cells(parse_network_list(to_text(built.list)),
                     {.input = data.input, .num_classes = 4, .target = data.target, .micro_batch = 3});
}

std::string refusal_on(const std::string& text, const Data& data = {}) {
  return test::message_of<RequestError>([&] { build_on(text, data); });
}

// A file with one cell, whose input is this value.
std::string head_of(const std::string& value, const std::string& declaration = "network{}") {
  return declaration + "\nreturn cell('head', function() return logits('fc', " + value + ", num_classes) end)";
}

std::string reading(const std::string& feature) {
  return head_of("flatten(feature('" + feature + "'))");
}

TEST(ArrayNetwork, ReadsEachArrayByItsName) {
  const Network network = build_on(
      "network{reads = 'arrays'}\n"
      "assert(input.kind == 'arrays' and #input.names == 3)\n"
      "local x = cell('a', function()\n"
      "  local words = linear('words', feature(input.names[2]), 8)\n"
      "  return concat(linear('spectrum', feature('spectrum'), 2), flatten(relu(feature('volume'))), flatten(words))\n"
      "end)\n"
      "return cell('head', function(x) return logits('fc', x, num_classes) end, x)");
  EXPECT_EQ(network.front()->y().shape, Shape::vectors(3, 2 + 2 * 3 * 4 * 5 + 5 * 8));
  const std::vector<Feature>& features = network.front()->features();
  ASSERT_EQ(features.size(), 3u);
  EXPECT_EQ(features[0].name, "words");
  EXPECT_EQ(features[0].spec, (TensorSpec{Shape::sequences(3, 5, 6), DataType::kFloat32}));
  EXPECT_EQ(features[2].spec.shape, (Shape{.n = 3, .d = 2, .h = 3, .w = 4, .c = 5}));
}

TEST(ArrayNetwork, KnowsTheShapeOfTheOnlyArray) {
  const std::string sides = "assert(input.height == 12 and input.width == 10 and input.channels == 7)\n";
  EXPECT_EQ(refusal_on("network{}\n" + sides + reading("patch").substr(10), {kPatch}), test::kNothingThrown);
  const ArrayShapes words{{{"words", Shape::sequences(1, 5, 6)}}};
  EXPECT_EQ(refusal_on("network{}\nassert(input.length == 5 and input.channels == 6)\n" + reading("words").substr(10),
                       {words}),
            test::kNothingThrown);
  EXPECT_EQ(refusal_on("network{}\nlocal h = input.height"),
            "my.lua:2: input has no 'height': it has names, as the data hold arrays, and height, width, channels and "
            "length if there is one array");
}

TEST(ArrayNetwork, OfImagesReadsASingleArrayWithRowsAndColumns) {
  const std::string images = "network{reads = 'images'}";
  const std::string file = head_of("global_average_pool(conv('c', feature('image'), 8))", images);
  const Network network = build_on(file, {kPatch});
  EXPECT_EQ(network.front()->x().shape, Shape::images(3, 12, 10, 7));
  EXPECT_EQ(network.front()->features().front().name, features::kImage);
  EXPECT_EQ(refusal_on(file),
            "the network reads images, and the data holds arrays: spectrum (8), words (5, 6), volume (2, 3, 4, 5). "
            "Give a network of arrays, such as mlp, or a data set of images.");
  EXPECT_EQ(
      refusal_on(head_of("global_average_pool(conv('c', feature('image'), 8))")),
      "my.lua:2: feature 'image': the network reads images, and the data holds arrays: spectrum (8), words (5, 6), "
      "volume (2, 3, 4, 5). A single array with rows and columns is an image");
  EXPECT_EQ(refusal_on(reading("spectrum"), {ImageShape{12, 10, 3}}),
            "my.lua:2: feature 'spectrum': the data holds images, which have the feature 'image' and not 'spectrum'");
}

TEST(ArrayNetwork, IsToldTheNearestName) {
  EXPECT_EQ(
      refusal_on(reading("spectra")),
      "my.lua:2: feature 'spectra': the data holds the arrays spectrum (8), words (5, 6), volume (2, 3, 4, 5), and not "
      "'spectra'. Nearest: spectrum");
  EXPECT_EQ(refusal_on(reading("position"), {kPatch}),
            "my.lua:2: feature 'position': the data holds the array patch (12, 10, 7), and not 'position'.");
  EXPECT_EQ(
      refusal_on(reading("tokens")),
      "my.lua:2: feature 'tokens': the network reads texts, and the data holds arrays: spectrum (8), words (5, 6), "
      "volume (2, 3, 4, 5). Give a network of arrays, or a data set of texts");
}

TEST(ArrayNetwork, ReadsWhatItHasToAnswer) {
  const auto file = [](const std::string& loss, const std::string& target) {
    return "network{}\nreturn cell('head', function()\n"
           "  return objectives(" +
           loss + ", feature('" + target + "')" + (loss.starts_with("linear") ? ", num_classes" : "") +
           "), {names = {'error'}})\nend)";
  };
  const std::string of_class = "linear_cross_entropy('fc', feature('spectrum')",
                    of_numbers = "squared_error(logits('fc', feature('spectrum'), num_classes)";
  const Network classes = build_on(file(of_class, "label")),
                numbers = build_on(file(of_numbers, "target"), {kSeveral, kNumbers});
  EXPECT_EQ(classes.front()->features()[1].spec, features::label_spec(3));
  EXPECT_EQ(classes.front()->features()[1].num_values, 4);
  EXPECT_EQ(numbers.front()->features()[1].spec, (TensorSpec{Shape::vectors(3, 4), DataType::kFloat32}));
  EXPECT_EQ(refusal_on(file(of_class, "label"), {kSeveral, kNumbers}),
            "my.lua:3: feature 'label': the targets of the data are numbers, which have the feature 'target' and not "
            "'label'");
  EXPECT_EQ(refusal_on(file(of_numbers, "target")),
            "my.lua:3: feature 'target': the targets of the data are classes, which have the feature 'label' and not "
            "'target'");
}

TEST(ArrayNetwork, OfVolumesIsRefusedByTheNameOfTheLayer) {
  constexpr const char* kWhy =
      ": its input has 2 slices of 3 x 4, and {} reads one. Volumes are not possible yet, except for flatten and "
      "functions of single values: import the slices as channels";
  for (const auto& [layer, name, function] :
       {std::tuple("conv('c', feature('volume'), 8)", "conv 'c'", "conv"),
        std::tuple("batch_norm('n', feature('volume'))", "batch_norm 'n'", "batch_norm"),
        std::tuple("linear('l', feature('volume'), 8)", "linear 'l'", "linear"),
        std::tuple("softmax(feature('volume'))", "softmax", "softmax"),
        std::tuple("global_average_pool(feature('volume'))", "global_average_pool", "global_average_pool")})
    EXPECT_EQ(refusal_on(head_of(std::string("flatten(") + layer + ")")),
              "my.lua:2: " + std::string(name) + fmt::format(fmt::runtime(kWhy), function));
  for (const std::string layer : {"relu(x)", "gelu(2 * x + 1)", "x + x", "dropout(x, 0.5)"})
    EXPECT_EQ(refusal_on("network{}\nreturn cell('head', function() local x = feature('volume') return logits('fc', "
                         "flatten(" +
                         layer + "), num_classes) end)"),
              test::kNothingThrown)
        << layer;
}

TEST(ArrayNetwork, GivesEachRowItsPartOfTheOutputs) {
  const std::string each_row =
      "network{}\nreturn cell('head', function() return logits('fc', feature('rows'), "
      "{num_classes, each_row = true}) end)";
  const auto rows = [](std::int64_t count) { return ArrayShapes{{{"rows", Shape::sequences(1, count, 6)}}}; };
  const Network network = build_on(each_row, {rows(2)});
  EXPECT_EQ(network.back()->y().shape, Shape::vectors(3, 4));
  EXPECT_EQ(count_parameters(network), 6 * 2 + 2) << "two outputs for each of two rows";
  EXPECT_EQ(refusal_on(each_row, {rows(3)}),
            "my.lua:2: logits 'fc': the number of rows = 3 does not divide the 4 outputs");
  EXPECT_EQ(refusal_on(head_of("flatten(feature('rows'))"), {rows(3)}), test::kNothingThrown);
  EXPECT_EQ(
      refusal_on("network{}\nreturn cell('head', function() return logits('fc', flatten(feature('rows')), 5) end)",
                 {rows(3), kNumbers}),
      "my.lua:2: cell 'head': logits gives 5 numbers, and the data have 4: write num_classes");
}

TEST(ArrayNetwork, AnswersAtEachPixelOfAField) {
  const Target field{.kind = TargetKind::kNumbers, .shape = Shape::images(1, 12, 10, 4), .dims = {12, 10, 4}};
  const auto with = [](const std::string& value) { return head_of("conv('c', feature('patch'), " + value + ")"); };
  const Network network = build_on(with("{8, kernel = 3}"), {kPatch, field});
  EXPECT_EQ(network.back()->y(), (TensorSpec{Shape::images(3, 12, 10, 4), DataType::kFloat32}));
  EXPECT_EQ(refusal_on(with("{8, kernel = 3, stride = 2}"), {kPatch, field}),
            "my.lua:2: logits 'fc': its input has 6 x 5 pixels, but the target of a sample has 12 x 10, and each is "
            "answered. Leave out strides and pooling, or give convolutions a padding that keeps the size");
  EXPECT_CONTAINS(refusal_on(head_of("flatten(feature('patch'))"), {kPatch, field}), "its input has 1 x 1 pixels, but");
  EXPECT_CONTAINS(refusal_on("network{}\nreturn cell('head', function() return logits('fc', feature('patch'), {4, "
                             "each_row = true}) end)",
                             {kPatch, field}),
                  "each_row = true gives one row of results, but the target is a field of 12 x 10 pixels");
  EXPECT_CONTAINS(refusal_on("network{}\nreturn cell('head', function() return logits('fc', feature('patch'), 5) end)",
                             {kPatch, field}),
                  "logits gives 5 numbers, and the data have 4: write num_classes");
  const Network scores = build_on(
      "network{}\nreturn cell('head', function() return objectives(huber_error(logits('fc', feature('patch'), "
      "num_classes), feature('target')), {names = {'error'}}) end)",
      {kPatch, field});
  EXPECT_EQ(scores.front()->features()[1].spec.shape, Shape::images(3, 12, 10, 4));
}

TEST(ArrayNetwork, DeclaresItsUsualArray) {
  const auto declared = [](const std::string& values) {
    return read_declaration({.name = "my.lua", .text = "network{reads = 'arrays', values = " + values + "}"});
  };
  EXPECT_EQ(declared("32").values, (std::vector<std::int64_t>{32}));
  EXPECT_EQ(declared("{7, 64, 64}").values, (std::vector<std::int64_t>{7, 64, 64}));
  for (const char* const wrong : {"0", "{}", "{1, 2, 3, 4, 5}", "{3, 'a'}", "2.5", "'32'"})
    EXPECT_CONTAINS(test::message_of<RequestError>([&] { declared(wrong); }), "but no 'values'") << wrong;
}

// All inputs of a perceptron, one after the other; the network of two layers has rows of 3 x 64 outputs.
TEST(ArrayNetwork, BuiltInPerceptronsReadArrays) {
  const auto network = [](const std::string& name, const InputShape& input, std::int64_t num_outputs) {
    return make_network({.name = name, .input = input, .micro_batch = 2, .num_classes = num_outputs});
  };
  const std::int64_t values = 8 + 5 * 6 + 2 * 3 * 4 * 5;
  EXPECT_EQ(count_parameters(network("mlp", kSeveral, 10)), values * 64 + 64 + 64 * 10 + 10);
  const ArrayShapes vector{{{"values", Shape::vectors(1, 32)}}}, rows{{{"values", Shape::sequences(1, 3, 32)}}};
  EXPECT_EQ(count_parameters(network("mlp", vector, 10)), 32 * 64 + 64 + 64 * 10 + 10);
  for (const InputShape& input : {InputShape(vector), InputShape(rows)}) {
    const bool has_rows = input == InputShape(rows);
    const Network two_layers = network("two_layers", input, has_rows ? 192 : 64);
    ASSERT_EQ(two_layers.size(), 2u);
    EXPECT_EQ(count_parameters(two_layers), 32 * 32 + 32 + 32 * 64 + 64);
    EXPECT_EQ(two_layers.front()->y().shape, Shape::sequences(2, has_rows ? 3 : 1, 32));
    EXPECT_EQ(two_layers.back()->y().shape, Shape::vectors(2, has_rows ? 192 : 64));
  }
  EXPECT_CONTAINS(test::message_of<RequestError>([&] { network("two_layers", kSeveral, 192); }),
                  "two_layers reads one array, and the data holds 3");
}

}  // namespace
}  // namespace convoy
