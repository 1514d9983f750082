/// Describes data by the keys of [plan] and by what the network's file declares.
#include "run/described_data.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/data/training_set.h"
#include "convoy/model/network_file.h"
#include "convoy/params/parameters.h"
#include "convoy/params/parse.h"

#include "checkpoint/make_metadata.h"

namespace convoy {

namespace {

constexpr std::int64_t kColours = 3, kUsualSize = 32, kUsualClasses = 10, kUsualClassesOfTexts = 2;

constexpr std::size_t kMaxExtents = 4;

/// The data that the network usually reads, as numbers that ranks can send.
struct UsualData {
  std::int64_t reads_text = 0, image_size = kUsualSize, num_classes = kUsualClasses;
  std::size_t num_extents = 0;  ///< of its only array; 0: it reads no arrays
  std::array<std::int64_t, kMaxExtents> extents = {kUsualSize};

  std::vector<std::int64_t> values() const { return {extents.begin(), extents.begin() + num_extents}; }
};

UsualData usual_data(const Parameters& params) {
  const NetworkDeclaration declared = find_declaration(network_request(params));
  UsualData usual{.reads_text = declared.reads == input_kinds::kText ? 1 : 0};
  if (usual.reads_text != 0) usual.num_classes = kUsualClassesOfTexts;
  if (declared.reads == input_kinds::kArrays) usual.num_extents = std::max<std::size_t>(1, declared.values.size());
  std::ranges::copy(declared.values, usual.extents.begin());
  if (declared.image_size > 0) usual.image_size = declared.image_size;
  if (declared.num_classes > 0) usual.num_classes = declared.num_classes;
  return usual;
}

// Names an array without a name as an import does.
io::ArrayInfo array_of(const ArrayForm& array) {
  if (!array.name.empty()) return {.name = array.name, .dims = array.extents};
  const bool is_image = ArrayShapes{{{"", array_shape(array.extents)}}}.image() != nullptr;
  return {.name = is_image ? features::kImage : "values", .dims = array.extents};
}

std::vector<io::ArrayInfo> described_arrays(const Parameters& params) try {
  std::vector<io::ArrayInfo> arrays;
  std::ranges::transform(params.plan.values, std::back_inserter(arrays), array_of);
  io::check_arrays(arrays);
  return arrays;
} catch (const Error& error) {
  refuse("plan.values = {} describes no possible data set: {}.", shown_value("plan.values", params), error.what());
}

ImageShape shape_of(const std::vector<std::int64_t>& size) {
  return {.h = size[0], .w = size.size() > 1 ? size[1] : size[0], .c = size.size() > 2 ? size[2] : kColours};
}

}  // namespace

bool describes_data(const Parameters& params) {
  return params.plan.samples > 0 || params.data.train.empty();
}

DescribedData described_data(const Parameters& params, const mpi::Communicator* ranks) {
  UsualData usual;
  if (ranks == nullptr) {
    usual = usual_data(params);
  } else {
    mpi::on_root(*ranks, [&] { usual = usual_data(params); });
    ranks->broadcast(&usual, sizeof usual, 0);
  }
  const PlanParams& plan = params.plan;
  std::vector<std::string> assumed, keys;
  io::DatasetInfo data{.source = "plan.samples"};
  if (plan.samples > 0) data.num_samples = limited_count(params.data.limit, plan.samples);
  const bool is_described = plan.vocabulary > 0 || !plan.values.empty() || !plan.image_size.empty();
  if (!plan.values.empty() || (!is_described && usual.num_extents > 0)) {
    data.kind = input_kinds::kArrays;
    if (is_described) {
      data.arrays = described_arrays(params);
    } else {
      data.arrays = {array_of({.name = "", .extents = usual.values()})};
      assumed.push_back(fmt::format("arrays of {}", fmt::join(data.arrays.front().dims, " x ")));
      keys.emplace_back("--plan.values");
    }
  } else if (plan.vocabulary > 0 || (!is_described && usual.reads_text != 0)) {
    data.kind = input_kinds::kText;
    data.text.tokenization.vocabulary = plan.vocabulary > 0 ? plan.vocabulary : ImportParams{}.vocabulary;
    if (plan.vocabulary == 0) {
      assumed.push_back(fmt::format("texts of at most {}, a vocabulary of {}", counted(params.model.length, "token"),
                                    data.text.tokenization.vocabulary));
      keys.emplace_back("--model.length, --plan.vocabulary");
    }
  } else if (!plan.image_size.empty()) {
    data.image = shape_of(plan.image_size);
  } else if (params.augment.size > 0) {
    data.encoded = true;  // as files of any size, which augment.size brings to one
    data.image.c = kColours;
  } else {
    data.image = shape_of({usual.image_size});
    assumed.push_back(fmt::format("images of {}", to_string(data.image)));
    keys.emplace_back("--plan.image_size");
  }
  const std::int64_t num_classes = plan.classes > 0 ? plan.classes : usual.num_classes;
  if (plan.classes == 0) {
    assumed.push_back(counted(num_classes, "class"));
    keys.emplace_back("--plan.classes");
  }
  for (std::int64_t i = 0; i < num_classes; ++i) data.class_names.push_back(fmt::format("class {}", i));
  data.class_counts.assign(data.class_names.size(), std::max<std::int64_t>(1, data.num_samples / num_classes));
  const std::string note = fmt::format("data: no data set is opened. Assumed: {}. To change this: {}\n",
                                       fmt::join(assumed, ", "), fmt::join(keys, ", "));
  return {.info = std::move(data), .note = assumed.empty() ? "" : note};
}

io::ModelMetadata described_metadata(const Parameters& params, const DescribedData& data,
                                     const mpi::Communicator* ranks) try {
  return model_metadata(params, data.info, ranks);
} catch (const RequestError& error) {
  const bool is_assumed = data.info.kind == input_kinds::kArrays && !data.note.empty() && params.plan.values.empty();
  if (!is_assumed) throw;
  refuse(
      "{}{} Without data, one array is assumed. Describe others, as in --plan.values=\"image: 64 x 64 x 7, position: "
      "3\", or give data.train.",
      error.what(), std::string_view(error.what()).ends_with('.') ? "" : ".");
}

}  // namespace convoy
