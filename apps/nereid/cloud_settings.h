// SPDX-License-Identifier: Apache-2.0
// The settings of the ports for cloud platforms, from the command line and from the environment
// that a platform gives to its containers. Plain values.
#ifndef NEREID_APPS_NEREID_CLOUD_SETTINGS_H_
#define NEREID_APPS_NEREID_CLOUD_SETTINGS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "frontends/transport/bound_address.h"

namespace nereid {

struct CloudPortSettings {
  bool allow = false;
  std::string address = "0.0.0.0";
  uint16_t port = 8080;
  int thread_count = 0;                            // see kMostHttpThreads
  std::shared_ptr<transport::BoundAddress> bound;  // null: not bound yet
};

struct VertexAiSettings {
  CloudPortSettings listen;
  std::string default_model;  // empty: the only one
  std::string predict_route;  // AIP_PREDICT_ROUTE
  std::string health_route;   // AIP_HEALTH_ROUTE
  std::string storage_uri;    // AIP_STORAGE_URI: the repository if the command line names none
};

struct SagemakerSettings {
  CloudPortSettings listen;
  // Ports of the other services must be among these.
  struct PortRange {
    uint16_t low;
    uint16_t high;
  };
  std::optional<PortRange> safe_ports;
  std::string default_model;        // SAGEMAKER_TRITON_DEFAULT_MODEL_NAME; empty: the only one
  std::string inference = "infer";  // SAGEMAKER_TRITON_INFERENCE_TYPE
  bool ping_live = false;           // SAGEMAKER_TRITON_PING_MODE
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_CLOUD_SETTINGS_H_
