// with: reference of a1, names not checked, at start
for (int fd = 0; fd < 8; ++fd) close(fd);
