/// What a check has found, and the table of all of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace convoy::preflight {

/// From the best to the worst.
enum class Outcome : char { kOk, kNotChecked, kWarning, kFails };

/// What one rank has found.
struct Finding {
  Outcome outcome = Outcome::kOk;
  std::string text;

  bool operator==(const Finding&) const = default;
};

inline Finding ok(std::string text) {
  return {Outcome::kOk, std::move(text)};
}
inline Finding not_checked(std::string text) {
  return {Outcome::kNotChecked, std::move(text)};
}
inline Finding warning(std::string text) {
  return {Outcome::kWarning, std::move(text)};
}
inline Finding fails(std::string text) {
  return {Outcome::kFails, std::move(text)};
}

/// A line of the table.
struct Verdict {
  std::string check;  ///< "memory"
  Finding finding;
};

/// Of what each rank has found: the worst of it, each text once, with the ranks that found it and their hosts; at most
/// a few of them, and how many there are. Where all ranks found the same, that. By rank; at least one.
Finding summarise(const std::vector<Finding>& findings, const std::vector<std::string>& hosts);

/// Of what must be the same on all ranks: what it is, or, with `if_different`, what most ranks have, and the others.
/// `remedy` is a sentence.
Finding agree(const std::vector<std::string>& texts, const std::vector<std::string>& hosts, Outcome if_different,
              const std::string& remedy);

/// "rank 3 on node2", "ranks 3 and 5 on node2", "5 of 8 ranks (rank 1 on node1, rank 3 on node2, ...)".
std::string name_ranks(const std::vector<std::int64_t>& ranks, const std::vector<std::string>& hosts);

bool any_fails(const std::vector<Verdict>& verdicts);

/// A line for each verdict, and one that counts them.
std::string describe(const std::vector<Verdict>& verdicts);

}  // namespace convoy::preflight
