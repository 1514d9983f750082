/// Writes a few sentences that name only what went wrong first: lists of everything would hide it.
#include "run/describe_bad_step.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "convoy/base/wording.h"

namespace convoy {

namespace {

using Kind = BadNumbers::Kind;

constexpr std::size_t kMaxNames = 8, kMaxMicroBatches = 2;

class Description {
 public:
  Description(const BadStepContext& context, const std::vector<BadNumbers>& found) : context_(context), found_(found) {}

  std::string text() const {
    return fmt::format("step {} is bad: {}. {}{}{} {}", context_.step, cause(), likely_cause(), samples(), first_cell(),
                       before());
  }

 private:
  const BadNumbers* first(Kind kind) const {
    const auto bad = std::ranges::find(found_, kind, &BadNumbers::kind);
    return bad == found_.end() ? nullptr : &*bad;
  }
  const Cell& cell(const BadNumbers& bad) const { return *context_.network[static_cast<std::size_t>(bad.cell)]; }
  const ParameterSpec& parameter(const BadNumbers& bad) const {
    return cell(bad).memory().parameters()[static_cast<std::size_t>(bad.index)].spec;
  }

  // "12 of 640 values are infinite or NaN"
  static std::string shown(const NumberCount& count) {
    return fmt::format("{} of {} values {} infinite or NaN", count.num_bad, count.num_values,
                       count.num_bad == 1 ? "is" : "are");
  }

  std::string cause() const {
    const BadNumbers* loss = first(Kind::kLoss);
    const BadNumbers* gradient = first(Kind::kGradient);
    if (loss != nullptr && std::isfinite(loss->loss))
      return fmt::format("the loss of micro-batch {} is {:.6g}, above train.loss_limit = {}", loss->micro_batch,
                         loss->loss, context_.loss_limit);
    if (loss != nullptr) return fmt::format("the loss of micro-batch {} is not a finite number", loss->micro_batch);
    if (gradient != nullptr)
      return fmt::format("the loss is finite, but in the {} '{}' {}",
                         parameter(*gradient).is_statistic() ? "micro-batches' statistics for" : "gradient of",
                         parameter(*gradient).name, shown(gradient->count));
    return "its numbers were not finite, but they are finite if the step is computed again";
  }

  std::set<std::int64_t> micro_batches(std::optional<Kind> kind = std::nullopt) const {
    std::set<std::int64_t> bad;
    for (const BadNumbers& one : found_)
      if (one.micro_batch != BadNumbers::kNone && (!kind || one.kind == *kind)) bad.insert(one.micro_batch);
    return bad;
  }

  bool are_all_bad() const { return std::ssize(micro_batches()) == context_.num_micro_batches; }

  // Faulty samples make some micro-batches bad; faulty parameters make all of them bad.
  std::string likely_cause() const {
    const BadNumbers* loss = first(Kind::kLoss);
    const bool is_finite = loss != nullptr && std::isfinite(loss->loss);
    const bool is_of_some = !micro_batches().empty() && !are_all_bad();
    if (found_.empty() || is_finite || is_of_some || first(Kind::kFeature) != nullptr) return "";
    return fmt::format(
        "The training has diverged; the likely cause is its learning rate, which was {:.6g} in this step: use a "
        "smaller one. ",
        context_.lr);
  }

  std::string samples() const {
    const std::set<std::int64_t> bad = micro_batches(), of_inputs = micro_batches(Kind::kFeature);
    if (bad.empty()) return "";
    std::string text;
    if (are_all_bad() && bad.size() > 1) text = fmt::format("All {} micro-batches are bad. ", bad.size());
    if (are_all_bad() && of_inputs.empty()) return text;
    if (!are_all_bad() && bad.size() > 1) text = fmt::format("{} micro-batches are bad. ", bad.size());
    std::size_t num_named = 0;
    for (const std::int64_t m : of_inputs.empty() ? bad : of_inputs)
      if (num_named++ < kMaxMicroBatches) text += fmt::format("Micro-batch {} (from 0) holds {}. ", m, names_of(m));
    return text;
  }

  // "'ant/6', 'bee/2' and 14 more samples"
  std::string names_of(std::int64_t micro_batch) const {
    const std::vector<std::string> names = context_.names(micro_batch);
    const std::size_t num = std::min(names.size(), kMaxNames);
    std::string text;
    for (std::size_t i = 0; i < num; ++i) text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
    return names.size() > num ? fmt::format("{} and {} more", text, names.size() - num) : text;
  }

  std::string first_cell() const {
    const BadNumbers* output = first(Kind::kOutput);
    if (output == nullptr) return "The output of every cell is finite.";
    return fmt::format(
        "The first cell whose output is not finite is {} (cell {} of {}), in micro-batch {}: {}; the largest finite "
        "one is {:.3g}.",
        cell(*output).name(), output->cell + 1, context_.network.size(), output->micro_batch, shown(output->count),
        output->count.largest);
  }

  // Describes what was bad before anything was computed.
  std::string before() const {
    std::string text;
    if (const BadNumbers* feature = first(Kind::kFeature); feature != nullptr)
      text = fmt::format("The input '{}' of micro-batch {} is bad already: {}.",
                         cell(*feature).features()[static_cast<std::size_t>(feature->index)].name, feature->micro_batch,
                         shown(feature->count));
    if (const BadNumbers* bad = first(Kind::kParameter); bad != nullptr)
      text += fmt::format("{}The parameter '{}' is bad already: {}.", text.empty() ? "" : " ", parameter(*bad).name,
                          shown(bad->count));
    return text.empty() ? "All inputs and parameters are finite." : text;
  }

  const BadStepContext& context_;
  const std::vector<BadNumbers>& found_;
};

std::string times(std::int64_t number) {
  return number == 1 ? "once" : fmt::format("{} times", number);
}

}  // namespace

std::string describe_bad_step(const BadStepContext& context, const std::vector<BadNumbers>& found) {
  return Description(context, found).text();
}

std::string describe_bad_steps(const io::TrainingState& state) {
  std::string text;
  if (state.bad_steps > 0)
    text = fmt::format("{} {} skipped (steps.csv has 'bad' in its column skipped)",
                       counted(state.bad_steps, "bad step"), state.bad_steps == 1 ? "was" : "were");
  if (state.rollbacks > 0)
    text += fmt::format(
        "{}training went back to an earlier checkpoint {}: the learning rate is now {:.6g} of what lr.schedule gives",
        text.empty() ? "" : "; ", times(state.rollbacks), state.rate_factor);
  return text;
}

}  // namespace convoy
