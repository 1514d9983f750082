/// Works in UTF-16, as ICU does: texts are converted once, words when a vocabulary is written or read.
#include "data/text/words.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "convoy/base/error.h"
#include "convoy/base/special_tokens.h"
#include "convoy/base/text.h"
#include "convoy/params/choices.h"

namespace convoy {

namespace {

// Longer words are ignored, as they would not occur again: addresses, rows of letters.
constexpr std::size_t kMaxWordUnits = 64;

void check_icu(UErrorCode status, const char* what) {
  if (U_FAILURE(status)) fail("ICU cannot {}: {}", what, u_errorName(status));
}

// One UTF-8 byte becomes at most one unit of UTF-16.
void to_utf16(std::string_view text, std::u16string& units) {
  units.resize(text.size());
  UErrorCode status = U_ZERO_ERROR;
  std::int32_t length = 0;
  u_strFromUTF8(units.data(), static_cast<std::int32_t>(units.size()), &length, text.data(),
                static_cast<std::int32_t>(text.size()), &status);
  check_icu(status, "read a text as UTF-8");
  units.resize(static_cast<std::size_t>(length));
}

std::string to_utf8(std::u16string_view units) {
  std::string text(3 * units.size(), '\0');
  UErrorCode status = U_ZERO_ERROR;
  std::int32_t length = 0;
  u_strToUTF8(text.data(), static_cast<std::int32_t>(text.size()), &length, units.data(),
              static_cast<std::int32_t>(units.size()), &status);
  check_icu(status, "write a word as UTF-8");
  text.resize(static_cast<std::size_t>(length));
  return text;
}

// --- Splitting -------------------------------------------------------------------------------------------------------

/// Divides texts at the word boundaries of Unicode (UAX #29), after converting them to NFKC_Casefold: lower case, with
/// one form for characters that can be written in several ways. A word has at least one letter, digit or character of a
/// script without spaces (such texts are divided by ICU's dictionaries). Spaces, punctuation and symbols are ignored.
class WordSplitter {
 public:
  WordSplitter() {
    UErrorCode status = U_ZERO_ERROR;
    fold_ = unorm2_getNFKCCasefoldInstance(&status);
    check_icu(status, "open its tables of letters");
    boundaries_ = ubrk_open(UBRK_WORD, "", nullptr, 0, &status);  // not the rules of a language
    check_icu(status, "open its rules of words");
  }
  ~WordSplitter() { ubrk_close(boundaries_); }
  WordSplitter(const WordSplitter&) = delete;
  WordSplitter& operator=(const WordSplitter&) = delete;

