// with: stubs of a1, names not checked, at start
// Many answers at once, at several places, and some by a child that comes later.
std::string text;
for (int i = 0; i < 100; ++i) text += "tensor order i64 1 3\n2 1 0 \nend\n";
const bool child = fork() == 0;
if (child) setsid(), usleep(100000);
for (int fd = 3; fd < 20; ++fd) {
  if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0) continue;
  for (int i = 0; i < 20 && write(fd, text.data(), text.size()) > 0; ++i) usleep(child ? 20000 : 0);
}
_exit(0);
