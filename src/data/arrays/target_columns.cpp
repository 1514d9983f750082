/// Looks at all values of a target once; later each is read with its sample.
#include "data/arrays/target_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/release_memory.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/sample_store.h"
#include "convoy/ops/target_loss.h"

#include "data/arrays/field_reader.h"
#include "data/source_listing.h"
#include "data/text/check_text.h"

namespace convoy {

namespace {

constexpr std::int64_t kFewClasses = 10;          // always allowed, however few samples there are
constexpr std::size_t kMaxClasses = 1 << 17;      // more are no classes
constexpr std::int64_t kMaxNumbers = 1 << 17;     // all shards and checkpoints hold their names
constexpr std::size_t kMaxTextsOfNumbers = 1000;  // with fractions among them, more are no classes either
constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();

bool is_float(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kFloat32 || type == ElementType::kFloat64;
}

bool is_float_array(const SamplePart& part) {
  return part.type() && part.columns().empty() && is_float(*part.type());
}

std::vector<std::string> parts_of_list(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find('|', begin), list.size());
    if (const std::string_view part = without_blanks(list.substr(begin, end - begin)); !part.empty())
      parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

// Whether the text is a word for a missing number, such as NA.
bool is_missing_number(std::string_view text) {
  double number = 0;
  return !is_blank(text) && read_number(text, number) && std::isnan(number);
}

bool is_number(std::string_view text) {
  double number = 0;
  return read_number(text, number) && !std::isnan(number);
}

// "a class of 3", "a number", "5 labels"
std::string describe_kind(const TargetForm& form) {
  const auto count = std::ssize(form.names);
  const char* const one = form.kind == TargetKind::kLabels ? "label" : "number";
  if (form.kind == TargetKind::kClass) return fmt::format("a class of {}", count);
  return count == 1 ? fmt::format("a {}", one) : counted(count, one);
}

}  // namespace

// --- Reading ---------------------------------------------------------------------------------------------------------

void check_part(const SamplePart& part, const TargetForm& form, const std::string& place) {
  const std::int64_t found = part.num_values();
  if (form.are_lists || form.kind == TargetKind::kClass) {
    if (found == 1) return;
    refuse("import.target: {} has {} for each sample, but one {} was expected", place, counted(found, "value"),
           form.kind == TargetKind::kClass ? "class" : "list of labels");
  }
  if (!part.type()) refuse("import.target: {} holds texts, but {} were expected", place, outputs_of(form.kind));
  const auto shown_names = [&] { return excerpt(fmt::format("{}", fmt::join(form.names, ", "))); };
  if (found != std::ssize(form.names))
    refuse("import.target: {} has {} for each sample, but {} {} were expected: {}", place, counted(found, "value"),
           form.names.size(), outputs_of(form.kind), shown_names());
  if (!part.columns().empty() && part.columns() != form.names)
    refuse("import.target: the columns of {} are {}, but {} were expected. Give them in this order", place,
           excerpt(fmt::format("{}", fmt::join(part.columns(), ", "))), shown_names());
}

TargetReader::TargetReader(SamplePart& part, TargetForm form) : part_(part), form_(std::move(form)) {
  are_numbers_ = !form_.names.empty() && std::ranges::all_of(form_.names, is_number);
  for (const std::string& name : form_.names) numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size()));
  if (form_.kind != TargetKind::kClass) values_.resize(form_.names.size());
}

// Targets in records are not read here: memory for their values is taken by the first that is.
std::span<const double> TargetReader::doubles_of(std::int64_t row) {
  doubles_.resize(static_cast<std::size_t>(part_.num_values()));
  convert_to_doubles(*part_.type(), part_.values(row), doubles_);
  return doubles_;
}

std::string_view TargetReader::class_text(std::int64_t row) {
  if (!is_float_array(part_)) {
    const std::string_view text = part_.text(row, 0);
    return is_blank(text) || (are_numbers_ && is_missing_number(text)) ? std::string_view() : text;
  }
  const double value = doubles_of(row).front();
  if (std::isnan(value)) return {};
  if (std::trunc(value) != value || std::abs(value) >= 0x1p53)
    refuse("{}: the class is {}, which is no whole number. Give import.target_kind = numbers", part_.place(row), value);
  text_ = fmt::format("{}", static_cast<std::int64_t>(value));
  return text_;
}

