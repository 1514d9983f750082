/// What convoy info and convoy plan say of a network alone: without data, without a training.
#include <gtest/gtest.h>

#include "app/program.h"
#include "app/small_data.h"
#include "unit/messages.h"
#include "unit/schedule/well_formed.h"

namespace convoy::test {
namespace {

const std::string kSmallNetwork = R"(network{about = "for images"}
local width = parameter("width", 8, "filters of the stem", {min = 1, max = 64})
local x = cell("stem", function() return conv("conv", feature("image"), {width, kernel = 3, stride = 2}) end)
return cell("head", function(x) return logits("fc", global_average_pool(x), num_classes) end, x)
)";

const std::string kTwoInputs = R"(network{reads = "arrays", about = "an image and a position"}
local x = cell("image", function() return global_average_pool(conv("conv", feature("image"), {16, kernel = 3})) end)
return cell("head", function(x) return logits("fc", concat(flatten(x), feature("position")), num_classes) end, x)
)";

void expect(const std::vector<std::string>& arguments, int status, const std::vector<std::string>& parts) {
  const ProcessResult result = run_program({.arguments = arguments});
  EXPECT_EQ(result.status, status) << result.output;
  for (const std::string& part : parts) EXPECT_CONTAINS(result.output, part);
}

TEST(NetworkInfo, OfANameHasCellsShapesAndTotals) {
  const std::string assumed =
      "data: no data set is opened. Assumed: images of 224x224x3, 1000 classes. To change this: --plan.image_size, "
      "--plan.classes\n";
  expect({"info", "ResNet50"}, 0,
         {assumed, "resnet50: 18 cells\n", "stem ", " 56x56x64 ", "layer4.2 ", " 7x7x2048 ",
          "  17  head             1000       2.0 M         4.1 M          407.9 KiB\n", "all cells ", "25.6 M", "8.2 G",
          "a multiply-add counts as two. With backward: 24.", "has no parameters for model.set"});
}

TEST(NetworkInfo, FollowsTheKeysThatDescribeTheData) {
  expect({"info", "resnet20", "--plan.image_size=28,28,1", "--plan.classes=7"}, 0, {"28x28x16", " 7 "});
  expect({"info", "resnet18", "--augment.size=64", "--plan.classes=7"}, 0, {"16x16x64"});
  expect({"info", "transformer", "--model.length=100", "--model.layers=3", "--model.set=width=64"}, 0,
         {"texts of at most 100 tokens, a vocabulary of 20000, 2 classes", "layers.2 ", " 100x64 ",
          "\n  layers       3 (default 2)     whole number", "\n  width        64 (default 128) ",
          "\n  feedforward  512  "});
  expect({"info", "bert", "--plan.vocabulary=500"}, 0, {"embedding", "heads"});
}

TEST(NetworkInfo, OfSeveralArraysTakesTheirForms) {
  const WorkingDirectory directory;
  const std::string file = directory / "my.lua", forms = "--plan.values=image: 8 x 8 x 7, position: 3";
  write_text(file, kTwoInputs);
  // conv: 16 * 7 * 9 weights; fc: (16 + 3) * 10 weights and 10 biases.
  expect({"info", file, forms}, 0, {"Assumed: 10 classes. To change this: --plan.classes\n", " 1.0 k ", " 10  "});
  expect({"plan", file, forms, "--plan.classes=3", "--plan.measure=false"}, 0,
         {"samples of image (8, 8, 7), position (3), 3 classes"});
  for (const std::string command : {"info", "plan"}) {
    expect({command, file}, 2, {"Without data, one array is assumed. Describe others, as in --plan.values="});
    expect({command, file, "--plan.values=image: 8 x 8 x 7"}, 2, {"feature 'position'"});
    expect({command, file, "--plan.values=a: 3, a: 4"}, 2,
           {"plan.values = a: 3, a: 4 describes no possible data set: two arrays of its samples are called 'a'."});
    expect({command, file, "--plan.values=Image: 3"}, 2, {"'Image' cannot be the name of an array"});
    expect({command, file, "--plan.values=a: 3, b: 2 x 2 x 2 x 2 x 2"}, 2, {"is not possible because of 'b'."});
  }
}

TEST(NetworkInfo, TakesTheShapesAndTheOutputsOfADataSet) {
  const WorkingDirectory directory;
  import_small_data(directory / "small");
  const std::string train = "--data.train=" + directory / "small/data/train";
  const ProcessResult result = run_program({.arguments = {"info", "resnet20", train}});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(result.output.find("resnet20: "), 0U) << result.output;  // nothing is assumed, and nothing has no effect
  EXPECT_CONTAINS(result.output, " 12x12x16 ");
  EXPECT_CONTAINS(result.output, "head              4         260 ");
  expect({"info", "resnet20", train, "--plan.classes=7"}, 2,
         {"plan.classes = 7 describes a data set that replaces data.train. Give one of them."});
  expect({"info", "resnet20", "--data.train=" + directory / "absent"}, 2, {"data.train", "absent"});
}

