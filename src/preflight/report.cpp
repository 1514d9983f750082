/// Turns findings of all ranks into verdicts of rank 0.
#include "preflight/report.h"

#include <utility>

#include "convoy/base/host_name.h"
#include "convoy/comm/gather_texts.h"

namespace convoy::preflight {

Report::Report(const mpi::Communicator& world) : world_(world), hosts_(gather(host_name())) {}

std::vector<std::string> Report::gather(const std::string& mine) const {
  return mpi::gather_texts(world_, mine);
}

void Report::add(const std::string& check, Finding finding) {
  if (is_root()) verdicts_.push_back({check, std::move(finding)});
}

bool Report::add_of_all(const std::string& check, const Finding& mine) {
  const std::vector<std::string> texts = gather(static_cast<char>('0' + static_cast<char>(mine.outcome)) + mine.text);
  std::vector<Finding> findings;
  for (const std::string& text : texts) findings.push_back({static_cast<Outcome>(text.front() - '0'), text.substr(1)});
  if (is_root()) add(check, summarise(findings, hosts_));
  return world_.max(mine.outcome == Outcome::kFails ? 1 : 0) > 0;
}

void Report::add_agreement(const std::string& check, const std::string& mine, Outcome if_different,
                           const std::string& remedy) {
  const std::vector<std::string> texts = gather(mine);
  if (is_root()) add(check, agree(texts, hosts_, if_different, remedy));
}

}  // namespace convoy::preflight