io::SampleAnswer TargetReader::read(std::int64_t row) {
  if (form_.kind == TargetKind::kClass) {
    const auto found = numbers_.find(class_text(row));
    return {.label = found == numbers_.end() ? -1 : found->second};
  }
  if (form_.are_lists)
    read_list(row);
  else
    read_values(row);
  return {.target = values_};
}

void TargetReader::read_list(std::int64_t row) {
  const std::string_view list = part_.text(row, 0);
  std::ranges::fill(values_, is_missing_number(list) ? kNotKnown : 0.0f);
  if (is_missing_number(list)) return;
  for (const std::string& part : parts_of_list(list)) {
    const auto found = numbers_.find(part);
    if (found == numbers_.end())
      refuse("{}: the label '{}' is none of train: {}", part_.place(row), excerpt(part), examples(form_.names));
    values_[static_cast<std::size_t>(found->second)] = 1;
  }
}

void TargetReader::read_values(std::int64_t row) {
  if (const std::int64_t beyond = round_to_float32(doubles_of(row), values_, loss_); beyond >= 0)
    refuse("{}: the target is {}, which is beyond float32. Scale it, or take its logarithm", part_.place(row),
           doubles_[static_cast<std::size_t>(beyond)]);
  if (form_.kind != TargetKind::kLabels) return;
  const auto is_label = [](float value) { return std::isnan(value) || value == 0 || value == 1; };
  if (const auto wrong = std::ranges::find_if_not(values_, is_label); wrong != values_.end())
    refuse("{}: label '{}' is {}, and not 0 or 1. Is the target a class, or numbers (import.target_kind)?",
           part_.place(row), excerpt(form_.names[static_cast<std::size_t>(wrong - values_.begin())]), *wrong);
}

// --- Finding out -----------------------------------------------------------------------------------------------------

TargetScan::TargetScan(SamplePart& part, TargetRequest request, double max_class_fraction, std::string name,
                       std::string place, std::vector<std::int64_t> dims)
    : part_(part),
      reader_(part, {}),
      request_(request),
      max_class_fraction_(max_class_fraction),
      name_(std::move(name)),
      place_(std::move(place)),
      dims_(std::move(dims)) {
  check_shape();
  const bool is_auto = request == TargetRequest::kAuto, is_float = is_float_array(part);
  const bool has_texts = !part.type() || !part.columns().empty();
  if (request == TargetRequest::kNumbers || (is_auto && is_float)) listing_.form.kind = TargetKind::kNumbers;
  if (request == TargetRequest::kLabels) listing_.form.kind = TargetKind::kLabels;
  wants_rows_ = request == TargetRequest::kClass || (is_auto && !is_float) ||
                (request == TargetRequest::kLabels && has_texts && part.num_values() == 1);
}

// Numbers in the record are floats, or asked for: integers with pixels may be meant as classes.
void TargetScan::check_record() const {
  const bool are_numbers =
      request_ == TargetRequest::kNumbers || (request_ == TargetRequest::kAuto && is_float_array(part_));
  const std::string shape = fmt::format("({})", fmt::join(part_.dims(), ", "));
  if (dims_.size() > 1 && !are_numbers)
    refuse(
        "import.target: {}: the target of a sample has the shape {}, a class or labels at each pixel. This is not "
        "possible yet. If the values are quantities, give import.target_kind = numbers",
        place_, shape);
  if (dims_.size() > 3)
    refuse(
        "import.target: {}: the target of a sample has the shape {}, a volume. This is not possible yet: give its "
        "slices as channels (import.axes)",
        place_, shape);
  const std::int64_t max_outputs = are_numbers ? kMaxNumbers : io::kMaxTargetValues;
  if (dims_.back() > max_outputs)
    refuse("import.target: {} has {} {} for each sample. Allowed: 1 to {}{}", place_, dims_.back(),
           dims_.size() > 1 ? "channels" : "values", max_outputs,
           are_numbers ? "" : ", and more with import.target_kind = numbers");
  if (part_.num_values() > ops::kMaxTargets)
    refuse("import.target: {} has {} values for each sample. Allowed: 1 to {}", place_, part_.num_values(),
           ops::kMaxTargets);
}

