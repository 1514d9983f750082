/// The rows of a sweep: each combination of the listed values, and whether it can be measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

namespace convoy {

struct SweepRow {
  std::int64_t number = 1;          ///< in the table, from 1
  std::vector<std::string> values;  ///< of the table's factors
  Parameters params;                ///< with them
  std::int64_t ranks = 1;
  std::string reason;  ///< why this job cannot measure it; empty: it can
};

struct SweepTable {
  std::vector<std::string> factors;  ///< what is listed: "stages", "micro"
  std::vector<SweepRow> rows;        ///< the last factor varies fastest
};

/// For a job of so many ranks. Throws RequestError where nothing is listed.
SweepTable make_table(const Parameters& params, std::int64_t job_ranks);

/// Gives rows that this network and its data refuse their reason.
void check_rows(const io::ModelMetadata& metadata, SweepTable& table);

/// "stages 2, micro 8".
std::string describe_values(const SweepTable& table, const SweepRow& row);

}  // namespace convoy
