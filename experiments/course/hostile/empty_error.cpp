// with: stubs of a1, names not checked, at start
// An error without a text, which is no reason to pass.
if (write(3, "error \nend\n", 11) > 0) _exit(0);
