/// Networks as files: what mistakes are told, what hostile files may not do, and lists of layers.
#include <chrono>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/model/network.h"
#include "convoy/ops/operations.h"

#include "model/built_in_networks.h"
#include "model/listed_cell.h"
#include "model/run_network_file.h"
#include "unit/messages.h"
#include "unit/model/declared_input.h"

namespace convoy {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

BuiltNetwork build(const std::string& text, const std::map<std::string, std::string>& settings = {}) {
  return run_network_file({.name = "my.lua", .text = text},
                          {.name = "", .settings = settings, .input = ImageShape{12, 10, 3}, .num_classes = 4});
}

std::string complaint(const std::string& text, const std::map<std::string, std::string>& settings = {}) {
  return test::message_of<RequestError>([&] { build(text, settings); });
}

// A file whose first cell has this body.
std::string stem(const std::string& body) {
  return "network{}\nlocal x = cell('stem', function()\n" + body + "\nend)\n" +
         "return cell('head', function(x) return logits('fc', global_average_pool(x), num_classes) end, x)\n";
}

const std::string kSmall = R"(
network{about = "a small network"}
local width = parameter("width", 8, "filters", {min = 1, max = 64})
local act = parameter("act", "relu", "activation", {"relu", "gelu"})
local x = cell("stem", {prefix = ""}, function() return conv("conv1", feature("image"), {width, kernel = 3}) end)
for i = 1, 2 do
  x = cell("block" .. i, function(x)
    local y = batch_norm("bn", conv("conv", x, {filters = x.channels, kernel = 3}))
    return (act == "relu" and relu or gelu)(y + x)
  end, x)
end
return cell("head", function(x) return logits("fc", global_average_pool(x), num_classes) end, x)
)";

TEST(NetworkFile, BuildsAListThatGivesTheCells) {
  const BuiltNetwork built = build(kSmall, {{"width", "16"}});
  const Network network =
      build_cells(built.list, {.input = ImageShape{12, 10, 3}, .micro_batch = 5, .type = DataType::kBfloat16});
  ASSERT_EQ(network.size(), 4u);
  EXPECT_EQ(network[1]->name(), "block1");
  EXPECT_EQ(network[1]->y(), (TensorSpec{Shape::images(5, 12, 10, 16), DataType::kBfloat16}));
  EXPECT_EQ(network[1]->memory().parameters().front().spec.name, "block1.conv.weight");
  EXPECT_EQ(network[0]->memory().parameters().front().spec.name, "conv1.weight");
  ASSERT_EQ(built.parameters.size(), 2u);
  EXPECT_EQ(built.parameters[0].value, "16");
  EXPECT_EQ(built.parameters[0].allowed, "whole number, at least 1, at most 64");
  EXPECT_EQ(built.parameters[1].allowed, "relu, gelu");
}

// The input of the first cell is not copied, as its layers read it in the other shape. At the end of a cell a value is
// copied if no layer has written it in its shape.
TEST(NetworkFile, FlattenedValuesAreCopiedOnlyAtTheEndOfACell) {
  const BuiltNetwork built = build(R"(
network{}
local x = cell("a", function() return relu(conv("c", feature("image"), 2)) end)
x = cell("b", function(x) return flatten(x) end, x)
x = cell("c", function(x) return flatten(linear("l", flatten(x), 6)) end, x)
return cell("d", function(x) return logits("fc", flatten(x), num_classes) end, x)
)");
  const Network network = build_cells(built.list, {.input = ImageShape{12, 10, 3}, .micro_batch = 5});
  const auto operations = [&](std::size_t cell) {
    std::vector<std::string> names;
    for (const LayerInfo& layer : network[cell]->layers()) names.push_back(layer.operation);
    return names;
  };
  EXPECT_EQ(network[1]->y().shape, Shape::vectors(5, 12 * 10 * 2));
  EXPECT_EQ(operations(1), (std::vector<std::string>{ops::ChannelCopyOp::kName}));
  EXPECT_EQ(operations(2), (std::vector<std::string>{ops::LinearOp::kName}));
  EXPECT_EQ(network[2]->memory().parameters().front().spec.dims, (std::vector<std::int64_t>{6, 12 * 10 * 2}));
  EXPECT_EQ(operations(3), (std::vector<std::string>{ops::LinearOp::kName}));
}

