// SPDX-License-Identifier: Apache-2.0
// libtriton_fake.so: a backend for unit tests of the backend host and of model loading. The model's
// name determines its behaviour, and a journal records the calls. Models may be:
//   refused              ModelInitialize returns an error
//   throws               ModelInitialize throws
//   version_2_refused    the same as refused, for version 2 only
//   instance_refused     the second instance cannot be initialised
//   execute_error        Execute returns an error and has released nothing
//   execute_error_late   the same after it has answered and released the first request
//   execute_throws       Execute throws
//   holds...             requests are kept until nereid_fake_let_go
//   not_ready            ModelInstanceReady returns an error
//   uses_released        Execute uses each request after it has released it, and notes what it got
//   brief                says that it executes briefly; Execute notes whether it is on loan
// Any other model answers every request with an empty final response.
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "nereid/backend.h"
#include "triton/core/tritonbackend.h"

namespace {

std::mutex g_mu;
std::condition_variable g_changed;
std::string g_journal;
std::vector<TRITONBACKEND_Request*> g_held;

void Note(const std::string& what) {
  std::lock_guard<std::mutex> lock(g_mu);
  g_journal += what + "\n";
}

TRITONSERVER_Error* Fail(const char* text) {
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, text);
}

std::string Name(TRITONBACKEND_Model* model) {
  const char* name = nullptr;
  TRITONBACKEND_ModelName(model, &name);
  return name;
}

std::string ModelOf(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = nullptr;
  TRITONBACKEND_ModelInstanceModel(instance, &model);
  return Name(model);
}

std::string Name(TRITONBACKEND_ModelInstance* instance) {
  const char* name = nullptr;
  TRITONBACKEND_ModelInstanceName(instance, &name);
  return name;
}

void Answer(TRITONBACKEND_Request* request) {
  TRITONBACKEND_Response* response = nullptr;
  TRITONBACKEND_ResponseNew(&response, request);
  TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, nullptr);
  TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL);
}

// What a careless backend does with a request that it has released.
void UseReleased(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request) {
  const char* id = nullptr;
  TRITONBACKEND_RequestId(request, &id);
  Note(std::string("id ") + id);
  TRITONSERVER_Error* const reported =
      TRITONBACKEND_ModelInstanceReportStatistics(instance, request, true, 1, 2, 3, 4);
  Note(reported == nullptr ? "reported" : TRITONSERVER_ErrorMessage(reported));
  TRITONSERVER_ErrorDelete(reported);
  TRITONSERVER_Error* const released =
      TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL);
  Note(released == nullptr ? "released" : TRITONSERVER_ErrorMessage(released));
  TRITONSERVER_ErrorDelete(released);
}

}  // namespace

extern "C" {

// Copies the journal, one call per line, into `text`.
__attribute__((visibility("default"))) void nereid_fake_journal(char* text, size_t size) {
  std::lock_guard<std::mutex> lock(g_mu);
  g_journal.copy(text, size - 1);
  text[g_journal.size() < size ? g_journal.size() : size - 1] = '\0';
}

__attribute__((visibility("default"))) void nereid_fake_forget() {
  std::lock_guard<std::mutex> lock(g_mu);
  g_journal.clear();
}

// Waits until `count` requests are held.
__attribute__((visibility("default"))) void nereid_fake_await_held(size_t count) {
  std::unique_lock<std::mutex> lock(g_mu);
  g_changed.wait(lock, [&] { return g_held.size() >= count; });
}

__attribute__((visibility("default"))) void nereid_fake_let_go() {
  std::vector<TRITONBACKEND_Request*> held;
  {
    std::lock_guard<std::mutex> lock(g_mu);
    held.swap(g_held);
  }
  for (TRITONBACKEND_Request* request : held) Answer(request);
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) {
  Note("initialize");
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend*) {
  Note("finalize");
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend*, TRITONBACKEND_BackendAttribute* attributes) {
  return TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
      attributes, TRITONSERVER_INSTANCEGROUPKIND_CPU, 2, nullptr, 0);
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  const std::string name = Name(model);
  Note("model_initialize " + name);
  if (name == "refused") return Fail("the fake backend refuses this model");
  uint64_t version = 0;
  TRITONBACKEND_ModelVersion(model, &version);
  if (name == "version_2_refused" && version == 2) return Fail("the fake backend refuses 2");
  if (name == "throws") throw std::runtime_error("thrown by the fake backend");
  if (name == "brief") return NEREID_ModelExecutesBriefly(model);
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  Note("model_finalize " + Name(model));
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance) {
  const std::string name = Name(instance);
  Note("instance_initialize " + name);
  if (ModelOf(instance) == "instance_refused" && name.back() == '1') {
    return Fail("the fake backend refuses this instance");
  }
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance) {
  Note("instance_finalize " + Name(instance));
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance) {
  if (ModelOf(instance) == "not_ready") return Fail("the fake backend is not ready");
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  const std::string model = ModelOf(instance);
  if (model == "execute_error") return Fail("the fake backend failed");
  if (model == "execute_throws") throw std::runtime_error("thrown while executing");
  if (model == "execute_error_late") {
    Answer(requests[0]);
    return Fail("the fake backend failed late");
  }
  if (model.rfind("holds", 0) == 0) {
    std::lock_guard<std::mutex> lock(g_mu);
    g_held.insert(g_held.end(), requests, requests + request_count);
    g_changed.notify_all();
    return nullptr;
  }
  if (model == "brief") {
    bool on_loan = false;
    NEREID_ModelInstanceOnLoan(instance, &on_loan);
    Note(on_loan ? "execute on loan" : "execute");
  }
  for (uint32_t i = 0; i < request_count; ++i) {
    Answer(requests[i]);
    if (model == "uses_released") UseReleased(instance, requests[i]);
  }
  return nullptr;
}

}  // extern "C"
