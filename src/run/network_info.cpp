/// Builds networks for one sample, and prints what the planner counts.
#include "run/network_info.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/data/training_set.h"
#include "convoy/io/atomic_file.h"
#include "convoy/model/network_file.h"
#include "convoy/model/network_picture.h"
#include "convoy/params/parameters.h"

#include "checkpoint/make_metadata.h"
#include "plan/stage_plan.h"
#include "plan/step_plan.h"
#include "run/described_data.h"

namespace convoy {

namespace {

// The sizes of one sample's value, without those that are 1: "56x56x256", "1000".
std::string shown_sizes(const Shape& shape) {
  std::vector<std::int64_t> sizes = {shape.d, shape.h, shape.w, shape.c};
  std::erase(sizes, 1);
  return sizes.empty() ? "1" : fmt::format("{}", fmt::join(sizes, "x"));
}

std::string shown_count(double count) {
  return human_count(std::llround(count));
}

struct Row {
  std::string number, cell, output, parameters, flop, memory;
};

Row row_of(std::int64_t number, const Cell& cell, std::int64_t bytes) {
  std::int64_t parameters = 0;
  for (const auto& entry : cell.memory().parameters())
    if (!entry.spec.is_statistic()) parameters += entry.spec.count();
  return {.number = fmt::format("{}", number),
          .cell = cell.name(),
          .output = shown_sizes(cell.y().shape),
          .parameters = human_count(parameters),
          .flop = shown_count(cell.memory().forward_flop()),
          .memory = human_bytes(bytes)};
}

std::string shown(const std::vector<Row>& rows) {
  std::size_t cell = 0, output = 0;
  for (const Row& row : rows) {
    cell = std::max(cell, row.cell.size());
    output = std::max(output, row.output.size());
  }
  std::string text;
  for (const Row& row : rows)
    text += fmt::format("{:>4}  {:<{}}  {:>{}}  {:>10}  {:>12}  {:>17}\n", row.number, row.cell, cell, row.output,
                        output, row.parameters, row.flop, row.memory);
  return text;
}

// `network` has micro-batches of one sample.
std::string describe_cells(const Network& network, const std::string& name) {
  const std::int64_t num_cells = std::ssize(network);
  const StagePlan plan = plan_stage(network, {.runs = {{.begin = 0, .end = num_cells}}});
  const ChunkPlan& chunk = plan.chunks.front();
  std::vector<Row> rows = {{"", "cell", "output", "parameters", "FLOP forward", "memory per sample"}};
  double forward = 0, backward = 0;
  for (std::int64_t i = 0; i < num_cells; ++i) {
    const std::int64_t end = i + 1 == num_cells ? chunk.frame_bytes : chunk.x_offsets[i + 1];
    rows.push_back(row_of(i, *network[i], end - chunk.x_offsets[i]));
    forward += network[i]->memory().forward_flop();
    backward += network[i]->memory().backward_flop();
  }
  rows.push_back({.number = "",
                  .cell = "all cells",
                  .output = "",
                  .parameters = human_count(count_parameters(network)),
                  .flop = shown_count(forward),
                  .memory = human_bytes(chunk.frame_bytes)});
  return fmt::format("{}: {}\n{}", printable(name), counted(num_cells, "cell"), shown(rows)) +
         fmt::format(
             "FLOP: floating-point operations of matrix products and convolutions for a sample; a multiply-add counts "
             "as two. With backward: {}\n"
             "memory: the input, and what backward reads of forward, for a sample in a micro-batch of its own\n",
             shown_count(forward + backward));
}

std::string describe_parameters(const std::vector<NetworkParameter>& parameters) {
  if (parameters.empty()) return "The network has no parameters for model.set\n";
  std::size_t name = 0, value = 0, allowed = 0;
  const auto shown_value = [](const NetworkParameter& p) {
    return p.value == p.initial ? p.value : fmt::format("{} (default {})", p.value, p.initial);
  };
  for (const NetworkParameter& p : parameters) {
    name = std::max(name, p.name.size());
    value = std::max(value, shown_value(p).size());
    allowed = std::max(allowed, p.allowed.size());
  }
  std::string text =
      fmt::format("parameters, as in --model.set={}={}\n", parameters.front().name, parameters.front().value);
  for (const NetworkParameter& p : parameters)
    text += fmt::format("  {:<{}}  {:<{}}  {:<{}}  {}\n", p.name, name, shown_value(p), value, p.allowed, allowed,
                        printable(p.about));
  return text;
}

void write_picture(const std::string& path, const std::string& svg) try {
  io::write_text_atomically(path, svg);
} catch (const Error& error) {
  refuse("info.draw = {}: {}", path, error.what());
}

}  // namespace

Parameters with_network(const Parameters& params, const std::string& network) {
  Parameters changed = params;
  const bool is_file = network.ends_with(".lua");
  changed.model.file = is_file ? network : "";
  if (!is_file) changed.model.name = lower_case(network);
  return changed;
}

std::string describe_network(const Parameters& params) {
  const DescribedData data = params.data.train.empty()
                                 ? described_data(params)
                                 : DescribedData{.info = open_training_set(params).info(), .note = {}};
  const io::ModelMetadata metadata = described_metadata(params, data);
  NetworkRequest request = network_request(params);
  request.input = metadata.shape();
  request.num_classes = std::ssize(metadata.class_names);
  request.target = metadata.target;
  return data.note + describe_network(params, metadata) + describe_parameters(build_network_list(request).parameters);
}

std::string describe_network(const Parameters& params, const io::ModelMetadata& metadata) {
  NetworkSpec spec = runtime_spec(params, metadata).network;
  spec.micro_batch = 1;
  std::string text = describe_cells(make_network(spec), spec.name);
  if (const std::string& picture = params.info.draw; !picture.empty()) {
    write_picture(picture, draw_network(spec.name, *spec.list, spec.input, spec.target));
    text += fmt::format("picture written: {}\n", picture);
  }
  return text;
}

}  // namespace convoy
