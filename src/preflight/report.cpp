/// Turns findings of all ranks into verdicts of rank 0, in summaries that stay short on a thousand ranks.
#include "preflight/report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include <fmt/format.h>

#include "convoy/base/host_name.h"
#include "convoy/base/wording.h"

namespace convoy::preflight {

namespace {

constexpr std::size_t kShownRanks = 3, kShownGroups = 3;

const char* name_of(Outcome outcome) {
  constexpr std::array kNames = {"ok", "not checked", "warning", "failed"};
  return kNames[static_cast<std::size_t>(outcome)];
}

struct Group {
  std::string text;
  std::vector<std::int64_t> ranks;
};

// Groups ranks by their texts: the largest group first, of equally large ones the one with the lowest rank.
std::vector<Group> group(const std::vector<std::string>& texts, const std::vector<std::int64_t>& ranks) {
  std::map<std::string, std::vector<std::int64_t>> by_text;
  for (std::size_t i = 0; i < texts.size(); ++i) by_text[texts[i]].push_back(ranks[i]);
  std::vector<Group> groups;
  for (auto& [text, members] : by_text) groups.push_back({text, std::move(members)});
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::pair(b.ranks.size(), a.ranks.front()) < std::pair(a.ranks.size(), b.ranks.front());
  });
  return groups;
}

// Returns "rank 3 on node2" for one rank, and for several "5 of 8 ranks (rank 1 on node1, rank 3 on node2, rank 4 on
// node2, ...)".
std::string name_ranks(const std::vector<std::int64_t>& ranks, const std::vector<std::string>& hosts) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(ranks.size(), kShownRanks); ++i)
    shown.push_back(fmt::format("rank {} on {}", ranks[i], hosts[static_cast<std::size_t>(ranks[i])]));
  std::string list = fmt::format("{}", fmt::join(shown, ", "));
  if (ranks.size() == 1) return list;
  return fmt::format("{} of {} ranks ({}{})", ranks.size(), hosts.size(), list,
                     shown.size() < ranks.size() ? ", ..." : "");
}

// Returns "rank 3 on node2: TEXT; rank 5 on node3: TEXT; and 2 other findings".
std::string describe_groups(const std::vector<Group>& groups, std::size_t first,
                            const std::vector<std::string>& hosts) {
  std::vector<std::string> parts;
  for (std::size_t i = first; i < std::min(groups.size(), first + kShownGroups); ++i)
    parts.push_back(fmt::format("{}: {}", name_ranks(groups[i].ranks, hosts), groups[i].text));
  const std::size_t hidden = groups.size() - first - parts.size();
  if (hidden > 0) parts.push_back(fmt::format("and {}", counted(static_cast<std::int64_t>(hidden), "other finding")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string on_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Finding summarise(const std::vector<Finding>& findings, const std::vector<std::string>& hosts) {
  const Outcome worst = std::max_element(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
                          return a.outcome < b.outcome;
                        })->outcome;
  std::vector<std::string> texts;
  std::vector<std::int64_t> ranks;
  for (std::size_t rank = 0; rank < findings.size(); ++rank) {
    if (findings[rank].outcome != worst) continue;
    texts.push_back(findings[rank].text);
    ranks.push_back(static_cast<std::int64_t>(rank));
  }
  const std::vector<Group> groups = group(texts, ranks);
  const bool all_alike = groups.size() == 1 && texts.size() == findings.size();
  return {worst, all_alike ? groups.front().text : describe_groups(groups, 0, hosts)};
}

Finding agree(const std::vector<std::string>& texts, const std::vector<std::string>& hosts, Outcome if_different,
              const std::string& remedy) {
  std::vector<std::int64_t> ranks(texts.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = static_cast<std::int64_t>(rank);
  const std::vector<Group> groups = group(texts, ranks);
  if (groups.size() == 1) return ok(groups.front().text);
  return {if_different,
          fmt::format("{} on {} of {} ranks, but on {}. {}", groups.front().text, groups.front().ranks.size(),
                      texts.size(), describe_groups(groups, 1, hosts), remedy)};
}

bool any_fails(const std::vector<Verdict>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const Verdict& verdict) { return verdict.finding.outcome == Outcome::kFails; });
}

std::string describe(const std::vector<Verdict>& verdicts) {
  std::size_t width = 0;
  for (const Verdict& verdict : verdicts) width = std::max(width, verdict.check.size());
  std::string text;
  std::array<std::int64_t, 4> counts = {};
  for (const Verdict& verdict : verdicts) {
    ++counts[static_cast<std::size_t>(verdict.finding.outcome)];
    text += fmt::format("{:<11}  {:<{}}  {}\n", name_of(verdict.finding.outcome), verdict.check, width,
                        on_one_line(verdict.finding.text));
  }
  const auto [num_ok, num_not_checked, num_warnings, num_fails] = counts;
  return text + fmt::format("{} ok, {}, {} failed, {} not checked\n", num_ok, counted(num_warnings, "warning"),
                            num_fails, num_not_checked);
}

Report::Report(const mpi::Communicator& world) : world_(world), hosts_(gather(host_name())) {}

void Report::add(const std::string& check, Finding finding) {
  if (is_root()) verdicts_.push_back({check, std::move(finding)});
}

void Report::add_of_all(const std::string& check, const Finding& mine) {
  const std::vector<std::string> texts = gather(static_cast<char>('0' + static_cast<char>(mine.outcome)) + mine.text);
  std::vector<Finding> findings;
  for (const std::string& text : texts) findings.push_back({static_cast<Outcome>(text.front() - '0'), text.substr(1)});
  if (is_root()) add(check, summarise(findings, hosts_));
}

void Report::add_agreement(const std::string& check, const std::string& mine, Outcome if_different,
                           const std::string& remedy) {
  const std::vector<std::string> texts = gather(mine);
  if (is_root()) add(check, agree(texts, hosts_, if_different, remedy));
}

}  // namespace convoy::preflight
