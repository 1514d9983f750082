/// Sets SentencePiece up to give the same results everywhere: a fixed number of threads, no sampling, texts in the
/// order given.
#include "data/text/subwords.h"

#include <algorithm>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include "convoy/base/error.h"
#include "convoy/base/special_tokens.h"
#include "convoy/params/choices.h"

namespace convoy {

namespace {

// SentencePiece ignores longer lines.
constexpr std::size_t kMaxLineBytes = 4000;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Returns the lines of the texts. Lines that are too long are cut at the end of a word, or else of a character.
std::vector<std::string> lines_of(const std::vector<std::string>& texts) {
  std::vector<std::string> lines;
  for (const std::string& text : texts) {
    for (std::string_view rest = text; !rest.empty();) {
      std::size_t end = rest.find_first_of("\r\n");
      if (end == std::string_view::npos) end = rest.size();
      if (end > kMaxLineBytes) {
        end = rest.rfind(' ', kMaxLineBytes);
        if (end == 0 || end == std::string_view::npos)
          for (end = kMaxLineBytes; continues_character(rest[end]);) --end;
      }
      if (end > 0) lines.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::max<std::size_t>(end, 1));
    }
  }
  return lines;
}

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) {}

  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t next_ = 0;
};

class SubwordTokenizer final : public Tokenizer {
 public:
  explicit SubwordTokenizer(const io::Tokenization& tokenization) {
    check_subword_model(tokenization.model);
    const auto status = processor_.LoadFromSerializedProto(tokenization.model);
    if (!status.ok()) fail("SentencePiece cannot read its model: {}", status.ToString());
    if (processor_.GetPieceSize() != tokenization.vocabulary)
      fail("its vocabulary has {} tokens, but its model of subwords has {}", tokenization.vocabulary,
           processor_.GetPieceSize());
  }

  void encode(std::string_view text, std::vector<std::int32_t>& tokens) override {
    const auto status = processor_.Encode({text.data(), text.size()}, &tokens);
    if (!status.ok()) fail("it cannot be divided into parts of words: {}", status.ToString());
  }

 private:
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

io::Tokenization learn_subwords(const std::vector<std::string>& texts, std::int64_t vocabulary) {
  using namespace special_tokens;
  const std::vector<std::string> lines = lines_of(texts);
  Lines iterator(lines);
  io::Tokenization tokenization{.kind = std::string(name_of(TokenizerKind::kSubwords))};
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"model_type", "unigram"},
       {"vocab_size", fmt::format("{}", vocabulary)},
       {"hard_vocab_limit", "false"},  // for texts that do not have that many parts
       {"normalization_rule_name", "nmt_nfkc_cf"},
       {"num_threads", "2"},  // their sums are added in a fixed order
       {"pad_id", fmt::format("{}", kPadding)},
       {"pad_piece", kNames[kPadding]},
       {"unk_id", fmt::format("{}", kUnknown)},
       {"unk_piece", kNames[kUnknown]},
       {"bos_id", fmt::format("{}", kBegin)},
       {"bos_piece", kNames[kBegin]},
       {"eos_id", fmt::format("{}", kSeparator)},
       {"eos_piece", kNames[kSeparator]},
       {"control_symbols", kNames[kMask]},  // the symbol gets the first free number
       {"minloglevel", "3"}},
      &iterator, &tokenization.model);
  if (!status.ok())
    refuse("import.tokenizer = subwords: SentencePiece cannot learn {} parts of words from {} lines: {}", vocabulary,
           lines.size(), status.ToString());
  sentencepiece::SentencePieceProcessor processor;
  if (!processor.LoadFromSerializedProto(tokenization.model).ok() || processor.PieceToId(kNames[kMask]) != kMask)
    fail("SentencePiece made a model whose special tokens are not at the requested positions");
  tokenization.vocabulary = processor.GetPieceSize();
  return tokenization;
}

std::unique_ptr<Tokenizer> make_subword_tokenizer(const io::Tokenization& tokenization) {
  return std::make_unique<SubwordTokenizer>(tokenization);
}

}  // namespace convoy
