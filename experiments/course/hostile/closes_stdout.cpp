// with: reference of a1, names not checked
[[gnu::constructor]] void hostile() {
  for (int fd = 0; fd < 8; ++fd) close(fd);
}