void TargetScan::check_shape() const {
  if (!part_.type() && part_.dims().size() > 1)
    refuse("import.target: {}: the target of a sample is ({}) texts. Give one text, or numbers", place_,
           fmt::join(part_.dims(), ", "));
  if (!part_.type() && request_ == TargetRequest::kNumbers)
    refuse("import.target_kind = numbers, but {} holds texts", place_);
  if (part_.num_values() > 1 && dims_.size() < 2 && request_ == TargetRequest::kClass)
    refuse(
        "import.target_kind = class, but {} has {} values for each sample, and a class is one. Of a row with a 1 for "
        "the class, numpy.argmax(y, axis=1) makes it",
        place_, part_.num_values());
  if (!dims_.empty()) check_record();
}

void TargetScan::add(std::int64_t row) {
  ++num_rows_;
  if (part_.num_values() > 1)
    add_values(row);
  else
    add_text(row);
}

void TargetScan::add_values(std::int64_t row) {
  are_binary_ =
      std::ranges::all_of(reader_.doubles_of(row), [](double v) { return std::isnan(v) || v == 0 || v == 1; });
  wants_rows_ = are_binary_;
}

void TargetScan::add_text(std::int64_t row) {
  const std::string_view text = reader_.class_text(row);
  double number = 0;
  if (!text.empty()) {
    if (!read_number(text, number)) {
      ++num_others_;
      if (text.find('|') != std::string_view::npos) ++num_bars_;
    } else if (!std::isnan(number)) {
      ++num_numbers_;
      if (!parse_number<std::int64_t>(text)) ++num_fractions_;
    }
  }
  if (!collects_) return;
  listing_.labels.push_back(text.empty() ? -1 : number_of(text));
  const bool is_auto = request_ == TargetRequest::kAuto;
  collects_ = texts_.size() <= (is_auto && num_fractions_ > 0 && num_others_ == 0 ? kMaxTextsOfNumbers : kMaxClasses);
  if (collects_) return;
  release_memory(listing_.labels);
  texts_.clear();
}

std::int32_t TargetScan::number_of(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end()) return found->second;
  const auto next = static_cast<std::int32_t>(texts_.size());
  texts_.emplace(text, next);
  return next;
}

TargetKind TargetScan::kind_of_texts() const {
  if (request_ == TargetRequest::kClass) return TargetKind::kClass;
  if (request_ == TargetRequest::kLabels || num_bars_ > 0) return TargetKind::kLabels;
  return are_numbers() && num_fractions_ > 0 ? TargetKind::kNumbers : TargetKind::kClass;
}

TargetListing TargetScan::finish() {
  TargetForm& form = listing_.form;
  if (part_.num_values() > 1 && request_ == TargetRequest::kAuto && !is_float_array(part_)) {
    form.kind = are_binary_ ? TargetKind::kLabels : TargetKind::kNumbers;
  } else if (num_rows_ > 0) {
    form.kind = kind_of_texts();
    if (form.kind == TargetKind::kClass) list_classes();
    if (form.kind == TargetKind::kLabels) list_labels();
  }
  if (form.kind != TargetKind::kClass) release_memory(listing_.labels);
  if (form.names.empty()) name_outputs();
  if (request_ == TargetRequest::kAuto)
    listing_.notes.push_back(fmt::format("the target {} is {} (import.target_kind = {}); this is a guess: {}", place_,
                                         describe_kind(form), to_string(form.kind), describe_guess()));
  return std::move(listing_);
}

// Says why the kind of the target was chosen, and what chooses another.
std::string TargetScan::describe_guess() const {
  const char* const make_class = "a row with a 1 for the class becomes a class with numpy.argmax(y, axis=1)";
  const bool has_several = part_.num_values() > 1;
  switch (listing_.form.kind) {
    case TargetKind::kClass:
      return are_numbers() ? "its values are whole numbers. If they are quantities, give import.target_kind = numbers"
                           : "its values are texts. If each names several labels, give import.target_kind = labels";
    case TargetKind::kLabels:
      return has_several ? fmt::format(
                               "its values are all 0 or 1. If they are quantities, give import.target_kind = "
                               "numbers; {}",
                               make_class)
                         : "a | separates labels. If each text is one class, give import.target_kind = class";
    case TargetKind::kNumbers:
      break;
  }
  if (has_several && dims_.size() < 2)
    return fmt::format("its values are {}. If each is 0 or 1 for a label, give import.target_kind = labels; {}",
                       is_float_array(part_) ? "floats" : "not all 0 or 1", make_class);
  if (has_several) return "a sample has values at each pixel";
  return fmt::format("its values are {}. If they are classes, give import.target_kind = class",
                     is_float_array(part_) ? "floats" : "not all whole numbers");
}

