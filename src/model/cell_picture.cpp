/// Places layers in rows and columns, and draws them with their edges.
#include "model/cell_picture.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/svg.h"
#include "convoy/base/wording.h"

#include "model/layer_functions.h"

namespace convoy {

namespace {

// Sizes in pixels.
constexpr int kBoxWidth = 212, kBoxHeight = 28, kRowPitch = 54, kColumnGap = 26, kLaneGap = 18, kBend = 34,
              kRadius = 11;
constexpr int kLetters = 28;  // of a function and its parameters' name, in a box

/// A value of the cell: its input, a feature or the result of a layer, drawn where it is made.
struct Node {
  const LayerCall* call = nullptr;  ///< null: the input
  std::vector<std::size_t> inputs, readers;
  int row = 0;
  int column = -1;  ///< -1: not placed yet

  bool is_feature() const { return call != nullptr && call->function == "feature"; }
  bool is_sum() const { return call != nullptr && call->function == "add"; }
};

using Nodes = std::vector<Node>;

Nodes nodes_of(const CellList& cell) {
  Nodes nodes(cell.has_input ? 1 : 0);
  for (const LayerCall& call : cell.layers) {
    nodes.push_back({.call = &call, .inputs = {}, .readers = {}});
    for (const std::int64_t input : call.inputs) {
      nodes.back().inputs.push_back(static_cast<std::size_t>(input));
      nodes[static_cast<std::size_t>(input)].readers.push_back(nodes.size() - 1);
    }
  }
  return nodes;
}

// Gives each node the row after the last of its inputs, so that the longest chain has no gaps, and this chain, which
// ends with the output, the first column.
void place_longest_chain(Nodes& nodes, std::size_t output) {
  const auto last_input = [&](const Node& node) {
    return std::ranges::max_element(node.inputs, {}, [&](std::size_t i) { return nodes[i].row; });
  };
  for (Node& node : nodes)
    if (!node.inputs.empty()) node.row = nodes[*last_input(node)].row + 1;
  for (std::size_t i = output;; i = *last_input(nodes[i])) {
    nodes[i].column = 0;
    if (nodes[i].inputs.empty()) return;
  }
}

// Puts a node into the first column from `column` on that is free as far down as its edge goes.
void place(Node& node, int column, int last_row, std::set<std::pair<int, int>>& occupied) {
  const auto is_occupied = [&](int row) { return occupied.contains({column, row}); };
  for (int row = node.row; row <= last_row; ++row)
    for (; is_occupied(row); row = node.row) ++column;
  node.column = column;
  for (int row = node.row; row <= last_row; ++row) occupied.insert({column, row});
}

// Branches are in columns of their own, as close to the first as possible. A feature is next to its first reader, so
// that those of the first column are placed before the branches, and the others after them.
void place_branches(Nodes& nodes) {
  std::set<std::pair<int, int>> occupied;
  const auto place_features = [&] {
    for (Node& node : nodes) {
      if (node.column >= 0 || !node.is_feature()) continue;
      const Node& reader = nodes[node.readers.front()];
      node.row = reader.row;
      if (reader.column >= 0) place(node, reader.column + 1, node.row, occupied);
    }
  };
  place_features();
  for (Node& node : nodes) {
    if (node.column >= 0 || node.is_feature()) continue;
    int column = 1;
    for (const std::size_t i : node.inputs) column = std::max(column, nodes[i].column);
    place(node, column, nodes[node.readers.front()].row - 1, occupied);
  }
  place_features();
}

// --- Drawing -------------------------------------------------------------------------------------------------------

int middle_x(const Node& node) {
  return node.column * (kBoxWidth + kColumnGap) + kBoxWidth / 2;
}
int middle_y(const Node& node) {
  return node.row * kRowPitch + kBoxHeight / 2;
}
int half_width(const Node& node) {
  return node.is_sum() ? kRadius : kBoxWidth / 2;
}
int half_height(const Node& node) {
  return node.is_sum() ? kRadius : kBoxHeight / 2;
}

// "conv 3 × 3 / 2 32 groups": the function, with its window, stride, dilation and groups. `channels`: of its input.
std::string shown_function(LayerCall call, std::int64_t channels) {
  if (const LayerFunction* const function = find_layer_function(call.function)) complete(*function, call);
  const auto integer = [&](const char* name) -> std::int64_t {
    const auto found = call.arguments.find(name);
    const auto* const value = found == call.arguments.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    return value == nullptr ? 0 : *value;
  };
  std::string text = call.function;
  std::ranges::replace(text, '_', ' ');
  const std::int64_t groups = integer("groups");
  const bool is_depthwise = call.function == "conv" && groups > 1 && groups == channels;
  if (is_depthwise) text = "depthwise";
  if (const std::int64_t kernel = integer("kernel"); kernel > 0) text += fmt::format(" {0} × {0}", kernel);
  if (const std::int64_t stride = integer("stride"); stride > 1) text += fmt::format(" / {}", stride);
  if (const std::int64_t dilation = integer("dilation"); dilation > 1) text += fmt::format(" dilation {}", dilation);
  if (groups > 1 && !is_depthwise) text += fmt::format(" {} groups", groups);
  return text;
}

// The class of a box's colour.
const char* class_of(const Node& node) {
  if (node.call == nullptr || node.is_feature()) return "io";
  if (node.call->function.find("norm") != std::string::npos) return "norm";
  const LayerFunction* const function = find_layer_function(node.call->function);
  return function != nullptr && function->has_name ? "own" : "free";
}

// `shapes`: of all values of the cell.
std::string draw_node(const Node& node, const std::vector<Shape>& shapes) {
  const int x = middle_x(node), y = middle_y(node);
  if (node.is_sum())
    return fmt::format(
        "<circle class=\"sum\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n<path class=\"plus\" d=\"M{} {}h10m-5-5v10\"/>\n", x, y,
        kRadius, x - 5, y);
  const int left = x - kBoxWidth / 2;
  std::string svg = fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n",
                                class_of(node), left, y - kBoxHeight / 2, kBoxWidth, kBoxHeight,
                                node.call == nullptr || node.is_feature() ? kBoxHeight / 2 : 6);
  if (node.call == nullptr) return svg + drawn_text("mid", x, y + 4, "input");
  if (node.is_feature()) return svg + drawn_text("mid", x, y + 4, cut_to(node.call->name, kLetters, "…"));
  const std::string function = cut_to(shown_function(*node.call, shapes[node.inputs.front()].c), kLetters, "…");
  svg += drawn_text("fn", left + 10, y + 4, function);
  const auto rest = static_cast<int>(kLetters - num_letters(function));
  if (!node.call->name.empty() && rest > 2)
    svg += drawn_text("nm", left + kBoxWidth - 10, y + 4, cut_to(node.call->name, rest, "…"));
  return svg;
}

class Edges {
 public:
  Edges(const Nodes& nodes, const std::vector<Shape>& shapes) : nodes_(nodes), shapes_(shapes) {}