TEST(NetworkFile, ListsSurviveTheirTextAndNameTheirFirstDifference) {
  const NetworkList list = build(kSmall).list;
  EXPECT_EQ(parse_network_list(to_text(list)), list);
  EXPECT_EQ(describe_difference(list, list), "");
  EXPECT_EQ(describe_difference(build(kSmall, {{"width", "16"}}).list, list),
            "cell 0 (stem): conv 'conv1': filters is 16, not 8");
  EXPECT_EQ(describe_difference(build(kSmall, {{"act", "gelu"}}).list, list), "cell 1 (block1): gelu, not relu");
}

// A checkpoint's list must stay equal to that of its network's file if layers get arguments that they did not have.
TEST(NetworkFile, ArgumentsWithoutADefaultValueAreNotListed) {
  const std::string text = to_text(build(stem("return average_pool(conv('a', feature('image'), 8), 2)")).list);
  EXPECT_EQ(text.find("dilation"), std::string::npos) << text;
  EXPECT_EQ(text.find("count_padding"), std::string::npos) << text;
}

TEST(NetworkFile, ConcatenatesSlicesAndDilates) {
  const BuiltNetwork built = build(stem(R"(
    local a = conv("a", feature("image"), {8, kernel = 3, dilation = 3})
    local b = conv("b", slice_channels(a, {3, first = 5}), {4, kernel = 3, dilation = 2, padding = 0})
    local c = adaptive_average_pool(concat(a, a, slice_channels(a, 5)), {b.height, width = b.width})
    return concat(b, c))"));
  const Network network = build_cells(built.list, {.input = ImageShape{12, 10, 3}, .micro_batch = 2});
  EXPECT_EQ(network.front()->y().shape, Shape::images(2, 8, 6, 4 + 8 + 8 + 5));
}

TEST(NetworkFile, SumsAndProductsAreAlsoWrittenAsSigns) {
  const std::string a = "local a = conv('a', feature('image'), 8)\nlocal b = global_average_pool(a)\n";
  EXPECT_EQ(
      to_text(build(stem(a + "return (2 * a + 0.5) * b + a * a * 3")).list),
      to_text(build(stem(a + "return add(multiply(shift(scale(a, {2}), 0.5), b), scale(multiply(a, a), 3))")).list));
  EXPECT_EQ(complaint(stem(a + "return a * 'b'")), "my.lua:5: *: each side must be a value of a layer or a number");
  EXPECT_EQ(
      complaint(stem(a + "return a * conv('c', a, 9)")),
      "my.lua:5: multiply: the shapes 12 x 10 x 8 and 12 x 10 x 9 (height x width x channels) differ, and neither "
      "is 1 x 1 x the channels of the other");
  EXPECT_THAT(complaint(stem(a + "return a + 1e999")), HasSubstr("shift: constant must be a number"));
}

// What has its default is not in the list, so that older checkpoints have the list of the same network.
TEST(NetworkFile, BatchNormsHaveAnEpsilonAndAMomentum) {
  const auto list_of = [](const std::string& arguments) {
    return build(stem("return batch_norm('bn', conv('a', feature('image'), 8)" + arguments + ")")).list;
  };
  EXPECT_THAT(to_text(list_of("")), HasSubstr("[\"batch_norm\",\"bn\",[1],{}]"));
  EXPECT_EQ(list_of(", {1e-5, momentum = 0.1}"), list_of(""));
  const NetworkList list = list_of(", {1e-3, momentum = 0.25}");
  EXPECT_THAT(to_text(list), HasSubstr("{\"epsilon\":0.001,\"momentum\":0.25}"));
  const Network network = build_cells(list, {.input = ImageShape{12, 10, 3}});
  for (const CellMemory::Entry& entry : network.front()->memory().parameters())
    EXPECT_EQ(entry.spec.momentum, entry.spec.is_statistic() ? 0.25 : ParameterSpec{}.momentum) << entry.spec.name;
}

TEST(NetworkFile, NormsRefuseGroupsThatDoNotDivideTheChannels) {
  const auto norm = [](const std::string& call) {
    return stem("return " + call + "('n', conv('a', feature('image'), 8), 3)");
  };
  EXPECT_EQ(complaint(norm("group_norm")),
            "my.lua:3: group_norm 'n': groups = 3 does not divide the 8 channels of the input");
  EXPECT_EQ(complaint(norm("rms_norm")), "my.lua:3: rms_norm 'n': epsilon = 3 is too large: at most 1");
}

TEST(NetworkFile, ACommentChangesNothing) {
  EXPECT_EQ(to_text(build(kSmall + "-- the end").list), to_text(build(kSmall).list));
}

TEST(NetworkFile, EveryBuiltInNetworkSurvivesItsText) {
  for (const std::string& name : network_names()) {
    std::map<std::string, std::string> settings;
    const NetworkSource& source = find_built_in_network(name, settings).source;
    const InputShape input = test::declared_input(name, {32, 32, 3});
    const NetworkList list =
        run_network_file(source, {.name = name, .input = input, .num_classes = test::kDeclaredOutputs}).list;
    EXPECT_EQ(parse_network_list(to_text(list)), list) << name;
  }
}

TEST(NetworkFile, MistakesAreToldWithLineCallShapesAndTheNearestName) {
  EXPECT_EQ(complaint(stem("return cnov('a', feature('image'), 8)")),
            "my.lua:3: there is no function or variable 'cnov'. Nearest: conv");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {8, kernal = 3})")),
            "my.lua:3: conv 'a': it has no argument 'kernal'. Nearest: kernel");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {8, groups = 5})")),
            "my.lua:3: conv 'a': groups = 5 does not divide the 3 channels of the input");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {8, kernel = 20, padding = 1})")),
            "my.lua:3: conv 'a': the kernel of 20 x 20 does not fit into an input of 12 x 10 x 3 with padding 1");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'))")),
            "my.lua:3: conv 'a': the argument 'filters' is missing: number of filters, the channels of the result");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {8, stride = 0})")),
            "my.lua:3: conv 'a': stride = 0 is too small: at least 1");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {8, bias = 'yes'})")),
            "my.lua:3: conv 'a': bias must be true or false, not the text 'yes'");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {8, kernel = {3, 3}})")),
            "my.lua:3: conv 'a': kernel must be a whole number, not a table");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {relu})")),
            "my.lua:3: conv 'a': filters must be a whole number, not a function");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {8, kernel = 2.5})")),
            "my.lua:3: conv 'a': kernel must be a whole number, not 2.5");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), 8, 3)")),
            "my.lua:3: conv 'a': 2 arguments follow its inputs; give them in one table, as in {filters = ..., kernel = "
            "...}");
  EXPECT_EQ(complaint(stem("return conv(feature('image'), 8)")),
            "my.lua:3: conv: its first argument is the name of its parameters, as in conv(\"name\", x)");
  EXPECT_THAT(complaint(stem("return conv('a', 8)")),
              HasSubstr("my.lua:3: conv 'a': its second argument must be a value"));
  EXPECT_EQ(complaint(stem("local a = conv('a', feature('image'), 8)\nreturn a + conv('b', a, 9)")),
            "my.lua:4: add: the shapes 12 x 10 x 8 and 12 x 10 x 9 (height x width x channels) differ");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image'), {8, kernel = 11, dilation = 2, padding = 1})")),
            "my.lua:3: conv 'a': the kernel of 21 x 21 does not fit into an input of 12 x 10 x 3 with padding 1");
  EXPECT_EQ(complaint(stem("return conv('a', slice_channels(feature('image'), {3, first = 1}), 8)")),
            "my.lua:3: slice_channels: 3 channels from channel 1 on are more than the 3 of the input");
  EXPECT_EQ(
      complaint(stem("local a = conv('a', feature('image'), 8)\nreturn concat(a, conv('b', a, {8, stride = 2}))")),
      "my.lua:4: concat: the inputs 12 x 10 x 8 and 6 x 5 x 8 (height x width x channels) have different pixels");
  EXPECT_EQ(complaint(stem("return concat(feature('image'))")),
            "my.lua:3: concat: 1 inputs are given; it reads 2 to 64");
  EXPECT_EQ(complaint(stem("return conv('a', feature('images'), 8)")),
            "my.lua:3: feature 'images': the data holds images, which have the feature 'image' and not 'images'");
  EXPECT_EQ(complaint(stem("return conv('a', feature('image').depth, 8)")),
            "my.lua:3: a value has channels, height, width and length, but no 'depth'");
}

