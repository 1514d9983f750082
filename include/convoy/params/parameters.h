/// All parameters of a parameter file, as typed structs. Nothing is computed here: files and command line fill the
/// structs (parse.h), and code that knows the world size or the data checks what depends on them. Code that needs one
/// section includes the header of that section.
#pragma once

#include "convoy/params/command_parameters.h"
#include "convoy/params/data_parameters.h"
#include "convoy/params/model_parameters.h"
#include "convoy/params/optimizer_parameters.h"
#include "convoy/params/run_parameters.h"
#include "convoy/params/step_parameters.h"

namespace convoy {

/// All parameters, with the sections in the order in which --help prints them.
struct Parameters {
  ModelParams model;
  TransformerParams transformer;
  DataParams data;
  BatchParams batch;
  GridParams grid;
  ScheduleParams schedule;
  MemoryParams memory;
  OptimizerParams optimizer;
  LearningRateParams lr;
  TrainParams train;
  AugmentParams augment;
  CheckpointParams checkpoint;
  EvaluateParams evaluate;
  PredictParams predict;
  InitParams init;
  RunParams run;
  CheckParams check;
  InfoParams info;
  PlanParams plan;
  ReplayParams replay;
  WatchParams watch;
  SweepParams sweep;
  ImportParams import;
  ExportParams exporting;  // "export" is a word of C++

  bool operator==(const Parameters&) const = default;
};

}  // namespace convoy
