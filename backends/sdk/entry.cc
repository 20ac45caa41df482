// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/entry.h"

namespace nereid_backend {

Error RequireApi(uint32_t minor) {
  uint32_t server_major = 0;
  uint32_t server_minor = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ApiVersion(&server_major, &server_minor));
  if (server_major == TRITONBACKEND_API_VERSION_MAJOR && server_minor >= minor) return Error();
  return Error::Unsupported(
      StrCat("this backend needs backend API ", TRITONBACKEND_API_VERSION_MAJOR, ".", minor,
             " or a later minor version, the server has ", server_major, ".", server_minor));
}

}  // namespace nereid_backend
