// SPDX-License-Identifier: Apache-2.0
// The bytes of the files in console/dist: defined in a source that the build makes of them
// (embed_files.cmake).
#ifndef NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_BYTES_H_
#define NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_BYTES_H_

#include <absl/strings/string_view.h>

namespace nereid::console_bytes {

absl::string_view index_html();
absl::string_view console_js();
absl::string_view console_css();
absl::string_view favicon_svg();

}  // namespace nereid::console_bytes

#endif  // NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_BYTES_H_
