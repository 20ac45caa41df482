// SPDX-License-Identifier: Apache-2.0
// libtorch.so: a name that other libraries link against. The code they use is in libtorch_cpu.so.
