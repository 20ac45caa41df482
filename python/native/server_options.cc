// SPDX-License-Identifier: Apache-2.0
// Options of a server: one row for each function that sets one.
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "python/native/server.h"

namespace nereid_python::native {
namespace {

using Options = TRITONSERVER_ServerOptions*;

// The values of one setting, tuple[1:], checked one after the other.
class Values {
 public:
  Values(const char* option, PyObject* tuple) : option_(option), tuple_(tuple) {}

  const char* Text() {
    PyObject* value = Next();
    std::string_view text;
    if (value == nullptr) return "";
    if (!PyUnicode_Check(value)) return Wrong(value, "a str"), "";
    if (!Utf8(value, &text)) return ok_ = false, "";
    return text.data();
  }
  bool Bool() {
    PyObject* value = Next();
    if (value == nullptr) return false;
    if (!PyBool_Check(value)) return Wrong(value, "a bool"), false;
    return value == Py_True;
  }
  double Double() {
    PyObject* value = Next();
    if (value == nullptr) return 0;
    if (!PyFloat_Check(value) && !PyLong_Check(value)) return Wrong(value, "a float"), 0;
    const double number = PyFloat_AsDouble(value);
    if (PyErr_Occurred() != nullptr) ok_ = false;
    return number;
  }
  template <typename T>
  T Number() {
    PyObject* value = Next();
    if (value == nullptr) return 0;
    if (!PyLong_Check(value) || PyBool_Check(value)) return Wrong(value, "an int"), T{0};
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    using Limits = std::numeric_limits<T>;
    if (overflow != 0 || number < static_cast<long long>(Limits::min()) ||
        (number > 0 && static_cast<unsigned long long>(number) > Limits::max())) {
      RaiseInvalid(std::string("option '") + option_ + "' is out of range");
      ok_ = false;
    }
    return static_cast<T>(number);
  }
  bool ok() const { return ok_; }

 private:
  PyObject* Next() {
    if (!ok_) return nullptr;
    if (next_ < PyTuple_Size(tuple_)) return PyTuple_GetItem(tuple_, next_++);
    PyErr_Format(PyExc_TypeError, "option '%s' needs more values", option_);
    ok_ = false;
    return nullptr;
  }
  void Wrong(PyObject* value, const char* right) {
    PyErr_Format(PyExc_TypeError, "option '%s' must be %s, not %s", option_, right,
                 TypeName(value).c_str());
    ok_ = false;
  }

