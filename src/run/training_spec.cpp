/// Combines the parameter file with what only the data tell.
#include "run/training_spec.h"

#include <cstddef>

#include "convoy/base/error.h"
#include "convoy/params/parameters.h"

#include "calibrate/run_layout.h"
#include "plan/step_plan.h"

namespace convoy {

RuntimeSpec training_spec(const Parameters& params, const io::ModelMetadata& metadata, const io::DatasetInfo& data,
                          const RunLayout& layout, bool on_gpu) {
  RuntimeSpec spec = runtime_spec(params, metadata);
  spec.class_weights = class_weights(params, data);
  spec.schedule = layout.schedule;
  spec.chunks = layout.chunks;
  spec.machine = layout.machine;
  spec.on_gpu = on_gpu;
  return spec;
}

std::vector<float> class_weights(const Parameters& params, const io::DatasetInfo& data) {
  const ClassWeights& asked = params.train.class_weights;
  if (!asked.balanced && asked.factors.empty()) return {};
  const std::size_t num_classes = data.class_names.size();
  if (!asked.balanced && asked.factors.size() != num_classes)
    refuse("train.class_weights has {} numbers, but data.train has {} classes. Give one number for each class.",
           asked.factors.size(), num_classes);
  std::vector<double> factors = asked.factors;
  double sum = 0;
  for (std::size_t c = 0; c < num_classes; ++c) {
    const auto count = static_cast<double>(data.class_counts[c]);
    if (asked.balanced) factors.push_back(count > 0 ? 1 / count : 0);
    sum += factors[c] * count;
  }
  if (sum == 0)
    refuse(
        "train.class_weights is 0 for every class that data.train has samples of. Give at least one of these classes a "
        "weight above 0.");
  std::vector<float> weights(num_classes);
  for (std::size_t c = 0; c < num_classes; ++c)
    weights[c] = static_cast<float>(factors[c] * static_cast<double>(data.num_samples) / sum);
  return weights;
}

}  // namespace convoy
