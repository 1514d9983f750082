/// A cell is what the partitioner may not cut: the stem, a residual block, the head. It knows its layers, its
/// parameters and its memory before any device is there; plan() then gives it a device's operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"
#include "convoy/model/parameter.h"
#include "convoy/ops/library.h"

namespace convoy {

/// A place in a cell's memory for an activation that backward reads: in the micro-batch's frame, or, where the cell is
/// recomputed, shared by all cells of a stage and filled again before backward.
struct Saved {
  std::int64_t offset_bytes = 0;
};

/// A place for what is small and needed to recompute the rest: in the micro-batch's frame from forward to backward.
struct Noted {
  std::int64_t offset_bytes = 0;
};

/// A place for what the weights' gradients need, from the backward by input to the backward by weight of a micro-batch:
/// in its frame, where the stage takes the two apart.
struct Kept {
  std::int64_t offset_bytes = 0;
};

/// A place in memory that lives for one call only and is shared by all cells of a stage.
struct Scratch {
  std::int64_t offset_bytes = 0;
};

/// One of the cell's parameters: its offset in floats within the cell's part of the arena.
struct ParameterRef {
  std::int64_t offset = 0;
};

/// A cell's part of the parameter arena in the type that convolutions and products read: the masters themselves where
/// that is float32, else a rounded copy with the same layout.
struct Weights {
  const std::byte* data = nullptr;
  DataType type = DataType::kFloat32;

  const void* operator[](ParameterRef p) const { return data + p.offset * size_of(type); }
};

/// All the memory of one call of a cell.
struct Frame {
  std::byte* saved = nullptr;         ///< this cell's part, of this micro-batch; or what recomputed cells share
  std::byte* noted = nullptr;         ///< this cell's part, of this micro-batch
  std::byte* kept = nullptr;          ///< likewise; null where backward is one, and in a frozen cell
  std::byte* scratch = nullptr;       ///< the stage's
  const float* parameters = nullptr;  ///< this cell's part of the parameter arena
  Weights weights;                    ///< likewise, as load_weights() had them
  float* gradients = nullptr;         ///< this cell's part of this micro-batch's gradients; null where none are wanted:
                                      ///< in forward, in backward by input, and in a frozen cell
  bool training = true;               ///< false: running statistics, in evaluation and in a frozen cell

  void* operator[](Saved s) const { return saved + s.offset_bytes; }
  void* operator[](Kept k) const { return kept + k.offset_bytes; }
  float* floats(Kept k) const { return reinterpret_cast<float*>(kept + k.offset_bytes); }
  bool is_by_weight() const { return kept != nullptr && gradients != nullptr; }
  void* operator[](Noted n) const { return noted + n.offset_bytes; }
  void* operator[](Scratch s) const { return scratch + s.offset_bytes; }
  float* floats(Noted n) const { return reinterpret_cast<float*>(noted + n.offset_bytes); }
  float* floats(Scratch s) const { return reinterpret_cast<float*>(scratch + s.offset_bytes); }
  std::uint8_t* bytes(Noted n) const { return reinterpret_cast<std::uint8_t*>(noted + n.offset_bytes); }
  const float* operator[](ParameterRef p) const { return parameters + p.offset; }
  float* gradient(ParameterRef p) const { return gradients + p.offset; }
};

/// What layers ask for while a cell is put together. Every offset is a multiple of 64 bytes.
class CellMemory {
 public:
  explicit CellMemory(DataType type) : type_(type) {}

  /// Of activations and their gradients, and of the weights that they meet.
  DataType type() const { return type_; }
  ParameterRef parameter(ParameterSpec spec);
  Saved saved(const Shape& shape) { return {reserve(saved_size_bytes_, shape.count() * size_of(type_))}; }
  Noted noted(const Shape& shape) { return noted_bytes(shape.count() * size_of(type_)); }
  Noted noted_floats(std::int64_t count) { return noted_bytes(count * kFloatBytes); }
  Noted noted_bytes(std::int64_t size_bytes) { return {reserve(noted_size_bytes_, size_bytes)}; }
  Kept kept(const Shape& shape) { return {reserve(kept_size_bytes_, shape.count() * size_of(type_))}; }
  Kept kept_floats(std::int64_t count) { return {reserve(kept_size_bytes_, count * kFloatBytes)}; }
  Scratch scratch(const Shape& shape) { return {reserve(scratch_size_bytes_, shape.count() * size_of(type_))}; }
  Scratch scratch_floats(std::int64_t count) { return {reserve(scratch_size_bytes_, count * kFloatBytes)}; }
  void add_flop(double forward, double backward) { forward_flop_ += forward, backward_flop_ += backward; }

