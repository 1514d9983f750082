/// Imports texts: finds their vocabulary, and how shards hold them.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/comm/on_root.h"
#include "convoy/params/data_parameters.h"

#include "data/import_input.h"
#include "data/import_sums.h"
#include "data/text/subwords.h"
#include "data/text/text_source.h"
#include "data/text/text_table.h"
#include "data/text/tokenizer.h"
#include "data/text/words.h"

namespace convoy {

namespace {

static_assert(std::endian::native == std::endian::little, "tokens are stored as they are in memory");

constexpr std::int64_t kTextsWeighed = 256;     // sample from which the size of all is estimated
constexpr std::int64_t kBytesPerToken = 4;      // for English words, and for parts of words
constexpr std::int64_t kMaxIn16Bits = 1 << 16;  // limit of tokens that io/dataset.h stores in 16 bits

/// The texts of an import, and the names of the table's columns from which they come; the names are empty if each text
/// is a file of its own.
struct ImportedTexts {
  std::unique_ptr<TextSource> source;
  io::ColumnNames columns;
};

// Opens import.source, whose format is kText or kCsv.
ImportedTexts open_texts(const ImportParams& params, ImportFormat format, const mpi::Communicator& world) {
  const bool is_table = format == ImportFormat::kCsv;
  const TableColumns columns{
      .text = params.text_column, .label = params.label_column, .max_class_fraction = params.max_class_fraction};
  ClassFolders folders = kTextFolders;
  folders.has_splits = params.splits;
  SourceListing listed = list_on_root(world, [&] {
    return is_table ? list_tables(params.source, columns, "import.source") : list_class_folders(params.source, folders);
  });
  if (is_table)
    return {.source = std::make_unique<TextTable>(params.source, std::move(listed), columns),
            .columns = {.text = columns.text, .label = columns.label}};
  return {.source = std::make_unique<TextFiles>(params.source, std::move(listed)), .columns = {}};
}

/// Learns a vocabulary from the split train, and stores texts as its tokens.
class TextImport final : public ImportInput {
 public:
  TextImport(const ImportParams& params, ImportFormat format, const mpi::Communicator& world)
      : params_(params), world_(world), texts_(open_texts(params, format, world)) {}

  const char* kind() const override { return input_kinds::kText; }
  SourceListing& listing() override { return texts_.source->listing(); }
  /// Each rank counts the words of its share; parts of words are learnt by rank 0.
  void prepare(const ShowImport& show) override;
  std::int64_t mean_sample_bytes(std::size_t split) override;
  void describe(io::DatasetInfo& info) const override {
    info.text.tokenization = tokenization_;
    info.text.columns = texts_.columns;
  }
  std::span<const std::byte> read(std::size_t split, std::int64_t sample) override;
  void sum_up(std::size_t split, io::DatasetInfo& info) override {
    info.text.num_tokens = world_.sum(num_tokens_[split]);
  }

 private:
  io::Tokenization count_words(const ShowImport& show);
  io::Tokenization learn_from_sample(const ShowImport& show);
  std::int64_t mean_text_bytes(std::size_t split) const;

