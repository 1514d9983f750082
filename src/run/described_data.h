/// Describes a data set that need not exist, so that networks can be planned and described without data.
#pragma once

#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"

namespace convoy {

struct Parameters;

struct DescribedData {
  io::DatasetInfo info;  ///< num_samples is 0 if plan.samples does not say it; classes are named by numbers
  std::string note;      ///< a line about what is assumed, with the keys that say something else; or empty
};

/// Whether the parameters describe the data: plan.samples is set, or there is no data.train.
bool describes_data(const Parameters& params);

/// Returns the data set that plan.samples, plan.classes, plan.image_size, plan.values and plan.vocabulary describe.
/// What they do not say is as the network's file declares it, or else usual. Throws RequestError for an unknown
/// network, and for arrays that no data set can hold. If there are ranks, all of them call it, and rank 0 reads the
/// file.
DescribedData described_data(const Parameters& params, const mpi::Communicator* ranks = nullptr);

/// Returns model_metadata() of this data. If it refuses arrays that were only assumed, the RequestError also says how
/// to describe others.
io::ModelMetadata described_metadata(const Parameters& params, const DescribedData& data,
                                     const mpi::Communicator* ranks = nullptr);

}  // namespace convoy
