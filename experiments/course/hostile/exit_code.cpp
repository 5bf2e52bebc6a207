// with: stubs of a1, names not checked, at start
// A byte of what a test is given is its exit code.
char request[40] = {};
if (read(0, request, sizeof request) > 0) _exit(request[sizeof request - 1]);