  const char* const option_;
  PyObject* const tuple_;
  Py_ssize_t next_ = 1;
  bool ok_ = true;
};

using Setter = CError (*)(Options, Values*);

// A setter is called only if the values were right; reading them first and returning null if they
// were not leaves the error to Values.
template <auto Function>
CError SetText(Options options, Values* values) {
  const char* text = values->Text();
  return values->ok() ? Function(options, text) : nullptr;
}
template <auto Function>
CError SetText2(Options options, Values* values) {
  const char* first = values->Text();
  const char* second = values->Text();
  return values->ok() ? Function(options, first, second) : nullptr;
}
template <auto Function>
CError SetText3(Options options, Values* values) {
  const char* first = values->Text();
  const char* second = values->Text();
  const char* third = values->Text();
  return values->ok() ? Function(options, first, second, third) : nullptr;
}
template <auto Function>
CError SetBool(Options options, Values* values) {
  const bool flag = values->Bool();
  return values->ok() ? Function(options, flag) : nullptr;
}
template <auto Function, typename T>
CError SetNumber(Options options, Values* values) {
  const T number = values->Number<T>();
  return values->ok() ? Function(options, number) : nullptr;
}
template <auto Function, typename Enum>
CError SetEnum(Options options, Values* values) {
  const int number = values->Number<int>();
  return values->ok() ? Function(options, static_cast<Enum>(number)) : nullptr;
}

CError SetCapability(Options options, Values* values) {
  const double number = values->Double();
  return values->ok() ? TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(options, number)
                      : nullptr;
}

CError AddResource(Options options, Values* values) {
  const char* name = values->Text();
  const auto count = values->Number<uint32_t>();
  const int device = values->Number<int>();
  return values->ok()
             ? TRITONSERVER_ServerOptionsAddRateLimiterResource(options, name, count, device)
             : nullptr;
}

CError SetPool(Options options, Values* values) {
  const int device = values->Number<int>();
  const auto size = values->Number<uint64_t>();
  return values->ok() ? TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(options, device, size)
                      : nullptr;
}

CError SetLimit(Options options, Values* values) {
  const int kind = values->Number<int>();
  const int device = values->Number<int>();
  const double fraction = values->Double();
  return values->ok()
             ? TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
                   options, static_cast<TRITONSERVER_InstanceGroupKind>(kind), device, fraction)
             : nullptr;
}

struct Row {
  std::string_view name;
  Setter set;
};

constexpr Row kRows[] = {
    {"backend_config", SetText3<TRITONSERVER_ServerOptionsSetBackendConfig>},
    {"backend_directory", SetText<TRITONSERVER_ServerOptionsSetBackendDirectory>},
    {"buffer_manager_thread_count",
     SetNumber<TRITONSERVER_ServerOptionsSetBufferManagerThreadCount, unsigned int>},
    {"cache_config", SetText2<TRITONSERVER_ServerOptionsSetCacheConfig>},
    {"cache_directory", SetText<TRITONSERVER_ServerOptionsSetCacheDirectory>},
    {"cpu_metrics", SetBool<TRITONSERVER_ServerOptionsSetCpuMetrics>},
    {"cuda_memory_pool_size", SetPool},
    {"enable_peer_access", SetBool<TRITONSERVER_ServerOptionsSetEnablePeerAccess>},
    {"exit_on_error", SetBool<TRITONSERVER_ServerOptionsSetExitOnError>},
    {"exit_timeout", SetNumber<TRITONSERVER_ServerOptionsSetExitTimeout, unsigned int>},
    {"gpu_metrics", SetBool<TRITONSERVER_ServerOptionsSetGpuMetrics>},
    {"host_policy", SetText3<TRITONSERVER_ServerOptionsSetHostPolicy>},
    {"log_error", SetBool<TRITONSERVER_ServerOptionsSetLogError>},
    {"log_file", SetText<TRITONSERVER_ServerOptionsSetLogFile>},
    {"log_format", SetEnum<TRITONSERVER_ServerOptionsSetLogFormat, TRITONSERVER_LogFormat>},
    {"log_info", SetBool<TRITONSERVER_ServerOptionsSetLogInfo>},
    {"log_verbose", SetNumber<TRITONSERVER_ServerOptionsSetLogVerbose, int>},
    {"log_warn", SetBool<TRITONSERVER_ServerOptionsSetLogWarn>},
    {"metrics", SetBool<TRITONSERVER_ServerOptionsSetMetrics>},
    {"metrics_config", SetText3<TRITONSERVER_ServerOptionsSetMetricsConfig>},
    {"metrics_interval", SetNumber<TRITONSERVER_ServerOptionsSetMetricsInterval, uint64_t>},
    {"min_supported_compute_capability", SetCapability},
    {"model_config_name", SetText<TRITONSERVER_ServerOptionsSetModelConfigName>},
    {"model_control_mode",
     SetEnum<TRITONSERVER_ServerOptionsSetModelControlMode, TRITONSERVER_ModelControlMode>},
    {"model_load_device_limit", SetLimit},
    {"model_load_retry_count",
     SetNumber<TRITONSERVER_ServerOptionsSetModelLoadRetryCount, unsigned int>},
    {"model_load_thread_count",
     SetNumber<TRITONSERVER_ServerOptionsSetModelLoadThreadCount, unsigned int>},
    {"model_namespacing", SetBool<TRITONSERVER_ServerOptionsSetModelNamespacing>},
    {"model_repository", SetText<TRITONSERVER_ServerOptionsSetModelRepositoryPath>},
    {"pinned_memory_pool_size",
     SetNumber<TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize, uint64_t>},
    {"rate_limiter_mode",
     SetEnum<TRITONSERVER_ServerOptionsSetRateLimiterMode, TRITONSERVER_RateLimitMode>},
    {"rate_limiter_resource", AddResource},
    {"repo_agent_directory", SetText<TRITONSERVER_ServerOptionsSetRepoAgentDirectory>},
    {"server_id", SetText<TRITONSERVER_ServerOptionsSetServerId>},
    {"startup_model", SetText<TRITONSERVER_ServerOptionsSetStartupModel>},
    {"strict_model_config", SetBool<TRITONSERVER_ServerOptionsSetStrictModelConfig>},
    {"strict_readiness", SetBool<TRITONSERVER_ServerOptionsSetStrictReadiness>},
};

// False with an exception.
bool Apply(Options options, PyObject* setting) {
  std::string_view name;
  if (!PyTuple_Check(setting) || PyTuple_Size(setting) == 0) {
    PyErr_SetString(PyExc_TypeError, "a setting must be a tuple of a name and values");
    return false;
  }
  if (!Utf8(PyTuple_GetItem(setting, 0), &name)) return false;
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    Values values(row.name.data(), setting);
    CError error = row.set(options, &values);
    if (error != nullptr) Raise(error);
    return error == nullptr && values.ok();
  }
  PyErr_Format(PyExc_TypeError, "there is no option '%s'", name.data());
  return false;
}

}  // namespace

TRITONSERVER_ServerOptions* MakeOptions(PyObject* settings) {
  const Ref all(PyObject_GetIter(settings));
  Options options = nullptr;
  if (!all) return nullptr;
  if (CError error = TRITONSERVER_ServerOptionsNew(&options); error != nullptr) {
    Raise(error);
    return nullptr;
  }
  bool ok = true;
  while (ok) {
    const Ref setting(PyIter_Next(all.get()));
    if (!setting) break;
    ok = Apply(options, setting.get());
  }
  if (ok && PyErr_Occurred() == nullptr) return options;
  TRITONSERVER_ErrorDelete(TRITONSERVER_ServerOptionsDelete(options));
  return nullptr;
}

}  // namespace nereid_python::native
