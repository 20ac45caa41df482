// SPDX-License-Identifier: Apache-2.0
// The interface of the guest, a library that uses libtritonserver.so, for the program that loads
// it.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_UNLOAD_GUEST_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_UNLOAD_GUEST_H_

extern "C" {

// Starts a server on `repository`, infers with each model of `models` (a list that ends with null;
// each repeats FP32 vectors), loads and unloads the first one, and deletes the server. Returns
// null, or an error text in static memory.
__attribute__((visibility("default"))) const char* GuestServe(const char* repository,
                                                              const char* backends,
                                                              const char* const* models);

}  // extern "C"

#endif  // NEREID_TESTS_CONFORMANCE_CAPI_UNLOAD_GUEST_H_