  void draw(std::size_t from, std::size_t to) {
    const Node &a = nodes_[from], &b = nodes_[to];
    if (a.row == b.row)
      draw_line("edge",
                fmt::format("M{} {}H{}", middle_x(a) - half_width(a), middle_y(a), middle_x(b) + half_width(b)));
    else if (a.column < b.column)
      draw_line("skip", fmt::format("M{} {}H{}Q{} {} {} {}V{}", middle_x(a) + half_width(a), middle_y(a),
                                    middle_x(b) - kBend, middle_x(b), middle_y(a), middle_x(b), middle_y(a) + kBend / 2,
                                    middle_y(b) - half_height(b)));
    else if (a.column > b.column)
      draw_back(a, b, shapes_[from]);
    else if (is_free_between(a, b))
      draw_down(a, b, shapes_[from]);
    else
      skips_.emplace_back(from, to);
  }

  // Curves around other nodes are drawn last, the shortest next to the nodes.
  void draw_skips() {
    std::ranges::stable_sort(skips_, {},
                             [&](const auto& skip) { return nodes_[skip.second].row - nodes_[skip.first].row; });
    std::set<std::pair<int, int>> occupied;  // lane and row
    for (const auto& [from, to] : skips_) draw_skip(nodes_[from], nodes_[to], occupied);
  }