  const ImportParams& params_;
  mpi::Communicator world_;
  ImportedTexts texts_;
  io::Tokenization tokenization_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<std::int64_t> num_tokens_;  ///< of each split, those that this rank has read
  std::vector<std::int32_t> tokens_;
  std::vector<std::uint16_t> narrow_;
};

// --- The vocabulary --------------------------------------------------------------------------------------------------

// Counts words. A text that cannot be read is ignored here: it is reported when it is to be stored.
io::Tokenization TextImport::count_words(const ShowImport& show) {
  const SourceSplit& train = listing().splits.front();
  ImportSums sums(world_, "counting words", train.size(), show);
  WordCounts words;
  const std::int64_t end = train.size() * (world_.rank() + 1) / world_.size();
  for (std::int64_t i = train.size() * world_.rank() / world_.size(); i < end; ++i) {
    bool is_good = true;
    try {
      words.add(texts_.source->read(train, i));
    } catch (const Error&) {
      is_good = false;
    }
    sums.add(is_good);
  }
  sums.end(false);
  // Rank 0 has its own counts already.
  const std::string mine = world_.rank() == 0 ? "" : words.pack();
  const std::vector<std::byte> others = world_.gather(std::as_bytes(std::span(mine)), 0);
  io::Tokenization tokenization;
  mpi::on_root(world_, [&] {
    words.merge({reinterpret_cast<const char*>(others.data()), others.size()});
    if (words.empty()) refuse("import.source = {}: split train has no words", params_.source);
    tokenization = words.vocabulary_of(params_.vocabulary);
  });
  return tokenization;
}

// Learns from texts at equal distances in the list; their number is chosen to give about kSubwordTrainingBytes.
io::Tokenization TextImport::learn_from_sample(const ShowImport& show) {
  io::Tokenization tokenization;
  mpi::on_root(world_, [&] {
    const SourceSplit& train = listing().splits.front();
    const std::int64_t wanted = std::clamp<std::int64_t>(kSubwordTrainingBytes / mean_text_bytes(0), 1, train.size());
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < wanted; ++i) {
      try {
        texts.emplace_back(texts_.source->read(train, train.size() * i / wanted));
      } catch (const Error&) {  // reported when it is to be stored
      }
      show({"reading", i + 1, wanted, 0});
    }
    if (texts.empty()) refuse("import.source = {}: none of {} texts of split train is good", params_.source, wanted);
    show({"learning parts of words", wanted, wanted, 0});
    tokenization = learn_subwords(texts, params_.vocabulary);
  });
  return tokenization;
}

void TextImport::prepare(const ShowImport& show) {
  tokenization_ = params_.tokenizer == TokenizerKind::kWords ? count_words(show) : learn_from_sample(show);
  tokenization_.kind = world_.broadcast(tokenization_.kind, 0);
  tokenization_.model = world_.broadcast(tokenization_.model, 0);
  world_.broadcast(&tokenization_.vocabulary, sizeof tokenization_.vocabulary, 0);
  tokenizer_ = make_tokenizer(tokenization_);
  num_tokens_.resize(listing().splits.size());
}

// --- Texts -----------------------------------------------------------------------------------------------------------

std::int64_t TextImport::mean_text_bytes(std::size_t split_number) const {
  const SourceSplit& split = texts_.source->listing().splits[split_number];
  const std::int64_t count = std::min(split.size(), kTextsWeighed);
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < count; ++i) bytes += texts_.source->text_bytes(split, split.size() * i / count);
  return std::max<std::int64_t>(1, bytes / count);
}

std::int64_t TextImport::mean_sample_bytes(std::size_t split) {
  std::int64_t bytes = 0;
  mpi::on_root(world_, [&] {
    const std::int64_t token_bytes = tokenization_.vocabulary <= kMaxIn16Bits ? 2 : 4;
    bytes = std::max<std::int64_t>(1, mean_text_bytes(split) * token_bytes / kBytesPerToken);
  });
  world_.broadcast(&bytes, sizeof bytes, 0);
  return bytes;
}

std::span<const std::byte> TextImport::read(std::size_t split, std::int64_t sample) {
  tokenizer_->encode(texts_.source->read(listing().splits[split], sample), tokens_);
  if (tokens_.empty()) fail("it has no words");
  num_tokens_[split] += std::ssize(tokens_);
  if (tokenization_.vocabulary > kMaxIn16Bits) return std::as_bytes(std::span(tokens_));
  narrow_.assign(tokens_.begin(), tokens_.end());
  return std::as_bytes(std::span(narrow_));
}

}  // namespace

std::unique_ptr<ImportInput> make_text_import(const ImportParams& params, ImportFormat format,
                                              const mpi::Communicator& world) {
  return std::make_unique<TextImport>(params, format, world);
}

}  // namespace convoy
