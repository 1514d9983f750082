/// Every command there is.
#include "params/command_table.h"

#include <algorithm>

namespace convoy::params {

const std::vector<Command>& commands() {
  static const std::vector<Command> kCommands = {
      {"train",
       Takes::kParameterFiles,
       {"data.train", "data.test"},
       "trains a network, or goes on where a run stopped"},
      {"evaluate", Takes::kParameterFiles, {"data.test"}, "measures a checkpoint's loss and accuracy on data.test"},
      {"predict",
       Takes::kParameterFiles,
       {},
       "writes the classes, probabilities and logits of predict.data, by a checkpoint"},
      {"import",
       Takes::kParameterFiles,
       {"import.source", "import.output"},
       "converts a data set into Convoy's format"},
      {"export",
       Takes::kParameterFiles,
       {"export.output"},
       "writes the weights of init.weights or of the run's newest checkpoint, as torchvision names them"},
      {"plan", Takes::kParameterFiles, {}, "prints what each rank would hold and compute, and runs nothing"},
      {"info", Takes::kPaths, {}, "prints what checkpoints and data sets hold"},
      {"check", Takes::kPaths, {}, "verifies checkpoints and data sets, byte by byte"},
      {"help",
       Takes::kTopics,
       {},
       "prints this page, as --help does, or the part that is named: convoy help optimizer.lr, convoy help lr"},
      {"version", Takes::kNothing, {}, "prints the version, as --version does"},
  };
  return kCommands;
}

const Command* find_command(std::string_view name) {
  const auto found =
      std::find_if(commands().begin(), commands().end(), [name](const Command& c) { return c.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace convoy::params
