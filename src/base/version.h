// SPDX-License-Identifier: Apache-2.0
// The version of this program. NEREID_VERSION comes from the build.
#ifndef NEREID_BASE_VERSION_H_
#define NEREID_BASE_VERSION_H_

namespace nereid {

inline constexpr char kVersion[] = NEREID_VERSION;

}  // namespace nereid

#endif  // NEREID_BASE_VERSION_H_