  struct Entry {
    ParameterSpec spec;
    ParameterRef place;
  };
  const std::vector<Entry>& parameters() const { return parameters_; }
  std::vector<Entry>& parameters() { return parameters_; }
  std::int64_t arena_count() const { return arena_count_; }  ///< floats, padding included
  std::int64_t saved_size_bytes() const { return saved_size_bytes_; }
  std::int64_t noted_size_bytes() const { return noted_size_bytes_; }
  std::int64_t kept_size_bytes() const { return kept_size_bytes_; }
  std::int64_t scratch_size_bytes() const { return scratch_size_bytes_; }
  double forward_flop() const { return forward_flop_; }    ///< of one micro-batch
  double backward_flop() const { return backward_flop_; }  ///< by input, where it is asked for, and by weight

 private:
  static std::int64_t reserve(std::int64_t& total_bytes, std::int64_t size_bytes);

  DataType type_;
  std::vector<Entry> parameters_;
  std::int64_t arena_count_ = 0, saved_size_bytes_ = 0, noted_size_bytes_ = 0, kept_size_bytes_ = 0,
               scratch_size_bytes_ = 0;
  double forward_flop_ = 0, backward_flop_ = 0;
};

/// y = cell(x); dx, dparameters = backward(dy). Shapes carry the micro-batch's size.
class Cell {
 public:
  Cell(std::string name, const Shape& x, DataType type)
      : memory_(type), name_(std::move(name)), x_(x), y_(x), y_type_(type) {}
  virtual ~Cell() = default;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  const std::string& name() const { return name_; }
  const Shape& x() const { return x_; }
  const Shape& y() const { return y_; }
  std::int64_t x_bytes() const { return x_.count() * size_of(memory_.type()); }
  /// The network's last cell gives float32 logits; their gradient is of the cell's type like any other.
  std::int64_t y_bytes() const { return y_.count() * size_of(y_type_); }
  std::int64_t dy_bytes() const { return y_.count() * size_of(memory_.type()); }
  const CellMemory& memory() const { return memory_; }

  /// Freezes the parameters and statistics whose names `wanted` accepts; where that is all that is trained here, the
  /// cell: batch norm then uses its running statistics, which stay as they are, in training too.
  void freeze(const std::function<bool(const std::string& name)>& wanted);
  bool is_frozen() const { return frozen_; }

  /// Plans the operations; once, before anything below.
  virtual void plan(ops::Library& library) = 0;
  /// Tells the operations that the parameters (this cell's part of the arena) have changed.
  virtual void load_weights(const Weights& weights) = 0;
  /// x read, y overwritten.
  virtual void forward(const Frame& frame, const void* x, void* y) const = 0;
  /// After forward(x) with this frame, when what it saved has been overwritten: fills again those places that the
  /// backward of this frame reads, with the same bits.
  virtual void recompute(const Frame& frame, const void* x) const = 0;
  /// x and y as in forward; dy is consumed: it may be overwritten. dx overwritten, or null for the network's first
  /// cell. Every gradient of the cell's parameters is overwritten, unless the cell is frozen.
  /// With frame.kept, backward by input: dx alone, and what backward_weight needs is kept.
  virtual void backward(const Frame& frame, const void* x, const void* y, void* dy, void* dx) const = 0;
  /// Backward by weight, after that by input with the same frame, but for the gradients: they are overwritten, with the
  /// bits that the joint backward gives them. Not for frozen cells.
  virtual void backward_weight(const Frame& frame, const void* x) const = 0;

 protected:
  CellMemory memory_;
  void set_output(const Shape& y) { y_ = y; }
  void set_logits(const Shape& y) { y_ = y, y_type_ = DataType::kFloat32; }

 private:
  std::string name_;
  Shape x_, y_;
  DataType y_type_;
  bool frozen_ = false;
};

}  // namespace convoy
