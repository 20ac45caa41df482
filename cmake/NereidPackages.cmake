# SPDX-License-Identifier: Apache-2.0
# Debian packages: `make package KIND=deb` runs CPack, which makes one of each component of NereidLayout.cmake.
set(NEREID_MAINTAINER "Nereid maintainers <maintainers@nereid.invalid>" CACHE STRING
  "Whom Debian packages name as their maintainer")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nereid)
set(CPACK_PACKAGE_CONTACT ${NEREID_MAINTAINER})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
# The rules of installation see /usr as the prefix, and not a folder of CPack.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ${NEREID_COMPONENTS})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/debian/complete.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Not one for each core of this machine: liblzma writes other bytes with one thread than with several.
set(CPACK_THREADS 4)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Where dpkg-shlibdeps finds what these packages bring themselves.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
if(TARGET nereid_openvino)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_SOURCE_DIR}/build/deps/openvino/openvino/libs)
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

# nereid_package(COMPONENT NAME SECTION DEPENDS SUMMARY DESCRIPTION): DEPENDS besides what dpkg-shlibdeps finds
macro(nereid_package component name section depends summary description)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}\n${description}")
  set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA "")
endmacro()

nereid_package(server nereid net "libtritonserver (= ${version}), adduser"
  "inference server for machine-learning models"
"Serves models from folders over HTTP and gRPC, by the protocol KServe v2. It
takes the place of NVIDIA's Triton Inference Server where that runs on CPUs:
clients, model repositories, command line and backends of that server work.

The package brings a service that starts with an empty folder of models.")
set(CPACK_DEBIAN_SERVER_PACKAGE_RECOMMENDS "nereid-backend-onnxruntime, libcurl4")
set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS "nereid-backend-python")
foreach(file conffiles postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/nereid/${file})
endforeach()

nereid_package(library libtritonserver libs ""
  "inference server as a library, with response caches and agents"
"The core of the inference server Nereid, with the C interface of NVIDIA's
Triton Inference Server: for the server itself, for programs that embed it,
and for backends.

With it come the response caches `local` and `redis` and the repository agent
`checksum`.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/libtritonserver/triggers)

nereid_package(development nereid-dev libdevel "libtritonserver (= ${version})"
  "inference server: headers for programs and backends"
"What it takes to embed the inference server Nereid in a program of one's own,
or to write a backend: the C headers, helpers for backends in C++, a CMake
package and a file for pkg-config.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)

# nereid_backend_package(NAME DEPENDS WHAT)
macro(nereid_backend_package backend depends what)
  set(depends_of_backend "libtritonserver (>= ${PROJECT_VERSION})")
  if(NOT "${depends}" STREQUAL "")
    string(APPEND depends_of_backend ", ${depends}")
  endif()
  nereid_package(backend-${backend} nereid-backend-${backend} net "${depends_of_backend}"
    "inference server: backend for ${what}"
"Lets the inference server Nereid, and programs that embed it, serve
${what}.")
  string(TOUPPER backend-${backend} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_ENHANCES nereid)
endmacro()

nereid_backend_package(fil "" "trees of XGBoost and LightGBM")
nereid_backend_package(generative "nereid-backend-openvino (= ${version})" "language models in OpenVINO's format")
nereid_backend_package(identity "" "models that repeat their inputs")
nereid_backend_package(onnxruntime "" "ONNX models")
nereid_backend_package(openvino "" "OpenVINO, TensorFlow and TFLite models")
nereid_backend_package(python "python3 (>= 3.9), python3-numpy" "models in Python")
nereid_backend_package(pytorch "" "TorchScript models and AOTInductor packages")
nereid_backend_package(tensorflow "" "TensorFlow models")

# Unpacks the environments of models (EXECUTION_ENV_PATH), and is loaded only then.
set(CPACK_DEBIAN_BACKEND-PYTHON_PACKAGE_RECOMMENDS libarchive13)

# What complete.cmake needs to know.
set(CPACK_NEREID_SOURCE ${CMAKE_SOURCE_DIR})
set(CPACK_NEREID_VERSION ${version})
foreach(component IN LISTS NEREID_COMPONENTS)
  string(TOUPPER ${component} key)
  if(NOT CPACK_DEBIAN_${key}_PACKAGE_NAME)
    message(FATAL_ERROR "the component ${component} has no Debian package: name one in cmake/NereidPackages.cmake")
  endif()
  list(APPEND CPACK_NEREID_PACKAGES ${component}=${CPACK_DEBIAN_${key}_PACKAGE_NAME})
endforeach()
include(CPack)
