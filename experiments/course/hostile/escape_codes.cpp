// with: stubs of a1
// A terminal that shows the grade would obey.
[[gnu::constructor]] void hostile() {
  std::puts("\33]0;title\7\33[2J\r\b\x9b");
  stop();
}
