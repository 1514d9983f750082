/// Writes the SVG of a network: its cells on the left, the layers of each kind of cell on the right.
#include "convoy/model/network_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/svg.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"

#include "model/cell_picture.h"
#include "model/listed_cell.h"

namespace convoy {

namespace {

// Sizes in pixels.
constexpr int kMargin = 28, kTitleHeight = 84, kBoxWidth = 260, kBoxHeight = 50, kEdge = 34, kColumnGap = 40;
constexpr int kDot = 7, kDotPitch = 10, kDotsPerLine = 23, kCardPadding = 20, kCardHead = 58, kCardGap = 22;
constexpr int kCardsWidth = 1180, kMinColumnHeight = 900;
constexpr std::size_t kMaxCards = 24;                              // kinds of cells whose layers are drawn
constexpr int kLetters = 27, kRunLetters = 21, kCardLetters = 40;  // of names in boxes of cells, of runs, and in cards

// Colours of kinds: of the palette of Okabe & Ito those on which white letters can be read, and two more.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#8c4fa8",
                                 "#b8860b", "#c2477f", "#4c6a92", "#5b7a1f"};

constexpr const char* kStyle = R"(<style>
text{font:12px system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#1f2328}
.title{font-size:18px;font-weight:600}.name{font-weight:600}.small,.shape,.nm{font-size:11px;fill:#656d76}
.nm,.end{text-anchor:end}.mid,.badge{text-anchor:middle}.badge{font-weight:700;fill:#fff}
.page{fill:#fff}.card{fill:#f6f8fa;stroke:#d0d7de}.box{fill:#fff;stroke:#afb8c1}
.own{fill:#ddf0ff;stroke:#54a3d8}.norm{fill:#fff3d1;stroke:#d4a72c}.free{fill:#e6f4ea;stroke:#6fb585}
.io{fill:#eaeef2;stroke:#afb8c1}.sum{fill:#fff;stroke:#d9480f;stroke-width:1.5}
.plus,.edge,.skip{fill:none;stroke:#6e7781;stroke-width:1.4}.skip{stroke:#d9480f;stroke-width:1.8}
.plus{stroke:#d9480f}.edge{marker-end:url(#a)}.skip{marker-end:url(#b)}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.small,.shape,.nm{fill:#9198a1}.badge{fill:#fff}
.page{fill:#0d1117}.card{fill:#161b22;stroke:#30363d}.box{fill:#21262d;stroke:#484f58}
.own{fill:#0c3356}.norm{fill:#443208}.free{fill:#173b25}.io{fill:#30363d}.sum{fill:#161b22;stroke:#ff8c4b}
.edge{stroke:#9198a1}.skip,.plus{stroke:#ff8c4b}}
</style>
<defs>
<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#6e7781"/></marker>
<marker id="b" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto"><path d="M0 0L8 4L0 8z" fill="#d9480f"/></marker>
</defs>
)";

/// A cell with what the picture says of it.
struct DrawnCell {
  const CellList* list = nullptr;
  std::vector<Shape> shapes;  ///< of its values
  std::int64_t num_parameters = 0;
  double flop = 0;       ///< of forward
  std::size_t kind = 0;  ///< cells with the same layers have the same number

  const Shape& output() const { return shapes[static_cast<std::size_t>(list->output)]; }
};

/// Neighbouring cells of one kind: [begin, end).
struct Run {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
};

// The layers of a cell without names and numbers, except those of windows: equal for cells of one kind.
std::string kind_of(const CellList& cell) {
  std::string kind = fmt::format("{}", cell.output);
  for (const LayerCall& call : cell.layers) {
    kind += fmt::format("|{} {}", call.function, fmt::join(call.inputs, ","));
    for (const char* const name : {"kernel", "stride"}) {
      const auto found = call.arguments.find(name);
      if (found == call.arguments.end()) continue;
      if (const auto* const size = std::get_if<std::int64_t>(&found->second)) kind += fmt::format(" {}", *size);
    }
  }
  return kind;
}

std::vector<DrawnCell> drawn_cells(const NetworkList& list, const ListedCellSpec& spec) {
  std::vector<DrawnCell> cells;
  std::map<std::string, std::size_t> kinds;
  CellOutput output;
  for (const CellList& described : list.cells) {
    ListedCell built(described.name, described.prefix, cells.empty() ? nullptr : &output, spec);
    for (const LayerCall& call : described.layers) built.add(call);
    DrawnCell drawn{.list = &described};
    for (std::int64_t i = 0; i < built.num_values(); ++i) drawn.shapes.push_back(built.shape_of(i));
    const std::unique_ptr<Cell> cell = built.finish(described.output);
    output = built.output();
    for (const auto& entry : cell->memory().parameters())
      if (!entry.spec.is_statistic()) drawn.num_parameters += entry.spec.count();
    drawn.flop = cell->memory().forward_flop();
    drawn.kind = kinds.emplace(kind_of(described), kinds.size()).first->second;
    cells.push_back(std::move(drawn));
  }
  return cells;
}

std::vector<Run> runs_of(const std::vector<DrawnCell>& cells) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i == 0 || cells[i].kind != cells[i - 1].kind) runs.push_back({.begin = i});
    runs.back().end = i + 1;
  }
  return runs;
}

std::string rectangle(const char* css_class, int x, int y, int width, int height, int radius) {
  return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n", css_class, x, y,
                     width, height, radius);
}

// The letter of a kind, A to Z and then numbers, on its colour.
std::string draw_badge(std::size_t kind, int x, int y) {
  const std::string label = kind < 26 ? std::string(1, static_cast<char>('A' + kind)) : fmt::format("{}", kind + 1);
  return fmt::format("<rect fill=\"{}\" x=\"{}\" y=\"{}\" width=\"22\" height=\"22\" rx=\"5\"/>\n",
                     kColours[kind % kColours.size()], x, y) +
         drawn_text("badge", x + 11, y + 15, label);
}

std::string shown_work(std::int64_t num_parameters, double flop) {
  std::string text = human_count(num_parameters) + " parameters";
  if (flop == 0) return text;
  const std::string count = human_count(std::llround(flop));  // "8.2 G", "950"
  return text + fmt::format(", {}{}FLOP", count, count.find(' ') == std::string::npos ? " " : "");
}

// The name of a cell with its output and work, which browsers show when one points at it.
std::string drawn_title(const DrawnCell& cell) {
  return fmt::format("<title>{}: {}, {}</title>", svg_escaped(cell.list->name), shown_sizes(cell.output()),
                     shown_work(cell.num_parameters, cell.flop));
}

// The last letters of a name that is too long, as names of cells differ at their ends. Names are ASCII.
std::string end_of(const std::string& name, int letters) {
  return std::ssize(name) <= letters ? name : "…" + name.substr(name.size() - static_cast<std::size_t>(letters - 1));
}

// "layer1.1 … layer1.2", or if that is too long "layer1.1 … 2".
std::string shown_range(const std::string& first, const std::string& last) {
  constexpr int kBetween = 3;
  if (std::ssize(first) + kBetween + std::ssize(last) <= kRunLetters) return fmt::format("{} … {}", first, last);
  const auto common = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).second - last.begin();
  const std::string end = end_of(last.substr(static_cast<std::size_t>(common)), kRunLetters / 2);
  return fmt::format("{} … {}", end_of(first, kRunLetters - kBetween - static_cast<int>(num_letters(end))), end);
}

// --- The cells -----------------------------------------------------------------------------------------------------

class Chain {
 public:
  /// Begins another column of boxes where one would end below `bottom`, or so far below that the columns of a long
  /// chain are together about as wide as high.
  Chain(const std::vector<DrawnCell>& cells, int top, int bottom)
      : cells_(cells), runs_(runs_of(cells)), top_(top), max_bottom_(bottom) {
    int height = 0;
    for (const Run& run : runs_) height += height_of(run) + kEdge;
    max_bottom_ = std::max(bottom, top + static_cast<int>(std::sqrt(height * (kBoxWidth + kColumnGap))));
    draw();
  }

  const std::string& svg() const { return svg_; }
  int right() const { return x_ + kBoxWidth; }
  int bottom() const { return bottom_; }

 private:
  static int height_of(const Run& run) {
    const auto lines = static_cast<int>((run.size() + kDotsPerLine - 1) / kDotsPerLine);
    return kBoxHeight + (run.size() > 1 ? lines * kDotPitch + 4 : 0);
  }

  void draw() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (i > 0 && y_ + kEdge + height_of(runs_[i]) > max_bottom_) {
        begin_column(cells_[runs_[i].begin - 1].output());
      } else if (i > 0) {
        draw_edge(cells_[runs_[i].begin - 1].output());
      }
      draw_run(runs_[i]);
      bottom_ = std::max(bottom_, y_);
    }
    draw_edge(cells_.back().output());
    bottom_ = std::max(bottom_, y_);
  }

  void draw_edge(const Shape& shape) {
    const int x = x_ + kBoxWidth / 2;
    svg_ += fmt::format("<path class=\"edge\" d=\"M{} {}v{}\"/>\n", x, y_, kEdge - 2);
    svg_ += drawn_text("shape", x + 9, y_ + 20, shown_sizes(shape));
    y_ += kEdge;
  }

  // The edge goes down, between the columns up, and enters the next column from above.
  void begin_column(const Shape& shape) {
    const int x = x_ + kBoxWidth / 2, between = x_ + kBoxWidth + kColumnGap / 2, r = kColumnGap / 2,
              next = top_ - kEdge - 4;
    svg_ += drawn_text("shape", x + 9, y_ + 14, shown_sizes(shape));
    svg_ += fmt::format(
        "<path class=\"edge\" d=\"M{0} {1}v2q0 {2} {2} {2}H{3}Q{4} {5} {4} {6}V{7}q0 -{2} {2} -{2}H{8}q{2} 0 {2} "
        "{2}V{9}\"/>\n",
        x, y_, r, between - r, between, y_ + 2 + r, y_ + 2, next + r, between + kColumnGap / 2 + kBoxWidth / 2 - r,
        top_ - 2);
    bottom_ = std::max(bottom_, y_ + kEdge);
    x_ += kBoxWidth + kColumnGap;
    y_ = top_;
  }

  void draw_run(const Run& run) {
    const int height = height_of(run);
    const DrawnCell& first = cells_[run.begin];
    svg_ += run.size() > 1 ? rectangle("box", x_ + 5, y_ + 5, kBoxWidth, height, 8) : "<g>" + drawn_title(first);
    svg_ += rectangle("box", x_, y_, kBoxWidth, height, 8) + draw_badge(first.kind, x_ + 12, y_ + 14);
    std::int64_t num_parameters = 0;
    double flop = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      num_parameters += cells_[i].num_parameters;
      flop += cells_[i].flop;
    }
    const std::string& last = cells_[run.end - 1].list->name;
    svg_ += drawn_text("name", x_ + 44, y_ + 21,
                       run.size() == 1 ? end_of(last, kLetters) : shown_range(first.list->name, last));
    svg_ += drawn_text("small", x_ + 44, y_ + 38, shown_work(num_parameters, flop));
    if (run.size() > 1)
      draw_members(run);
    else
      svg_ += "</g>\n";
    y_ += height;
  }

  // How many cells there are, and a dot for each.
  void draw_members(const Run& run) {
    svg_ += drawn_text("name end", x_ + kBoxWidth - 12, y_ + 21, fmt::format("× {}", run.size()));
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const auto dot = static_cast<int>(i - run.begin);
      svg_ += fmt::format("<rect fill=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\">{}</rect>\n",
                          kColours[cells_[i].kind % kColours.size()], x_ + 12 + dot % kDotsPerLine * kDotPitch,
                          y_ + kBoxHeight - 4 + dot / kDotsPerLine * kDotPitch, kDot, kDot, drawn_title(cells_[i]));
    }
  }

  const std::vector<DrawnCell>& cells_;
  std::vector<Run> runs_;
  std::string svg_;
  int top_ = 0, max_bottom_ = 0, x_ = kMargin, y_ = top_, bottom_ = 0;
};

// --- The kinds of cells --------------------------------------------------------------------------------------------

// "layer2.0, layer3.0, layer4.0, ...": as many as a card is wide.
std::string shown_names(const std::vector<std::string>& names) {
  for (std::size_t count = 3; count > 1; --count)
    if (std::string text = first_few(names, count); std::ssize(text) <= kCardLetters) return text;
  return first_few(names, 1);
}

Drawing draw_card(const std::vector<DrawnCell>& cells, std::size_t kind) {
  std::vector<std::string> names;
  for (const DrawnCell& cell : cells)
    if (cell.kind == kind) names.push_back(cell.list->name);
  const DrawnCell& first = *std::ranges::find(cells, kind, &DrawnCell::kind);
  const Drawing layers = draw_cell(*first.list, first.shapes);
  const std::string title = cut_to(shown_names(names), kCardLetters, "…");
  const std::string note =
      names.size() == 1 ? std::string("1 cell") : fmt::format("{} cells; shapes of the first", names.size());
  Drawing card{.svg = {}, .width = layers.width + 2 * kCardPadding, .height = layers.height + kCardHead + kCardPadding};
  card.width = std::max(card.width, kCardPadding + 32 + static_cast<int>(svg_text_width(title)) + kCardPadding);
  card.svg = rectangle("card", 0, 0, card.width, card.height, 10) + draw_badge(kind, kCardPadding, 15) +
             drawn_text("name", kCardPadding + 32, 24, title) + drawn_text("small", kCardPadding + 32, 40, note) +
             fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", kCardPadding, kCardHead, layers.svg);
  return card;
}

/// Places cards in shelves, and in a shelf in columns: a card comes below another one of its shelf if it fits there.
class Shelves {
 public:
  explicit Shelves(int width) : width_(width) {}

  /// Returns the corner at which the card is drawn.
  std::pair<int, int> place(const Drawing& card) {
    int x = 0;
    for (Drawing& column : columns_) {
      if (column.width >= card.width && column.height + kCardGap + card.height <= height_) {
        column.height += kCardGap + card.height;
        return {x, top_ + column.height - card.height};
      }
      x += column.width + kCardGap;
    }
    if (x > 0 && x + card.width > width_) {
      top_ += height_ + kCardGap;
      x = height_ = 0;
      columns_.clear();
    }
    columns_.push_back({.svg = {}, .width = card.width, .height = card.height});
    height_ = std::max(height_, card.height);
    return {x, top_};
  }

 private:
  std::vector<Drawing> columns_;  // of the last shelf
  int width_ = 0, top_ = 0, height_ = 0;
};

Drawing draw_cards(const std::vector<DrawnCell>& cells) {
  const std::size_t num_kinds = 1 + std::ranges::max_element(cells, {}, &DrawnCell::kind)->kind;
  std::vector<Drawing> cards;
  double area = 0;
  for (std::size_t kind = 0; kind < std::min(num_kinds, kMaxCards); ++kind) {
    cards.push_back(draw_card(cells, kind));
    area += static_cast<double>(cards.back().width) * cards.back().height;
  }
  Drawing all;
  Shelves shelves(std::max(kCardsWidth, static_cast<int>(std::sqrt(2 * area))));  // many cards: wider than high
  for (const Drawing& card : cards) {
    const auto [x, y] = shelves.place(card);
    all.svg += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", x, y, card.svg);
    all.width = std::max(all.width, x + card.width);
    all.height = std::max(all.height, y + card.height);
  }
  if (num_kinds > kMaxCards) {
    all.height += kCardGap;
    all.svg +=
        drawn_text("small", 0, all.height, fmt::format("{} more kinds of cells are not drawn", num_kinds - kMaxCards));
  }
  return all;
}

// What the colours mean.
std::string draw_legend(int x, int y) {
  struct Entry {
    const char *css_class, *text;
  };
  std::string svg;
  for (const Entry& entry :
       {Entry{"own", "with parameters"}, Entry{"norm", "normalisation"}, Entry{"free", "without parameters"}}) {
    svg += rectangle(entry.css_class, x, y - 10, 18, 12, 3) + drawn_text("small", x + 25, y, entry.text);
    x += 25 + static_cast<int>(svg_text_width(entry.text)) + 16;
  }
  return svg + fmt::format("<path class=\"skip\" d=\"M{} {}h22\"/>\n", x, y - 4) +
         drawn_text("small", x + 30, y, "branches");
}

}  // namespace

std::string draw_network(const std::string& name, const NetworkList& list, const InputShape& input,
                         const Target& target) {
  const std::vector<DrawnCell> cells = drawn_cells(list, {.input = input, .target = target});
  if (cells.empty()) refuse("a network without cells cannot be drawn");
  std::int64_t num_parameters = 0;
  double flop = 0;
  for (const DrawnCell& cell : cells) {
    num_parameters += cell.num_parameters;
    flop += cell.flop;
  }
  const std::string work = fmt::format("{}, {} forward for a sample of {}", counted(std::ssize(cells), "cell"),
                                       shown_work(num_parameters, flop), to_string(input));
  const int top = kMargin + kTitleHeight;
  const Drawing cards = draw_cards(cells);
  const Chain chain(cells, top, std::max(kMinColumnHeight, top + cards.height));
  const int left = chain.right() + kColumnGap + 8;
  const int width = std::max(left + cards.width, kMargin + static_cast<int>(svg_text_width(work))) + kMargin;
  const int height = std::max(chain.bottom(), top + cards.height) + kMargin;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "role=\"img\">\n"
             "<title>{2}</title>\n{3}",
             width, height, svg_escaped(name), kStyle) +
         rectangle("page", 0, 0, width, height, 8) + drawn_text("title", kMargin, kMargin + 14, name) +
         drawn_text("small", kMargin, kMargin + 34, work) + draw_legend(left, top - 16) + chain.svg() +
         fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n</svg>\n", left, top, cards.svg);
}

}  // namespace convoy
