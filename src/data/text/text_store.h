/// A store of texts that are used without an import: it reads and tokenizes them when it is created.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/data/import.h"
#include "convoy/io/sample_store.h"

#include "data/text/text_source.h"

namespace convoy {

/// The tokens of texts, all in memory: 4 bytes per token, on every rank.
class TextStore final : public io::SampleStore {
 public:
  /// Reads the first split of the source; each rank reads a share of the texts and sends their tokens to the others.
  /// Texts that cannot be used are left out and added to `skipped`, on all ranks. Called by all ranks of `world`.
  TextStore(TextSource& source, const std::string& name, const io::Tokenization& tokenization,
            const mpi::Communicator& world, std::vector<SkippedSample>& skipped);
  /// Makes a store of one text with the given name. Throws Error if the text cannot be used.
  TextStore(std::string_view text, const std::string& name, const io::Tokenization& tokenization);

  const io::DatasetInfo& info() const override { return info_; }
  std::int64_t num_tokens(std::int64_t sample) const override;
  std::span<const std::int32_t> read_tokens(std::int64_t sample, std::vector<std::int32_t>& memory) const override;
  std::int32_t label(std::int64_t sample) const override { return labels_[static_cast<std::size_t>(sample)]; }
  std::string name(std::int64_t sample) const override { return std::string(names_[sample]); }

  /// Returns a message about texts none of whose words is in the vocabulary: "2 of 10 texts have no word that the
  /// network knows: 'a.txt' and others. ...". Returns an empty text if there are no such texts.
  std::string describe_unknown() const;

 private:
  void add(std::span<const std::int32_t> tokens, std::string_view name, std::int32_t label);

  io::DatasetInfo info_;
  std::vector<std::int32_t> tokens_;
  std::vector<std::int64_t> offsets_ = {0};
  std::vector<std::int32_t> labels_;
  NameList names_;
};

}  // namespace convoy
