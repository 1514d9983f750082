/// Finds parameters that are allowed but have no effect, or probably not the intended one.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/text.h"
#include "convoy/params/parameters.h"
#include "convoy/params/parse.h"

#include "params/command_table.h"
#include "params/key_table.h"
#include "params/validate.h"

namespace convoy {

namespace params {

std::vector<std::string> keys_in_model_set(const ModelParams& model) {
  std::vector<std::string> keys;
  for (std::string_view rest = model.set; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    std::string key = fmt::format("model.{}", without_blanks(part.substr(0, part.find('='))));
    if (find_key(key)) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace params

std::string describe_unread_keys(const Request& request) {
  using namespace params;
  const Command& command = *find_command(request.command);
  const auto is_read = [&](const std::string& name) {
    const Key& key = *find_key(name);
    if (command.takes == Takes::kPathsOrParameterFiles && !request.is_preflight) return false;
    return command.is_reading(key) || (command.name == "plan" && find_command("train")->is_reading(key)) ||
           (request.is_preflight && find_command("check")->is_reading(key));
  };
  std::vector<std::string> unread;
  for (const std::string& name : request.command_line_keys)
    if (!is_read(name)) unread.push_back("--" + name);
  if (unread.empty()) return "";
  const bool is_one = unread.size() == 1;
  return fmt::format("{} {} no effect: convoy {} does not read {}", fmt::join(unread, ", "), is_one ? "has" : "have",
                     command.name, is_one ? "it" : "them");
}

std::string describe_unread_network(const Request& request, const std::string& path) {
  const params::Command& command = *params::find_command(request.command);
  std::vector<std::string> unread;
  for (const std::string& name : request.command_line_keys) {
    const bool is_of_network = name.starts_with("model.") || name.starts_with("plan.");
    if (is_of_network && command.is_reading(*params::find_key(name))) unread.push_back("--" + name);
  }
  return unread.empty() ? ""
                        : fmt::format("{} {} no effect: '{}' has its own network", fmt::join(unread, ", "),
                                      unread.size() == 1 ? "has" : "have", path);
}

std::vector<std::string> warnings_for(const Parameters& params) {
  std::vector<std::string> warnings;
  if (!params.model.file.empty() && params.model.name != ModelParams{}.name)
    warnings.push_back(
        fmt::format("model.name = {} has no effect with model.file = {}", params.model.name, params.model.file));
  for (const std::string& name : params::keys_in_model_set(params.model)) {
    const params::Key& key = *params::find_key(name);
    if (const std::string value = key.value.write(params); value != key.default_text())
      warnings.push_back(
          fmt::format("{} = {} has no effect: model.set = {} sets it, too", name, value, params.model.set));
  }
  const LearningRateParams& lr = params.lr;
  if (lr.warmup_epochs > params.train.epochs && params.train.epochs > 0)
    warnings.push_back(fmt::format(
        "lr.warmup_epochs = {} is more than train.epochs = {}: the learning rate will never reach optimizer.lr",
        lr.warmup_epochs, params.train.epochs));
  const bool uses_steps = lr.schedule == LearningRateKind::kStep || lr.schedule == LearningRateKind::kMultistep;
  if (!uses_steps && !lr.step_epochs.empty())
    warnings.push_back(fmt::format("lr.step_epochs = {} has no effect with lr.schedule = {}",
                                   fmt::join(lr.step_epochs, ", "), name_of(lr.schedule)));
  if (params.memory.recompute == RecomputeKind::kAuto && params.memory.limit_gib == 0)
    warnings.push_back(
        "memory.recompute = auto has no effect without memory.limit_gib: without a limit, nothing is recomputed");
  const TrainParams& train = params.train;
  if (train.loss != LossKind::kHuber && train.huber_delta != TrainParams{}.huber_delta)
    warnings.push_back(fmt::format("train.huber_delta = {} has no effect with train.loss = {}", train.huber_delta,
                                   train.loss ? name_of(*train.loss) : "auto"));
  if (train.patience_epochs > 0 && train.evaluate_every_epochs == 0)
    warnings.push_back(
        fmt::format("train.patience_epochs = {} has no effect with train.evaluate_every_epochs = 0: nothing is "
                    "measured before the end",
                    train.patience_epochs));
  return warnings;
}

}  // namespace convoy
