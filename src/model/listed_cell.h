/// A cell that is built call by call, while the list of the calls is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/input_shape.h"
#include "convoy/base/target.h"
#include "convoy/model/network.h"
#include "convoy/model/network_list.h"

#include "model/cell_builder.h"
#include "model/layer_functions.h"

namespace convoy {

/// The properties that all cells of a network share.
struct ListedCellSpec {
  InputShape input;              ///< shape of the samples
  std::int64_t num_classes = 0;  ///< number of outputs that logits must have; 0: any number
  Target target = {};            ///< what the outputs mean
  std::int64_t micro_batch = 1;  ///< number of samples of a micro-batch, the N of all shapes
  DataType type = DataType::kFloat32;
};

/// The output of a cell, as the next one reads it.
struct CellOutput {
  Shape shape;
  ValueKind kind = ValueKind::kNumbers;
};

class ListedCell {
 public:
  /// x: the output of the cell before; null for a network's first cell. Throws RequestError if that cell must be the
  /// last one.
  ListedCell(const std::string& name, const std::string& prefix, const CellOutput* x, const ListedCellSpec& spec);

  /// Adds a layer, or the feature call.name if call.function is "feature", and returns the number of its result.
  /// Throws RequestError, whose message begins with the function's name, if the function is unknown or does not accept
  /// the call.
  std::int64_t add(LayerCall call);
  /// Shape of a value, by its number. See CellList.
  const Shape& shape_of(std::int64_t value) const { return values_.at(static_cast<std::size_t>(value)).shape(); }
  std::int64_t num_values() const { return std::ssize(values_); }
  /// Completes the cell, whose output is the value with this number. Throws RequestError if a layer has no effect on
  /// it, or if no cell and no loss can read it.
  std::unique_ptr<Cell> finish(std::int64_t output);
  const CellList& list() const { return list_; }
  /// The cell's output; after finish().
  CellOutput output() const;

 private:
  void check_inputs(const LayerFunction& function, const LayerCall& call) const;
  void check_size();
  void check_output(std::int64_t output) const;
  void check_all_used(std::int64_t output) const;

  ListedCellSpec spec_;
  CellList list_;
  CellBuilder builder_;
  std::vector<Value> values_;
  std::vector<ValueKind> kinds_;          // of all values
  std::vector<std::int64_t> num_values_;  // of all values: see LayerArguments
  std::size_t num_checked_parameters_ = 0;
};

/// Builds all cells of a list. Throws RequestError if a cell or a layer is not possible.
Network build_cells(const NetworkList& list, const ListedCellSpec& spec);

}  // namespace convoy