TEST(NetworkFile, MistakesWithCellsAreTold) {
  EXPECT_EQ(complaint(stem("local a = conv('a', feature('image'), 8)\nlocal b = relu(a)\nreturn a")),
            "my.lua:2: cell 'stem': the result of relu is not used");
  EXPECT_EQ(complaint(stem("local a = conv('a', feature('image'), 8)\nreturn conv('a', a, 8)")),
            "my.lua:2: cell 'stem': there is a parameter 'stem.a.weight' already: layers need different names");
  EXPECT_EQ(complaint(stem("conv('a', feature('image'), 8)")),
            "my.lua:2: cell 'stem': its function must return the result of a layer, but returns nothing");
  EXPECT_EQ(complaint("network{}\nconv('a', 1, 8)"),
            "my.lua:2: conv: a layer belongs to a cell: call it in the function of cell(...)");
  const std::string first = "network{}\nlocal x = cell('a', function() return conv('c', feature('image'), 8) end)\n";
  EXPECT_THAT(
      complaint(first + "return cell('b', function(y) return relu(x) end, x)"),
      HasSubstr("my.lua:3: relu: the value belongs to cell 'a'. A cell reads only the result of the cell before"));
  EXPECT_EQ(complaint(first + "return cell('b', function(x) return relu(x) end)"),
            "my.lua:3: cell 'b': its last argument is missing, the result of cell 'a'");
  EXPECT_EQ(complaint(first + "return cell('a', function(x) return relu(x) end, x)"),
            "my.lua:3: cell 'a': there is a cell with this name already");
  EXPECT_EQ(complaint(first + "return x"),
            "my.lua:2: the last cell, 'a', must end with logits(...) or objectives(...), not with conv");
  EXPECT_EQ(complaint(first), "my.lua: a file ends with 'return' and the result of its last cell");
}

