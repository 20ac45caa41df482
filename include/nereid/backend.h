/* What this library offers to backends beyond the interface of triton/core/tritonbackend.h. A
 * backend that is to work with the original, too, looks the functions up by dlsym(RTLD_DEFAULT,
 * ...), and does without those that are not there. */
#ifndef NEREID_NEREID_BACKEND_H_
#define NEREID_NEREID_BACKEND_H_

#include "triton/core/tritonbackend.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Instead of TRITONBACKEND_OutputBuffer: lets the server send the bytes of an output from where
/// they are. If `*lent` is true, the bytes at `base` belong to the response: they are read, and
/// must not be changed, until the server calls `release` with `userp`, once, from any thread, when
/// the response has been sent or is deleted. Otherwise nothing has happened, and the backend asks
/// for a buffer as usual: whoever issued the request wants the output in memory of its own, or in a
/// form that is not that of the bytes. Only for outputs in CPU memory, and of a data type with
/// elements of a fixed size. `release` must not call the server.
///
/// Errors are those of TRITONBACKEND_OutputBuffer; after an error the bytes were not taken.
TRITONBACKEND_DECLSPEC struct TRITONSERVER_Error* NEREID_OutputLend(
    struct TRITONBACKEND_Output* output, const void* base, uint64_t byte_size,
    void (*release)(void* userp), void* userp, bool* lent);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_NEREID_BACKEND_H_ */
