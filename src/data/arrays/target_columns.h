/// What a network has to answer for the samples of users' files: finds out whether it is a class, labels or numbers,
/// and reads it sample by sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convoy/base/target.h"
#include "convoy/io/shard_writer.h"
#include "convoy/params/choices.h"

#include "data/arrays/element_values.h"
#include "data/arrays/sample_part.h"

namespace convoy {

/// What the target is, and the names of classes, labels or numbers.
struct TargetForm {
  TargetKind kind = TargetKind::kClass;
  std::vector<std::string> names = {};
  bool are_lists = false;  ///< whether labels are written as a|b in one column or array of texts
};

/// Numbers of texts, which are found without a copy of the text.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using TextNumbers = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

/// Throws RequestError, naming `place`, if targets of this form cannot be read from the part: its values, their number
/// or its columns are others.
void check_part(const SamplePart& part, const TargetForm& form, const std::string& place);

/// Reads targets of a known form. `part` must outlive the reader.
class TargetReader {
 public:
  TargetReader(SamplePart& part, TargetForm form);

  const TargetForm& form() const { return form_; }
  /// Reads the target of a row; valid until the next call. A class that is blank or has no name in the form is -1. A
  /// label or number that is missing is NaN; numbers may be infinite. Throws RequestError, naming the place, if a label
  /// has no name in the form or is neither 0 nor 1, if a field is no number, or if a number is beyond float32.
  io::SampleAnswer read(std::int64_t row);
  /// The text of the class of a row; empty if it is blank.
  std::string_view class_text(std::int64_t row);
  /// The values of a row; valid until the next call.
  std::span<const double> doubles_of(std::int64_t row);
  /// What was lost of the numbers that were read.
  const LossOfPrecision& loss() const { return loss_; }

 private:
  void read_list(std::int64_t row);
  void read_values(std::int64_t row);

  SamplePart& part_;
  TargetForm form_;
  bool are_numbers_ = false;  ///< whether the names of classes are numbers, of which some may be missing
  TextNumbers numbers_;       ///< index of each name of a class, or of a label in a list
  std::vector<double> doubles_;
  std::vector<float> values_;
  LossOfPrecision loss_;
  std::string text_;
};

/// The target of all rows of a source.
struct TargetListing {
  TargetForm form;
  std::vector<std::int32_t> labels;  ///< class of each row, -1: not known; empty if the target is no class
  std::vector<std::string> notes;    ///< sentences about what was found out
};

/// Finds out what a target is from the values of all rows, which are added in their order.
class TargetScan {
 public:
  /// `name` is that of the target, for outputs without a name of their own, and `place` what messages call it. `dims`:
  /// Target::dims. Throws RequestError if the request cannot be fulfilled: a class of several values, numbers that are
  /// texts, a field that is no field of numbers.
  TargetScan(SamplePart& part, TargetRequest request, double max_class_fraction, std::string name, std::string place,
             std::vector<std::int64_t> dims = {});

  /// Whether rows are needed to know what the target is.
  bool wants_rows() const { return wants_rows_; }
  void add(std::int64_t row);
  /// Called after the last row. Throws RequestError if there are too many classes, only one, or names that cannot be.
  TargetListing finish();

 private:
  void add_values(std::int64_t row);
  void add_text(std::int64_t row);
  std::int32_t number_of(std::string_view text);
  void check_shape() const;
  void check_record() const;
  void drop_missing();
  void list_classes();
  void list_labels();
  void note_spellings(const char* what);
  void name_outputs();
  std::string describe_guess() const;
  bool are_numbers() const { return num_numbers_ > 0 && num_others_ == 0; }
  TargetKind kind_of_texts() const;

  SamplePart& part_;
  TargetReader reader_;  ///< gives the texts of classes
  TargetRequest request_;
  double max_class_fraction_;
  std::string name_, place_;
  std::vector<std::int64_t> dims_;
  bool wants_rows_ = false;
  TargetListing listing_;

  // Several values: whether all are 0, 1 or missing.
  bool are_binary_ = true;
  // One value: the different texts, by their numbers in the order of appearance.
  TextNumbers texts_;
  bool collects_ = true;  ///< false: there are more texts than classes can be
  std::int64_t num_rows_ = 0;
  std::int64_t num_numbers_ = 0, num_fractions_ = 0, num_others_ = 0;  ///< rows with numbers; not whole; with others
  std::int64_t num_bars_ = 0;                                          ///< rows with a text that has a |
};

}  // namespace convoy