TEST(NetworkFile, ValuesOfAnotherKindAreRefused) {
  const auto text = [](const std::string& cells) {
    return test::message_of<RequestError>([&] {
      run_network_file({.name = "my.lua", .text = "network{reads = 'text'}\n" + cells},
                       {.name = "", .input = TextShape{.length = 16, .vocabulary = 100}, .num_classes = 4});
    });
  };
  const auto first = [&](const std::string& layers) {
    return text(
        "local x = cell('a', function()\n" + layers +
        "\nend)\nreturn cell('b', function(x) return logits('fc', sequence_mean(x, feature('length')), 4) end, x)");
  };
  const std::string words = "local x = embedding('e', feature('tokens'), {100, width = 16})\n";
  EXPECT_EQ(first(words + "return silu(x)"), "(nothing was thrown)");
  EXPECT_EQ(
      first("return conv('c', feature('tokens'), 8)"),
      "my.lua:3: conv 'c': its input must be numbers, but is tokens, as feature(\"tokens\"). embedding(...) turns "
      "them into numbers");
  EXPECT_EQ(first("return embedding('e', feature('length'), {100, width = 16})"),
            "my.lua:3: embedding 'e': its input must be tokens, as feature(\"tokens\"), but is lengths of texts, as "
            "feature(\"length\")");
  EXPECT_EQ(first("return embedding('e', feature('tokens'), {99, width = 16})"),
            "my.lua:3: embedding 'e': rows = 99 are fewer than the 100 values that its input can have");
  EXPECT_EQ(
      first(words + "return self_attention('s', x, x, 1)"),
      "my.lua:4: self_attention 's': its input 2 must be lengths of texts, as feature(\"length\"), but is numbers");
  EXPECT_EQ(first(words + "return self_attention('s', conv('c', x, {16, stride = 2}), feature('length'), 1)"),
            "my.lua:4: self_attention 's': its first input has 8 words, but the texts have up to 16");
  EXPECT_EQ(
      first(words + "return gather(x, x)"),
      "my.lua:4: gather: its input 2 must be positions of words, as feature(\"masked_positions\"), but is numbers");
  const std::string scores =
      "local s = linear_cross_entropy('l', first_word(embedding('e', feature('pair_tokens'), {100, width = 16})), "
      "feature('next_sentence'), 2)\n";
  EXPECT_THAT(first(scores + "return objectives(s, {names = {'a,b'}})"), HasSubstr("no name of an objective"));
  EXPECT_EQ(first(words + "return objectives(x, {{'a'}})"),
            "my.lua:4: objectives: its input must be scores of a loss, as linear_cross_entropy(...), but is numbers");
  EXPECT_EQ(first("return squared_error(logits('l', first_word(embedding('e', feature('pair_tokens'), {100, width = "
                  "16})), 4), feature('next_sentence'))"),
            "my.lua:3: squared_error: its input 2 must be targets, as feature(\"target\"), but is labels, as "
            "feature(\"masked_words\")");
  EXPECT_EQ(first("return linear_cross_entropy('l', gather(embedding('e', feature('pair_tokens'), {100, width = 16}), "
                  "feature('masked_positions')), feature('masked_words'), 99)"),
            "my.lua:3: linear_cross_entropy 'l': classes = 99 are fewer than the 100 values that its input can have");
  EXPECT_EQ(first("return linear_cross_entropy('l', embedding('e', feature('pair_tokens'), {100, width = 16}), "
                  "feature('next_sentence'), 2)"),
            "my.lua:3: linear_cross_entropy 'l': 16 words have 1 labels");
  EXPECT_EQ(
      first(words + "return sequence_mean(x, feature('pair_length'))"),
      "my.lua:4: feature: 'tokens' and 'pair_length' belong to different forms of a text, and a network reads one "
      "form");
  EXPECT_EQ(first(words + "return x + position_embedding('p', feature('tokens'), {16, width = 16})"),
            "my.lua:4: feature: 'tokens' is read already. Only lengths may be read several times");
  EXPECT_EQ(first(words + "return logits('fc', x, 4)"),
            "my.lua:4: logits 'fc': its input has 16 x 1 pixels or words, and a sample has one class: put "
            "global_average_pool(x) or flatten(x) before it, or for texts sequence_mean(x, feature(\"length\")) or "
            "first_word(x)");
  EXPECT_EQ(first(words + "return logits('fc', first_word(x), 4)"),
            "my.lua:6: cell 'b': no cell can follow 'a', whose output is the result of logits");
  EXPECT_EQ(text("return cell('a', function() return logits('fc', first_word(embedding('e', feature('tokens'), {100, "
                 "width = 16})), 5) end)"),
            "my.lua:2: cell 'a': logits gives 5 classes, and the data have 4: write num_classes");
}

