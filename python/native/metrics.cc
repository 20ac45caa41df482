// SPDX-License-Identifier: Apache-2.0
#include "python/native/metrics.h"

#include <memory>
#include <string>
#include <vector>

#include "python/native/error.h"
#include "python/native/object.h"
#include "python/native/server.h"
#include "triton/core/tritonserver.h"

namespace nereid_python::native {
namespace {

struct DeleteFamily {
  void operator()(TRITONSERVER_MetricFamily* family) const {
    TRITONSERVER_ErrorDelete(TRITONSERVER_MetricFamilyDelete(family));
  }
};
// Shared by the object and by the family's metrics, which must be gone before.
using Family = std::shared_ptr<TRITONSERVER_MetricFamily>;

class Metric {
 public:
  Metric(Family family, TRITONSERVER_Metric* metric)
      : family_(std::move(family)), metric_(metric) {}
  Metric(Metric&& other) noexcept
      : family_(std::move(other.family_)), metric_(std::exchange(other.metric_, nullptr)) {}
  ~Metric() {
    if (metric_ != nullptr) TRITONSERVER_ErrorDelete(TRITONSERVER_MetricDelete(metric_));
  }
  TRITONSERVER_Metric* get() const { return metric_; }

 private:
  Family family_;
  TRITONSERVER_Metric* metric_;
};

using FamilyObject = Object<Family>;
using MetricObject = Object<Metric>;
PyTypeObject* family_type = nullptr;

// MetricFamily(kind, name, description)
PyObject* NewFamily(PyTypeObject* type, PyObject* args, PyObject*) {
  int kind = 0;
  const char* name = nullptr;
  const char* description = nullptr;
  if (!PyArg_ParseTuple(args, "iss:MetricFamily", &kind, &name, &description)) return nullptr;
  TRITONSERVER_MetricFamily* family = nullptr;
  if (!Run([&] {
        return TRITONSERVER_MetricFamilyNew(&family, static_cast<TRITONSERVER_MetricKind>(kind),
                                            name, description);
      })) {
    return nullptr;
  }
  return FamilyObject::New(type, Family(family, DeleteFamily()));
}

struct DeleteParameter {
  void operator()(TRITONSERVER_Parameter* parameter) const {
    TRITONSERVER_ParameterDelete(parameter);
  }
};

struct DeleteArguments {
  void operator()(TRITONSERVER_MetricArgs* args) const {
    TRITONSERVER_ErrorDelete(TRITONSERVER_MetricArgsDelete(args));
  }
};
using Arguments = std::unique_ptr<TRITONSERVER_MetricArgs, DeleteArguments>;

// The arguments of a histogram, from the upper bounds of its buckets. Null with an exception.
Arguments Histogram(PyObject* bounds) {
  const Ref all(PySequence_Tuple(bounds));
  if (!all) return nullptr;
  std::vector<double> buckets;
  for (Py_ssize_t i = 0; i < PyTuple_Size(all.get()); ++i) {
    buckets.push_back(PyFloat_AsDouble(PyTuple_GetItem(all.get(), i)));
    if (PyErr_Occurred() != nullptr) return nullptr;
  }
  TRITONSERVER_MetricArgs* made = nullptr;
  if (!Run([&] { return TRITONSERVER_MetricArgsNew(&made); })) return nullptr;
  Arguments args(made);
  if (!Run([&] {
        return TRITONSERVER_MetricArgsSetHistogram(made, buckets.data(), buckets.size());
      })) {
    return nullptr;
  }
  return args;
}

// Metric(family, labels, buckets): labels is a dict of texts, buckets a list of numbers or None.
PyObject* NewMetric(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject* family_object = nullptr;
  PyObject* labels = nullptr;
  PyObject* bounds = nullptr;
  if (!PyArg_ParseTuple(arguments, "O!O!O:Metric", family_type, &family_object, &PyDict_Type,
                        &labels, &bounds)) {
    return nullptr;
  }
  std::vector<std::unique_ptr<TRITONSERVER_Parameter, DeleteParameter>> owned;
  std::vector<const TRITONSERVER_Parameter*> all;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t place = 0;
  while (PyDict_Next(labels, &place, &key, &value) != 0) {
    std::string_view name;
    std::string_view text;
    if (!Utf8(key, &name) || !Utf8(value, &text)) return nullptr;
    owned.emplace_back(
        TRITONSERVER_ParameterNew(name.data(), TRITONSERVER_PARAMETER_STRING, text.data()));
    all.push_back(owned.back().get());
  }
  Arguments args = bounds == Py_None ? nullptr : Histogram(bounds);
  if (PyErr_Occurred() != nullptr) return nullptr;
  const Family family = FamilyObject::Of(family_object);
  TRITONSERVER_Metric* metric = nullptr;
  if (!Run([&] {
        return TRITONSERVER_MetricNewWithArgs(&metric, family.get(), all.data(), all.size(),
                                              args.get());
      })) {
    return nullptr;
  }
  return MetricObject::New(type, Metric(family, metric));
}

PyObject* Value(PyObject* self, void*) {
  double value = 0;
  TRITONSERVER_Metric* const metric = MetricObject::Of(self).get();
  return Run([&] { return TRITONSERVER_MetricValue(metric, &value); }) ? PyFloat_FromDouble(value)
                                                                       : nullptr;
}

template <TRITONSERVER_Error* (*Function)(TRITONSERVER_Metric*, double)>
PyObject* Change(PyObject* self, PyObject* argument) {
  const double value = PyFloat_AsDouble(argument);
  if (PyErr_Occurred() != nullptr) return nullptr;
  TRITONSERVER_Metric* const metric = MetricObject::Of(self).get();
  return Run([&] { return Function(metric, value); }) ? None() : nullptr;
}

}  // namespace

bool AddMetricTypes(PyObject* module) {
  static PyType_Slot family_slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(kSafely<NewFamily>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(FamilyObject::Dealloc)},
      {0, nullptr},
  };
  static PyType_Spec family_spec = {"nereid_server._native.MetricFamily", sizeof(FamilyObject), 0,
                                    Py_TPFLAGS_DEFAULT, family_slots};
  static PyMethodDef methods[] = {
      {"increment", kSafely<Change<TRITONSERVER_MetricIncrement>>, METH_O,
       "Adds to a counter or gauge."},
      {"set_value", kSafely<Change<TRITONSERVER_MetricSet>>, METH_O, "Sets a gauge."},
      {"observe", kSafely<Change<TRITONSERVER_MetricObserve>>, METH_O, "Adds to a histogram."},
      {},
  };
  static PyGetSetDef attributes[] = {{"value", Value, nullptr, "Of a counter or gauge.", nullptr},
                                     {}};
  static PyType_Slot metric_slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(kSafely<NewMetric>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(MetricObject::Dealloc)},
      {Py_tp_methods, methods},
      {Py_tp_getset, attributes},
      {0, nullptr},
  };
  static PyType_Spec metric_spec = {"nereid_server._native.Metric", sizeof(MetricObject), 0,
                                    Py_TPFLAGS_DEFAULT, metric_slots};
  family_type = AddType(module, "MetricFamily", &family_spec);
  return family_type != nullptr && AddType(module, "Metric", &metric_spec) != nullptr;
}

}  // namespace nereid_python::native
