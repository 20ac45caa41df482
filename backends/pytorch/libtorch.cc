// libtorch.so: a name that other libraries ask for. What they use lies in libtorch_cpu.so.