  const std::string& svg() const { return svg_; }
  int width() const { return width_; }

 private:
  void draw_line(const char* css_class, const std::string& path) {
    svg_ += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, path);
  }

  bool is_free_between(const Node& a, const Node& b) const {
    return std::ranges::none_of(
        nodes_, [&](const Node& other) { return other.column == a.column && other.row > a.row && other.row < b.row; });
  }

  void draw_down(const Node& a, const Node& b, const Shape& shape) {
    const int y = middle_y(a) + half_height(a);
    draw_line("edge", fmt::format("M{} {}V{}", middle_x(a), y, middle_y(b) - half_height(b)));
    svg_ += drawn_text("shape", middle_x(a) + 8, y + 17, shown_sizes(shape));
  }

  void draw_back(const Node& a, const Node& b, const Shape& shape) {
    const int x = middle_x(a), y = middle_y(a) + half_height(a), end = middle_y(b);
    draw_line("skip", fmt::format("M{} {}V{}Q{} {} {} {}H{}", x, y, std::max(y, end - kBend), x, end, x - kBend, end,
                                  middle_x(b) + half_width(b)));
    svg_ += drawn_text("shape", x + 8, y + 17, shown_sizes(shape));
  }

  void draw_skip(const Node& a, const Node& b, std::set<std::pair<int, int>>& occupied) {
    int right = a.column;
    for (const Node& other : nodes_)
      if (other.row > a.row && other.row < b.row) right = std::max(right, other.column);
    int x = (right + 1) * (kBoxWidth + kColumnGap) - kColumnGap + kLaneGap;
    const auto is_occupied = [&](int row) { return occupied.contains({x, row}); };
    for (int row = a.row; row < b.row; ++row)
      for (; is_occupied(row); row = a.row) x += kLaneGap;
    for (int row = a.row; row < b.row; ++row) occupied.insert({x, row});
    width_ = std::max(width_, x + 4);
    const int start = middle_x(a) + half_width(a), end = middle_x(b) + half_width(b);
    draw_line("skip",
              fmt::format("M{0} {1}H{2}Q{3} {1} {3} {4}V{5}Q{3} {6} {2} {6}H{7}", start, middle_y(a),
                          std::max(start, x - kBend), x, middle_y(a) + kBend, middle_y(b) - kBend, middle_y(b), end));
  }

  const Nodes& nodes_;
  const std::vector<Shape>& shapes_;
  std::vector<std::pair<std::size_t, std::size_t>> skips_;
  std::string svg_;
  int width_ = 0;
};

}  // namespace

std::string shown_sizes(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : {shape.d, shape.h, shape.w, shape.c})
    if (size != 1) text += fmt::format("{}{}", text.empty() ? "" : " × ", size);
  return text.empty() ? "1" : text;
}

std::string drawn_text(std::string_view css_class, int x, int y, std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", css_class, x, y, svg_escaped(text));
}

Drawing draw_cell(const CellList& cell, const std::vector<Shape>& shapes) {
  Nodes nodes = nodes_of(cell);
  const auto output = static_cast<std::size_t>(cell.output);
  place_longest_chain(nodes, output);
  place_branches(nodes);
  Edges edges(nodes, shapes);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::size_t input : nodes[i].inputs) edges.draw(input, i);
  edges.draw_skips();
  Drawing drawing{.svg = edges.svg(), .width = edges.width()};
  for (const Node& node : nodes) {
    drawing.svg += draw_node(node, shapes);
    drawing.width = std::max(drawing.width, middle_x(node) + kBoxWidth / 2);
    drawing.height = std::max(drawing.height, middle_y(node) + kBoxHeight / 2);
  }
  drawing.svg += drawn_text("shape", middle_x(nodes[output]) + 8,
                            middle_y(nodes[output]) + half_height(nodes[output]) + 17, shown_sizes(shapes[output]));
  drawing.height += kRowPitch - kBoxHeight;
  return drawing;
}

}  // namespace convoy