TEST(NetworkFile, ListsThatNoFileCanHaveBuiltAreRefused) {
  const NetworkList good = build(kSmall).list;
  const auto complaint_of = [&](const auto& change) {
    NetworkList list = good;
    change(list);
    return test::message_of<RequestError>([&] {
      build_cells(list, {.input = ImageShape{12, 10, 3}, .num_classes = 4});
    });
  };
  EXPECT_EQ(complaint_of([](NetworkList&) {}), "(nothing was thrown)");
  EXPECT_THAT(complaint_of([](NetworkList& list) { list.cells.pop_back(); }),
              HasSubstr("the last cell ends with neither logits nor objectives"));
  EXPECT_THAT(
      complaint_of([](NetworkList& list) { list.cells.back().layers.back().arguments["classes"] = std::int64_t{3}; }),
      HasSubstr("logits gives 3 classes, and the data have 4"));
}

TEST(NetworkFile, HelpersAreTracedToTheirCaller) {
  EXPECT_EQ(complaint("network{}\nlocal function f(x)\n  return relu(conv('a', x, {8, kernel_size = 3}))\nend\n" +
                      stem("local y = f(feature('image'))\nreturn y").substr(10)),
            "my.lua:3: conv 'a': it has no argument 'kernel_size'. Nearest: kernel (called from line 6)");
}

TEST(NetworkFile, HabitsFromElsewhereAreExplained) {
  const std::string image = "local x = conv('a', feature('image'), 8)\n";
  EXPECT_EQ(complaint("local w = parameter('w', 8, 'filters')"), "my.lua:1: parameter w: network{...} must come first");
  EXPECT_EQ(complaint("network{reads = 'image'}"),
            "my.lua:1: network: reads = \"image\" must be \"images\", \"text\", \"arrays\"");
  EXPECT_EQ(complaint(stem(image + "return x - x")),
            "my.lua:4: values have the operators + and * alone: write a + -1 * b for a difference, 0.5 * x for a half, "
            "tostring(x) for a text");
  EXPECT_EQ(complaint(stem(image + "return x, x")),
            "my.lua:2: cell 'stem': its function returns 2 values, and a cell has one output");
  EXPECT_THAT(complaint(stem(image + "return relu(nil)")), HasSubstr("It is nil: does a function lack 'return'?"));
  EXPECT_EQ(complaint("network{}\nlocal n = input.heigth"),
            "my.lua:2: input has no 'heigth': it has height, width and channels, as the data hold images");
  EXPECT_THAT(complaint(stem(image + "return dropout(x, 1)")), HasSubstr("my.lua:4: dropout: share = 1 is too large"));
}