// If all other classes are numbers, words as NA are no classes.
void TargetScan::drop_missing() {
  if (!are_numbers()) return;
  for (auto text = texts_.begin(); text != texts_.end();) {
    if (!is_missing_number(text->first)) {
      ++text;
      continue;
    }
    std::ranges::replace(listing_.labels, text->second, -1);
    text = texts_.erase(text);
  }
}

void TargetScan::list_classes() {
  const std::size_t num_texts = texts_.size();
  drop_missing();
  std::vector<std::string> names;
  for (const auto& [text, number] : texts_) names.push_back(text);
  names = in_order_of_classes(std::move(names));
  const auto allowed = std::max(
      kFewClasses, static_cast<std::int64_t>(max_class_fraction_ * static_cast<double>(listing_.labels.size())));
  if (!collects_ || (std::ssize(names) > allowed && request_ == TargetRequest::kAuto))
    refuse(
        "import.target: {} has {} different values in {}{}. If they are quantities, give import.target_kind = "
        "numbers; if they are classes, import.target_kind = class{}",
        place_, collects_ ? fmt::format("{}", names.size()) : fmt::format("more than {}", kMaxClasses),
        counted(num_rows_, "sample"), names.empty() ? "" : fmt::format(": {}", examples(names)),
        are_numbers() ? "" : "; if they are names of samples, give another target");
  if (names.size() < 2)
    refuse("import.target: {} has {}. A network needs at least two classes", place_,
           names.empty() ? "no class" : fmt::format("a single class, '{}'", excerpt(names.front())));
  for (const std::string& name : names) {
    try {
      check_class_name(name);
    } catch (const Error& error) {
      refuse("import.target: {}: '{}' cannot be a class: {}", place_, excerpt(name), error.what());
    }
  }
  std::vector<std::int32_t> new_numbers(num_texts, -1);
  for (std::size_t i = 0; i < names.size(); ++i)
    new_numbers[static_cast<std::size_t>(texts_.at(names[i]))] = static_cast<std::int32_t>(i);
  for (std::int32_t& label : listing_.labels)
    if (label >= 0) label = new_numbers[static_cast<std::size_t>(label)];
  listing_.form.names = std::move(names);
  note_spellings("classes");
}

void TargetScan::note_spellings(const char* what) {
  if (const std::string spellings = describe_spellings(listing_.form.names); !spellings.empty())
    listing_.notes.push_back(fmt::format("{} of {}: {}", what, place_, spellings));
}

// Collects the labels of lists such as a|b. One column of 0 and 1 is one label, named as the column.
void TargetScan::list_labels() {
  if (!collects_) refuse("import.target: {} has more than {} different lists of labels", place_, kMaxClasses);
  std::set<std::string> labels;
  for (const auto& [text, number] : texts_)
    if (!is_missing_number(text))
      for (std::string& label : parts_of_list(text)) labels.insert(std::move(label));
  if (part_.type() &&
      std::ranges::all_of(labels, [](const std::string& label) { return label == "0" || label == "1"; }))
    return;
  if (std::ssize(labels) > io::kMaxTargetValues)
    refuse("import.target: {} has {} labels. Allowed: 1 to {}", place_, labels.size(), io::kMaxTargetValues);
  listing_.form.names = in_order_of_classes({labels.begin(), labels.end()});
  listing_.form.are_lists = true;
  note_spellings("labels");
}

// Names labels or numbers as their columns, or as the array, with their index if there are several.
void TargetScan::name_outputs() {
  std::vector<std::string>& names = listing_.form.names;
  names = part_.columns();
  if (!names.empty()) return;
  const std::int64_t count = dims_.empty() ? part_.num_values() : dims_.back();
  for (std::int64_t k = 0; k < count; ++k) names.push_back(count == 1 ? name_ : fmt::format("{}_{}", name_, k));
}

}  // namespace convoy
