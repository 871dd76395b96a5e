// Words for people: guessing what a misspelt one was meant to be, and breaking
// lines. Plain functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace canopy {

// Number of insertions, deletions, replacements and swaps of neighbours that
// turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that the word was probably meant to be; empty if none is near.
std::string_view nearest_word(std::string_view word, const std::vector<std::string>& candidates);

// Breaks at spaces into lines of at most `width` columns (longer words stay whole).
std::vector<std::string> wrap_words(std::string_view text, std::size_t width);

}  // namespace canopy