  /// Calls take(word) for each word of the text, in order, in UTF-16. check_text() has accepted the text.
  template <typename Take>
  void split(std::string_view text, const Take& take) {
    to_utf16(text, raw_);
    fold_text();
    const std::u16string_view folded = folded_;
    UErrorCode status = U_ZERO_ERROR;
    ubrk_setText(boundaries_, folded.data(), static_cast<std::int32_t>(folded.size()), &status);
    check_icu(status, "find the words of a text");
    std::int32_t begin = ubrk_first(boundaries_);
    for (std::int32_t end; (end = ubrk_next(boundaries_)) != UBRK_DONE; begin = end)
      if (ubrk_getRuleStatus(boundaries_) >= UBRK_WORD_NONE_LIMIT)
        take(folded.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }

 private:
  void fold_text() {
    const auto size = static_cast<std::int32_t>(raw_.size());
    folded_.resize(raw_.size() + raw_.size() / 8 + 64);
    for (;;) {
      UErrorCode status = U_ZERO_ERROR;
      const std::int32_t length = unorm2_normalize(fold_, raw_.data(), size, folded_.data(),
                                                   static_cast<std::int32_t>(folded_.size()), &status);
      const bool fits = status != U_BUFFER_OVERFLOW_ERROR;
      if (fits) check_icu(status, "bring a text to lower case");
      folded_.resize(static_cast<std::size_t>(length));
      if (fits) return;
    }
  }

  const UNormalizer2* fold_ = nullptr;  ///< ICU's own object
  UBreakIterator* boundaries_ = nullptr;
  std::u16string raw_, folded_;
};

/// A hash function for WordMap, with which words are looked up by a string_view, without copying them.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::u16string_view word) const { return std::hash<std::u16string_view>()(word); }
};
template <typename Value>
using WordMap = std::unordered_map<std::u16string, Value, WordHash, std::equal_to<>>;

// --- Encoding --------------------------------------------------------------------------------------------------------

class WordTokenizer final : public Tokenizer {
 public:
  explicit WordTokenizer(const io::Tokenization& tokenization) {
    std::u16string word;
    std::int32_t token = special_tokens::kCount;
    for (std::string_view rest = tokenization.model; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      to_utf16(line, word);
      tokens_.emplace(word, token++);
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
    if (token != tokenization.vocabulary || std::ssize(tokens_) != token - special_tokens::kCount)
      fail("a vocabulary of {} tokens lists {} words", tokenization.vocabulary, tokens_.size());
  }

  void encode(std::string_view text, std::vector<std::int32_t>& tokens) override {
    tokens.clear();
    splitter_.split(text, [&](std::u16string_view word) {
      const auto found = tokens_.find(word);
      tokens.push_back(found == tokens_.end() ? special_tokens::kUnknown : found->second);
    });
  }

 private:
  WordSplitter splitter_;
  WordMap<std::int32_t> tokens_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_word_tokenizer(const io::Tokenization& tokenization) {
  return std::make_unique<WordTokenizer>(tokenization);
}

// --- Counting --------------------------------------------------------------------------------------------------------

struct WordCounts::Impl {
  WordSplitter splitter;
  WordMap<std::int64_t> counts;
};

WordCounts::WordCounts() : impl_(std::make_unique<Impl>()) {}

WordCounts::~WordCounts() = default;

bool WordCounts::empty() const {
  return impl_->counts.empty();
}

void WordCounts::add(std::string_view text) {
  impl_->splitter.split(text, [this](std::u16string_view word) {
    if (word.size() > kMaxWordUnits) return;
    const auto found = impl_->counts.find(word);
    if (found != impl_->counts.end())
      ++found->second;
    else
      impl_->counts.emplace(word, 1);
  });
}

// Writes lines like "the 322198": no word holds a space.
std::string WordCounts::pack() const {
  std::string packed;
  for (const auto& [word, count] : impl_->counts) packed += fmt::format("{} {}\n", to_utf8(word), count);
  return packed;
}

void WordCounts::merge(std::string_view packed) {
  std::u16string word;
  while (!packed.empty()) {
    const std::string_view line = packed.substr(0, packed.find('\n'));
    const std::size_t space = line.find(' ');
    to_utf16(line.substr(0, space), word);
    impl_->counts[word] += parse_number<std::int64_t>(line.substr(space + 1)).value_or(0);
    packed.remove_prefix(line.size() + 1);
  }
}

io::Tokenization WordCounts::vocabulary_of(std::int64_t vocabulary) const {
  std::vector<std::pair<std::int64_t, std::string>> words;  // more frequent words come first
  words.reserve(impl_->counts.size());
  for (const auto& [word, count] : impl_->counts) words.emplace_back(-count, to_utf8(word));
  const std::int64_t kept = std::min(std::ssize(words), vocabulary - special_tokens::kCount);
  std::partial_sort(words.begin(), words.begin() + kept, words.end());
  io::Tokenization tokenization{.kind = std::string(name_of(TokenizerKind::kWords)),
                                .vocabulary = special_tokens::kCount + kept};
  for (std::int64_t i = 0; i < kept; ++i) tokenization.model += words[static_cast<std::size_t>(i)].second + '\n';
  return tokenization;
}

}  // namespace convoy
