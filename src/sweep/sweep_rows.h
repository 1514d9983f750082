/// The rows of a sweep: each combination of the listed values, and whether it can be measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/io/model_metadata.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// One combination of the listed values.
struct SweepRow {
  std::int64_t number = 1;          ///< in the table, from 1
  std::vector<std::string> values;  ///< a value of each of the table's factors
  Parameters params;                ///< the parameters with these values
  std::int64_t ranks = 1;
  std::string reason;  ///< why this job cannot measure it; empty: it can
};

/// All combinations of the listed values.
struct SweepTable {
  std::vector<std::string> factors;  ///< names of the lists: "stages", "micro"
  std::vector<SweepRow> rows;        ///< the last factor varies fastest
};

/// Returns the rows of params.sweep for a job of `job_ranks` ranks. Throws RequestError if nothing is listed.
SweepTable make_table(const Parameters& params, std::int64_t job_ranks);

/// Sets the reason of rows that cannot be planned with this network and its data.
void check_rows(const io::ModelMetadata& metadata, SweepTable& table);

/// Returns the values of a row with their names: "stages 2, micro 8".
std::string describe_values(const SweepTable& table, const SweepRow& row);

}  // namespace convoy
