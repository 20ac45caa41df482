// The settings of the ports for cloud platforms, from the command line and from the environment
// that a platform gives to its containers. Plain values.
#ifndef NEREID_APPS_NEREID_CLOUD_SETTINGS_H_
#define NEREID_APPS_NEREID_CLOUD_SETTINGS_H_

#include <cstdint>
#include <string>

namespace nereid {

struct CloudPortSettings {
  bool allow = false;
  std::string address = "0.0.0.0";
  uint16_t port = 8080;
  int thread_count = 0;  // see kMostHttpThreads
};

struct VertexAiSettings {
  CloudPortSettings listen;
  std::string default_model;  // empty: the only one
  std::string predict_route;  // AIP_PREDICT_ROUTE
  std::string health_route;   // AIP_HEALTH_ROUTE
  std::string storage_uri;    // AIP_STORAGE_URI: the repository if the command line names none
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_CLOUD_SETTINGS_H_