TEST(NetworkInfo, OfAFileListsItsParametersAndDrawsIt) {
  const WorkingDirectory directory;
  const std::string file = directory / "my.lua", picture = directory / "my.svg";
  write_text(file, kSmallNetwork);
  expect({"info", file, "--model.set=width=16", "--info.draw=" + picture}, 0,
         {"images of 32x32x3, 10 classes", "my: 2 cells", "16x16x16", "--model.set=width=16",
          "width  16 (default 8)  whole number, at least 1, at most 64  filters of the stem",
          "picture written: " + picture + "\n"});
  EXPECT_EQ(fault_in_xml(read_text(picture)), "");
  EXPECT_CONTAINS(read_text(picture), ">conv 3 × 3 / 2<");
}

TEST(NetworkInfo, PassesAKeyWithItsDefaultValueToAFileThatDeclaresIt) {
  const WorkingDirectory directory;
  const std::string file = directory / "my.lua";
  write_text(file, kSmallNetwork);
  expect({"info", file, "--model.width=128"}, 2, {"the parameter width must be a number, at least 1, at most 64"});
  expect({"info", file, "--model.dropout=0.1"}, 2, {"has no parameter 'dropout', so that it cannot be 0.1"});
  expect({"info", file, "--model.name=resnet20"}, 2, {"as its argument, not as --model.name: convoy info resnet20"});
}

TEST(NetworkInfo, PrintsWhatAFilePrints) {
  const WorkingDirectory directory;
  const std::string file = directory / "my.lua";
  write_text(file, kSmallNetwork.substr(0, kSmallNetwork.rfind("return")) + "print(x)\n" +
                       kSmallNetwork.substr(kSmallNetwork.rfind("return")));
  const ProcessResult result = run_program({.arguments = {"info", file}});
  EXPECT_EQ(result.status, 0) << result.output;
  const std::size_t first = result.output.find("value (N,16,16,8)\n");
  EXPECT_NE(first, std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("value (N,16,16,8)\n", first + 1), std::string::npos) << result.output;
}

TEST(NetworkInfo, TeachesWhatIsWrong) {
  const WorkingDirectory directory;
  const std::string file = directory / "my.lua";
  write_text(file, kSmallNetwork);
  import_small_data(directory / "small");
  expect({"info", "resnt50"}, 2, {"there is no such file or folder", "Nearest: resnet50"});
  expect({"info", "wrn28"}, 2, {"the name of such a network is wrnDEPTH-WIDTH"});
  expect({"info", directory / "absent.lua"}, 2, {"absent.lua", "No such file"});
  expect({"info", file, "--model.set=wdth=3"}, 2, {"has no parameter 'wdth'", "Nearest: width"});
  expect({"info", "resnet20", "--plan.vocabulary=100"}, 2, {"the network reads images, and the data holds text"});
  expect({"info", "resnet20", "--info.draw=/no/such/folder/a.svg"}, 2,
         {"info.draw = /no/such/folder/a.svg: ", "No such file or directory"});
  expect({"info", "resnet20", "--info.draw=a.png"}, 2, {"info.draw = a.png must end in .svg"});
  expect({"info", "resnet20", "resnet32", "--info.draw=a.svg"}, 2, {"a picture of one network, but 2 arguments"});
  expect({"info", "--info.draw=a.svg"}, 2, {"without arguments describes the machine"});
  expect({"info", directory / "small/data", "--info.draw=a.svg"}, 2, {"Name a network or a checkpoint."});
}

TEST(NetworkPlan, NeedsNoData) {
  const WorkingDirectory directory;
  const std::string file = directory / "my.lua";
  write_text(file, kSmallNetwork);
  expect({"plan", "resnet50", "--grid.stages=2"}, 0,
         {"images of 224x224x3, 1000 classes", "resnet50: 25.6 M parameters; samples 224x224x3, 1000 classes\n",
          "grid: 2 stages x 1 replica"});
  expect({"plan", file, "--model.set=width=16", "--plan.samples=1000", "--plan.ranks=2", "--plan.measure=false"}, 0,
         {"my: ", "1000 training samples 32x32x3, 10 classes", "epoch: 7 steps", "layouts: cells from a model"});
  expect({"plan", std::string(CONVOY_INPUT) + "/bert.cfg", "bert"}, 2, {"bert.cfg: there is no such parameter file"});
}

TEST(NetworkPlan, TeachesWhatIsWrong) {
  expect({"plan", "resnt50"}, 2, {"model.name = resnt50 is not known", "Nearest: resnet50"});
  expect({"plan", "absent.lua"}, 2, {"model.file = absent.lua", "No such file"});
  expect({"plan", "resnet50", "my.lua"}, 2, {"takes one network, but resnet50 and my.lua are given"});
  expect({"plan", "my.txt"}, 2, {"my.txt", "and one network by its name or its file (*.lua)"});
}

}  // namespace
}  // namespace convoy::test
