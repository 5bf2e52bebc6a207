// with: stubs of a1, names not checked
// A byte of what a test is given is its exit code.
[[gnu::constructor]] void hostile() {
  char request[40] = {};
  if (read(0, request, sizeof request) > 0) _exit(request[sizeof request - 1]);
}
