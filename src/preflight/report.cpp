/// Texts are gathered one after the other, each with a zero at its end.
#include "preflight/report.h"

#include <cstddef>
#include <span>
#include <utility>

#include "convoy/base/host_name.h"

namespace convoy::preflight {

Report::Report(const mpi::Communicator& world) : world_(world), hosts_(gather(host_name())) {}

std::vector<std::string> Report::gather(const std::string& mine) const {
  const std::span<const char> with_end(mine.c_str(), mine.size() + 1);
  const std::vector<std::byte> bytes = world_.gather(std::as_bytes(with_end), 0);
  std::vector<std::string> texts;
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  for (std::size_t at = 0; at < bytes.size(); at += texts.back().size() + 1) texts.emplace_back(begin + at);
  return texts;
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