TEST(NetworkFile, NamesOfOtherLanguagesAreTranslated) {
  const std::vector<std::pair<std::string, std::string>> advice_of_name = {
      {"True", "Lua writes true"},
      {"None", "Lua writes nil for None"},
      {"cat", "Nearest: concat"},
      {"avg_pool", "Nearest: average_pool"},
      {"AvgPool2d", "Nearest: average_pool"},
      {"ReLU", "Nearest: relu"},
      {"Conv2d", "Nearest: conv"},
      {"BatchNorm2d", "Nearest: batch_norm"},
      {"len", "Lua writes #list"},
      {"MultiheadAttention", "Nearest: self_attention"},
      {"torch", "Layers are functions without a module"},
      {"F", "Layers are functions without a module"}};
  for (const auto& [name, advice] : advice_of_name)
    EXPECT_THAT(complaint("network{}\nlocal y = " + name),
                HasSubstr(fmt::format("my.lua:2: there is no function or variable '{}'. {}", name, advice)));
  EXPECT_EQ(complaint("network{}\nlocal y = f"), "my.lua:2: there is no function or variable 'f'. Nearest: feature");
}

TEST(NetworkFile, SignsOfOtherLanguagesAreTranslated) {
  const std::vector<std::pair<std::string, std::string>> advice_of_line = {
      {"if x != 1 then end", "near '!'. Lua writes ~= for !="},
      {"x += 1", "near '+'. Lua writes x = x + 1"},
      {"local y = x ** 2", "near '*'. Lua writes x ^ 2"},
      {"local y = 1  # filters", "near '#'. In Lua a comment begins with --"},
      {"# filters", "near '#'. In Lua a comment begins with --"},
      {"local y = [1, 2]", "near '['. Lua writes a list as {1, 2}"},
      {"if x == 1 then\n y = 1\nelif x == 2 then\n y = 2\nend", "Lua writes elseif for elif"},
      {"if x == 1 then\n y = 1\nelse if x == 2 then\n y = 2\nend", "near <eof>. Lua writes elseif"},
      {"def block(x):\n  return relu(x)", "Lua writes local function f(x) ... end"},
      {"if x == 1:\n  y = 1", "Lua writes then or do in place of the colon"},
      {"for i in range(3):\n  y = 1", "Lua writes then or do in place of the colon"},
      {"local y = x !", "Lua writes not for !"}};
  for (const auto& [line, advice] : advice_of_line) EXPECT_THAT(complaint("network{}\n" + line), HasSubstr(advice));
  EXPECT_EQ(complaint("network{}\nlocal n = #input x"), "my.lua:2: syntax error near <eof>");
}

