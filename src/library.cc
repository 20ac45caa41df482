// SPDX-License-Identifier: Apache-2.0
// The one source file of libtritonserver.so that belongs to no module: CMake wants at least one.
