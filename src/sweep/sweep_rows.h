/// The rows of a sweep: all combinations of the listed values, and whether each can be measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/io/model_metadata.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// A row: one combination of the listed values.
struct SweepRow {
  std::int64_t number = 1;          ///< number of the row in the table, counted from 1
  std::vector<std::string> values;  ///< one value for each of SweepTable::factors
  Parameters params;                ///< the parameters with these values
  std::int64_t ranks = 1;           ///< number of ranks that measure the row
  std::string reason;               ///< why this job cannot measure the row; empty: it can
};

/// The rows of a sweep.
struct SweepTable {
  std::vector<std::string> factors;  ///< names of the parameters that the sweep varies: "stages", "micro"
  std::vector<SweepRow> rows;        ///< all combinations; the last factor varies fastest
};

/// Returns whether the row is measured with the largest micro-batch that fits, which is then found.
bool finds_largest_micro(const Parameters& row);

/// Returns the rows of params.sweep for a job of `job_ranks` ranks. Throws RequestError if nothing is listed.
SweepTable make_table(const Parameters& params, std::int64_t job_ranks);

/// Sets the reason of the rows for which no step can be planned with this network and its data.
void check_rows(const io::ModelMetadata& metadata, SweepTable& table);

/// Returns the values of a row with their names: "stages 2, micro 8".
std::string describe_values(const SweepTable& table, const SweepRow& row);

}  // namespace convoy
