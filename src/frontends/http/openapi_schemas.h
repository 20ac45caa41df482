// SPDX-License-Identifier: Apache-2.0
// The schemas of the OpenAPI document: one JSON object, a member for each schema. A constant.
#ifndef NEREID_FRONTENDS_HTTP_OPENAPI_SCHEMAS_H_
#define NEREID_FRONTENDS_HTTP_OPENAPI_SCHEMAS_H_

namespace nereid {

extern const char kOpenApiSchemas[];

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_OPENAPI_SCHEMAS_H_
