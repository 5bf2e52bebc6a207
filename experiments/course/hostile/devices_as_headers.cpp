// with: stubs of a1
#include "/dev/stdin"
#include "/proc/1/cmdline"
#include "/proc/self/environ"
#include "/proc/self/fd/3"
