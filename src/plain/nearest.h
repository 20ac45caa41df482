// SPDX-License-Identifier: Apache-2.0
// "did you mean ...?" for misspelt names. Pure functions.
#ifndef NEREID_PLAIN_NEAREST_H_
#define NEREID_PLAIN_NEAREST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace nereid {

// Names longer than this have no nearest: none of ours is nearly as long, and the work is
// quadratic.
inline constexpr size_t kLongestMisspelt = 128;

// How many single-character edits (insert, delete, replace) turn `a` into `b`, ignoring the case of
// ASCII letters. Takes time in proportion to the product of their sizes.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate with the fewest single-character edits to `name`, ignoring the case of ASCII
// letters; the first one if several are equally near. Nothing if a third or more of the longer name
// would have to change, because no advice is better than bad advice.
std::string FewestEdits(std::string_view name, std::span<const std::string> candidates);

}  // namespace nereid

#endif  // NEREID_PLAIN_NEAREST_H_
