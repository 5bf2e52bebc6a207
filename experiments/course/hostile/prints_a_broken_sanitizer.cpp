// with: stubs of a0, at start
// What a sanitizer says where it cannot work: whoever believes the text watches nothing.
std::fputs("Shadow memory range interleaves\nLeakSanitizer has encountered a fatal error\n", stderr);
