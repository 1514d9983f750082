/// Works in UTF-16, as ICU does: texts are converted once, words when a vocabulary is written or read.
#include "data/text/words.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "convoy/base/error.h"
#include "convoy/base/special_tokens.h"
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

}  // namespace

// --- Splitting -------------------------------------------------------------------------------------------------------

struct WordSplitter::Impl {
  Impl() {
    UErrorCode status = U_ZERO_ERROR;
    fold = unorm2_getNFKCCasefoldInstance(&status);
    check_icu(status, "open its tables of letters");
    boundaries = ubrk_open(UBRK_WORD, "", nullptr, 0, &status);  // not the rules of a language
    check_icu(status, "open its rules of words");
  }
  ~Impl() { ubrk_close(boundaries); }

  void fold_text() {
    const auto size = static_cast<std::int32_t>(raw.size());
    folded.resize(raw.size() + raw.size() / 8 + 64);
    for (;;) {
      UErrorCode status = U_ZERO_ERROR;
      const std::int32_t length =
          unorm2_normalize(fold, raw.data(), size, folded.data(), static_cast<std::int32_t>(folded.size()), &status);
      const bool fits = status != U_BUFFER_OVERFLOW_ERROR;
      if (fits) check_icu(status, "bring a text to lower case");
      folded.resize(static_cast<std::size_t>(length));
      if (fits) return;
    }
  }

  const UNormalizer2* fold = nullptr;  ///< ICU's own object
  UBreakIterator* boundaries = nullptr;
  std::u16string raw, folded;
};

WordSplitter::WordSplitter() : impl_(std::make_unique<Impl>()) {}
WordSplitter::~WordSplitter() = default;

void WordSplitter::split(std::string_view text, const std::function<void(std::u16string_view)>& take) {
  to_utf16(text, impl_->raw);
  impl_->fold_text();
  const std::u16string_view folded = impl_->folded;
  UErrorCode status = U_ZERO_ERROR;
  ubrk_setText(impl_->boundaries, folded.data(), static_cast<std::int32_t>(folded.size()), &status);
  check_icu(status, "find the words of a text");
  std::int32_t begin = ubrk_first(impl_->boundaries);
  for (std::int32_t end; (end = ubrk_next(impl_->boundaries)) != UBRK_DONE; begin = end)
    if (ubrk_getRuleStatus(impl_->boundaries) >= UBRK_WORD_NONE_LIMIT)
      take(folded.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
}

// --- Counting --------------------------------------------------------------------------------------------------------

void WordCounts::add(std::string_view text) {
  splitter_.split(text, [this](std::u16string_view word) {
    if (word.size() > kMaxWordUnits) return;
    const auto found = counts_.find(word);
    if (found != counts_.end())
      ++found->second;
    else
      counts_.emplace(word, 1);
  });
}

// Writes lines like "the 322198": no word holds a space.
std::string WordCounts::pack() const {
  std::string packed;
  for (const auto& [word, count] : counts_) packed += fmt::format("{} {}\n", to_utf8(word), count);
  return packed;
}

void WordCounts::merge(std::string_view packed) {
  std::u16string word;
  while (!packed.empty()) {
    const std::string_view line = packed.substr(0, packed.find('\n'));
    const std::size_t space = line.find(' ');
    std::int64_t count = 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), count);
    to_utf16(line.substr(0, space), word);
    counts_[word] += count;
    packed.remove_prefix(line.size() + 1);
  }
}

io::Tokenization WordCounts::vocabulary_of(std::int64_t vocabulary) const {
  std::vector<std::pair<std::int64_t, std::string>> words;  // more frequent words come first
  words.reserve(counts_.size());
  for (const auto& [word, count] : counts_) words.emplace_back(-count, to_utf8(word));
  const std::int64_t kept = std::min(std::ssize(words), vocabulary - special_tokens::kCount);
  std::partial_sort(words.begin(), words.begin() + kept, words.end());
  io::Tokenization tokenization{.kind = std::string(name_of(TokenizerKind::kWords)),
                                .vocabulary = special_tokens::kCount + kept};
  for (std::int64_t i = 0; i < kept; ++i) tokenization.model += words[static_cast<std::size_t>(i)].second + '\n';
  return tokenization;
}

// --- Encoding --------------------------------------------------------------------------------------------------------

WordTokenizer::WordTokenizer(const io::Tokenization& tokenization) {
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

void WordTokenizer::encode(std::string_view text, std::vector<std::int32_t>& tokens) {
  tokens.clear();
  splitter_.split(text, [&](std::u16string_view word) {
    const auto found = tokens_.find(word);
    tokens.push_back(found == tokens_.end() ? special_tokens::kUnknown : found->second);
  });
}

}  // namespace convoy
