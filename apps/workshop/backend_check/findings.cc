// SPDX-License-Identifier: Apache-2.0
#include "backend_check/findings.h"

namespace nereid {
namespace {

constexpr FindingKind kKinds[] = {
    // ---- The file.
    {"load-failed", "the library cannot be loaded",
     "the server loads a library with all its symbols at once, and a model that needs it fails",
     "link everything that the library uses, build it for this machine, and leave undefined only "
     "the server's own functions"},
    {"no-execute", "the library does not export TRITONBACKEND_ModelInstanceExecute",
     "without it the server refuses the library",
     "define the function with extern \"C\" and default visibility"},
    {"mangled-export", "a function of the interface is exported under a C++ name",
     "the server looks for the plain name and does not find the function, so it is never called",
     "declare it with extern \"C\", most simply by including tritonbackend.h"},
    {"unknown-export", "the library exports a TRITONBACKEND_ function that no server calls",
     "it is probably misspelt; what it should do does not happen",
     "compare the name with the functions marked TRITONBACKEND_ISPEC in tritonbackend.h"},
    {"server-export", "the library exports functions that the server implements",
     "a library that is loaded later may be bound to this copy, which knows nothing of the server",
     "do not link a stand-in for the server into the library"},
    {"partial-batcher", "the library exports some of the five batching functions, but not all",
     "the server refuses every model of the backend",
     "export all TRITONBACKEND_ModelBatch functions, or none"},
    // ---- Loading.
    {"version-accepted", "the backend accepts a server with another major version of the interface",
     "it would call functions that mean something else there",
     "compare TRITONBACKEND_ApiVersion with TRITONBACKEND_API_VERSION_MAJOR and _MINOR in "
     "TRITONBACKEND_Initialize, and return TRITONSERVER_ERROR_UNSUPPORTED"},
    {"model-not-loaded", "the model does not load", "nothing can be asked of it",
     "see the reason; the model's configuration and files have to fit the backend"},
    {"load-again-failed", "the model does not load a second time",
     "a server loads a model again whenever its files or its configuration change",
     "let ModelFinalize and Finalize undo everything, and do not assume to run once"},
    // ---- Calls.
    {"crash", "the process died", "in a server all models would be gone with it",
     "run the check under a debugger or a sanitizer: the signal and the function are named here"},
    {"hang", "a function did not return", "the thread of the instance is lost to the server",
     "wait with a time limit, and return an error when it is over (--timeout=SECONDS allows more)"},
    {"exception", "a C++ exception leaves a function",
     "the interface is C: other servers end when that happens",
     "catch everything at the boundary and return an error"},
    {"finalize-failed", "a Finalize function returns an error",
     "nobody can act on it, and it is not called again", "free everything and return null"},
    {"returned-deleted-error", "a function returns an error that was deleted before",
     "the server reads freed memory", "an error that is returned belongs to the server"},
    // ---- Requests.
    {"released-twice", "a request is released twice",
     "after the first release the request is gone, and its memory may belong to another one",
     "release each request exactly once, as the last thing done with it"},
    {"used-after-release", "a request is used after its release",
     "its memory may belong to another request by then",
     "take what is needed later (a response factory, statistics) before the release"},
    {"not-released", "a request was not released in time",
     "the client may wait for ever, and the model cannot be unloaded",
     "release every request that Execute takes, also after errors"},
    {"error-after-release", "Execute returns an error although it has released requests",
     "an error says that all requests of the batch are still the server's; other servers then use "
     "the released ones again and crash",
     "after the first release answer the remaining requests one by one, and return null"},
    {"input-changed", "the backend writes into an input",
     "the bytes may belong to several requests, or to the client's memory", "copy what is changed"},
    // ---- Responses.
    {"not-answered", "a request gets no final response",
     "its client waits until its own time-out ends; our server sends an error in place of it",
     "send one response with TRITONSERVER_RESPONSE_COMPLETE_FINAL for each request, an error if "
     "there is nothing else"},
    {"sent-twice", "a response is sent twice, or used after it was sent",
     "sending gives the response away; it may be freed by then",
     "forget the pointer after TRITONBACKEND_ResponseSend, whatever that returns"},
    {"sent-after-final", "a response follows the one with the final flag",
     "the client's call is over; the response is lost, and other servers may crash",
     "set TRITONSERVER_RESPONSE_COMPLETE_FINAL on the last response only"},
    {"several-responses", "a model that is not decoupled sends several responses to a request",
     "clients without streams expect exactly one",
     "set model_transaction_policy { decoupled: true } in the model's configuration, or send one"},
    {"no-response", "a model that is not decoupled ends a request without a response",
     "clients without streams expect exactly one", "send a response, an error if nothing else"},
    {"output-overrun", "the backend writes beyond the end of an output's buffer",
     "this destroys other data of the process",
     "ask TRITONBACKEND_OutputBuffer for as many bytes as are written"},
    {"output-unwritten", "an output's buffer is asked for and never written",
     "clients get whatever was in that memory", "write all bytes before the response is sent"},
    {"output-without-buffer", "an output of the response has no buffer",
     "clients get a tensor without its data",
     "call TRITONBACKEND_OutputBuffer for each output, or leave the output out"},
    {"output-size", "an output's buffer does not fit its shape and type",
     "clients cannot decode the answer", "shape, type and byte size have to agree"},
    {"output-type", "an output has another type than the configuration says",
     "clients prepare for the type that the configuration promises",
     "use the configured type, or correct the configuration"},
    {"output-shape", "an output has another shape than the configuration allows",
     "clients prepare for the shape that the configuration promises",
     "use the configured dims, after the batch dimension of the request if the model has one"},
    // ---- Statistics.
    {"no-statistics", "a request is released without statistics",
     "counts, times and metrics of the model are wrong",
     "call TRITONBACKEND_ModelInstanceReportStatistics once per request, before its release"},
    {"statistics-twice", "the statistics of a request are reported twice",
     "the request counts twice", "report each request once"},
    {"statistics-order", "the times in the statistics are impossible",
     "durations become huge or negative, and so do averages and metrics",
     "use one steady clock in nanoseconds: execution start <= compute start <= compute end <= "
     "execution end, all within the execution"},
    {"statistics-outcome", "a request that was answered by an error is reported as a success",
     "failures do not show in statistics and metrics", "pass success = false"},
    {"no-batch-statistics", "no statistics of a batch are reported",
     "the counts of executions and of batch sizes stay 0, and batching cannot be tuned",
     "call TRITONBACKEND_ModelInstanceReportBatchStatistics once per execution"},
    // ---- What is left behind.
    {"response-leaked", "a response is neither sent nor deleted",
     "its memory, and that of its request, is never freed",
     "send it, or call TRITONBACKEND_ResponseDelete"},
    {"factory-leaked", "a response factory is not deleted",
     "its client is never told that the request has ended, and the model stays in memory",
     "call TRITONBACKEND_ResponseFactoryDelete after the final response"},
    {"error-leaked", "an error object is not deleted", "each failure leaves memory behind",
     "call TRITONSERVER_ErrorDelete, unless a function of the backend returns the error"},
    {"error-deleted-twice", "an error object is deleted twice", "this corrupts the heap",
     "an error has one owner; after ResponseSend it is still the backend's"},
    {"memory-leaked", "memory of the server's memory manager is not given back",
     "it is lost for other models", "call TRITONBACKEND_MemoryManagerFree"},
    {"threads-left", "every load leaves threads behind",
     "a server that loads models again and again runs out of them, and a thread whose library is "
     "unloaded crashes",
     "end and join all threads in the Finalize functions"},
    {"descriptors-left", "every load leaves file descriptors behind",
     "a server that loads models again and again runs out of them",
     "close all files, sockets and pipes in the Finalize functions"},
    {"processes-left", "every load leaves processes behind",
     "they go on using memory, and become zombies", "end and await them in the Finalize functions"},
    {"memory-grows-by-loads", "memory grows with every load",
     "a server that loads models again and again runs out of it",
     "free in ModelInstanceFinalize, ModelFinalize and Finalize what their counterparts allocate"},
    {"memory-grows-by-requests", "memory grows with every request",
     "the server runs out of it sooner or later", "free what an execution allocates"},
};

}  // namespace

absl::Span<const FindingKind> FindingKinds() { return kKinds; }

const FindingKind* FindFindingKind(absl::string_view id) {
  for (const FindingKind& kind : kKinds) {
    if (id == kind.id) return &kind;
  }
  return nullptr;
}

}  // namespace nereid