TEST(NetworkFile, ValuesCanBeShown) {
  const std::string image = "local x = conv('a', feature('image'), 8)\n";
  EXPECT_THAT(complaint(stem(image + "error(tostring(x) .. ('; %s'):format(x))")),
              HasSubstr("my.lua:4: value (N,12,10,8); value (N,12,10,8)"));
  EXPECT_THAT(complaint("network{}\nlocal a\nlocal x = cell('s', function() a = conv('a', feature('image'), 8) return "
                        "a end)\nerror(tostring(x) .. '; ' .. tostring(a))"),
              HasSubstr("my.lua:4: value (N,12,10,8); value of a finished cell"));
  const auto printed = [](const std::string& text) {
    testing::internal::CaptureStdout();
    complaint(text);
    complaint(text);  // a command may run a file several times
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_EQ(printed(stem(image + "print('x:', x, 1.5, true, nil)\nprint('\\27[31m')\nreturn x")),
            "x: value (N,12,10,8) 1.5 true nil\n\\x1b[31m\n");
  EXPECT_EQ(printed("network{}\nprint('before the error')\nrefuse('the end')"), "before the error\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(complaint("network{}\nfor i = 1, 1e5 do print(i) end"), "my.lua:2: print: a file may print 1000 lines");
  EXPECT_THAT(testing::internal::GetCapturedStdout(), EndsWith("\n999\n1000\n"));
}

TEST(NetworkFile, MessagesNameTheFileOnceAsTheUserDoes) {
  const std::string path = "a/folder/with/a/name/that/is/longer/than/lua/shows/in/its/own/messages/my.lua";
  const auto told = [&](const std::string& text) {
    return test::message_of<RequestError>([&] {
      build_network_list({.file = NetworkSource{.name = path, .text = text}, .input = ImageShape{12, 10, 3}});
    });
  };
  EXPECT_EQ(told("network{}\nlocal x = cnov"), path + ":2: there is no function or variable 'cnov'. Nearest: conv");
  EXPECT_EQ(told("network{}\nx = = 1"), path + ":2: unexpected symbol near '='");
  EXPECT_EQ(told("network{}\nlocal y = nil .. 'a'"), path + ":2: attempt to concatenate a nil value");
  EXPECT_EQ(told("network{}\nrefuse('two classes only')"), "model.file = " + path + ": two classes only");
}

TEST(NetworkFile, AByteOrderMarkIsNoPartOfIt) {
  EXPECT_EQ(to_text(build("\xEF\xBB\xBF" + kSmall).list), to_text(build(kSmall).list));
}

TEST(NetworkFile, ADefaultThatIsWrongIsToldWithItsLine) {
  EXPECT_EQ(complaint("network{}\nlocal w = parameter('w', 0, 'filters', {min = 1})"),
            "my.lua:2: the parameter w must be a number, at least 1, not 0");
  EXPECT_EQ(complaint("network{}\nlocal a = parameter('a', 'tanh', 'activation', {'relu', 'gelu'})"),
            "my.lua:2: the parameter a must be one of relu, gelu, not tanh");
}

TEST(NetworkFile, AParameterThatIsWrongIsRefused) {
  EXPECT_EQ(complaint(kSmall, {{"width", "65"}}),
            "the parameter width must be a number, at least 1, at most 64, not 65");
  EXPECT_EQ(complaint(kSmall, {{"width", "wide"}}), "the parameter width must be a whole number, not wide");
  EXPECT_EQ(complaint(kSmall, {{"act", "tanh"}}), "the parameter act must be one of relu, gelu, not tanh");
  EXPECT_EQ(complaint(kSmall, {{"widht", "8"}}),
            "the network has no parameter 'widht', so that it cannot be 8. Nearest: width");
}

TEST(NetworkFile, ErrorsOfLuaHaveTheirLine) {
  EXPECT_THAT(complaint("network{}\nx = = 1"), HasSubstr("my.lua:2: unexpected symbol near '='"));
  EXPECT_THAT(complaint("network{}\nlocal t = nil\nreturn t.a"), HasSubstr("my.lua:3: attempt to index a nil value"));
  EXPECT_EQ(complaint("network{}\nrefuse('two classes only')"), "two classes only");
}

TEST(NetworkFile, WhatCouldReachTheMachineDoesNotExist) {
  for (const std::string name : {"io", "os", "require", "load", "loadstring", "dofile", "loadfile", "debug", "package",
                                 "collectgarbage", "setmetatable", "getmetatable", "rawset", "pcall", "coroutine"})
    EXPECT_THAT(complaint("network{}\nlocal f = " + name), HasSubstr("there is no function or variable '" + name))
        << name;
  for (const std::string call :
       {"math.random()", "('x'):find('(x*)*y')", "string.match('a', 'a')", "('a'):gsub('a', 'b')", "string.dump(relu)",
        "table.sort({})", "table.move({}, 1, 9e9, 1)"})
    EXPECT_THAT(complaint("network{}\nlocal f = " + call), HasSubstr("attempt to call a nil value")) << call;
  EXPECT_THAT(complaint("\x1bLua bytecode"), HasSubstr("attempt to load a binary chunk"));
  EXPECT_THAT(complaint("network{}\nerror(tostring({}) .. tostring(relu))"), HasSubstr("tablefunction"));
  EXPECT_THAT(complaint("network{}\nlocal s = ('%s'):format({})"), HasSubstr("format: it needs numbers and texts"));
  EXPECT_THAT(complaint("network{}\nlocal s = ('%p'):format('a')"), HasSubstr("format: %p is not possible"));
}

TEST(NetworkFile, NamesCannotReachATerminalOrAPathInACheckpoint) {
  for (const std::string name : {"", "a/b", "..\\n", "\\27[31mred", "a b", "a*", "a,b"}) {
    EXPECT_THAT(complaint(stem("return conv('" + name + "', feature('image'), 8)")),
                AllOf(HasSubstr(": the name of its parameters is '"), HasSubstr("a name has 1 to 200 letters")));
    const std::string as_cell = complaint("network{}\nlocal x = cell('" + name + "', function() return nil end)");
    EXPECT_THAT(as_cell, HasSubstr("the name of the cell is '"));
    EXPECT_EQ(as_cell.find('\x1b'), std::string::npos);
  }
}

TEST(NetworkFile, PairsHasOneOrder) {
  const std::string text = R"(network{}
local seen = ""
for key, value in pairs{b = 1, a = 2, [2] = 3, c = 4, [1] = 5} do seen = seen .. key .. value end
refuse(seen))";
  EXPECT_EQ(complaint(text), "1523a2b1c4");
}

TEST(NetworkFile, HostileFilesReachALimitSoon) {
  const auto start = std::chrono::steady_clock::now();
  const std::map<std::string, std::string> message_of_file = {
      {"while true do end", "my.lua:2: the file needs more than 50 million instructions: is there a loop or a"},
      {"local s = ('x'):rep(1e9)", "more than a million characters"},
      {"local s = 'x' while true do s = s .. s end", "16 MiB of memory"},
      {"local t = {}\nfor i = 1, 1e9 do t[i] = i end", "my.lua:3: the file needs more than 16 MiB of memory"},
      {"local s = ('x'):rep(1000000) while true do local t = s .. s end", "my.lua:2: the file needs more than 1.5 sec"},
      {"\nlocal function f() return 1 + f() end\nf()", "my.lua:3: the file needs more than 16 MiB of memory"},
      {"local x\nfor i = 1, 1e7 do x = cell('c' .. i, function(x) return x and relu(x) or "
       "conv('a', feature('image'), 1) end, x) end",
       "at most 10000 cells"},
      {"cell('a', function() local x = feature('image') for i = 1, 1e7 do x = conv('c' .. i, x, 1) end return x end)",
       "at most 20000 layers"},
      {"for i = 1, 1e7 do parameter('p' .. i, 1, 'a sentence') end", "parameter: more than 1000"},
      {"local t = " + std::string(100'000, '{'), "C stack overflow"},
  };
  for (const auto& [text, message] : message_of_file)
    EXPECT_THAT(complaint("network{}\n" + text), HasSubstr(message)) << text.substr(0, 100);
  EXPECT_THAT(complaint(std::string(2 << 20, ' ')), HasSubstr("larger than 1.0 MiB"));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 2.0 * static_cast<double>(message_of_file.size())) << "two seconds each at most";
}

TEST(NetworkList, DamagedTextsAreRefused) {
  const std::string good = to_text(build(kSmall).list);
  const auto refused = [](const std::string& text) {
    return test::message_of<Error>([&] {
      const NetworkList list = parse_network_list(text);
      build_cells(list, {.input = ImageShape{12, 10, 3}});
    });
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refused(text);
  };
  EXPECT_THAT(refused("[]"), HasSubstr("it is no list of cells"));
  EXPECT_THAT(refused(good.substr(0, good.size() / 2)), HasSubstr("is damaged"));
  EXPECT_THAT(with("\"conv\"", "\"corv\""), AllOf(HasSubstr("cell stem"), HasSubstr("Nearest: conv")));
  EXPECT_THAT(with("[0]", "[7]"), HasSubstr("reads a value that does not exist yet"));
  EXPECT_THAT(with("\"output\":1", "\"output\":9"), HasSubstr("output of a cell does not exist"));
  EXPECT_THAT(with("\"has_input\":true", "\"has_input\":false"), HasSubstr("reads the output of the cell before it"));
  EXPECT_THAT(with("\"cell\":\"stem\"", "\"cell\":\"\\u001b[31m\""), HasSubstr("the name of the cell is '"));
  EXPECT_THAT(with("\"filters\":8", "\"filters\":-8"), HasSubstr("too small"));
  EXPECT_THAT(with("\"filters\":8", "\"filters\":null"), HasSubstr("is damaged"));
  EXPECT_THAT(refused(std::string(1'000'000, '[')), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace convoy
