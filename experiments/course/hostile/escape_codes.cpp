// with: stubs of a1, at start
// A terminal that shows the grade would obey.
std::puts("\33]0;title\7\33[2J\r\b\x9b");
stop();
