// SPDX-License-Identifier: Apache-2.0
// NEREID_API marks what libtritonserver.so exports to the server executable and its frontends under
// the private symbol version NEREID_PRIVATE_1. These symbols are not a public interface, and nobody
// else can be bound to them (abi/export.map): programs that embed the server use
// include/triton/core.
#ifndef NEREID_BASE_EXPORT_H_
#define NEREID_BASE_EXPORT_H_

#define NEREID_API __attribute__((visibility("default")))

#endif  // NEREID_BASE_EXPORT_H_
