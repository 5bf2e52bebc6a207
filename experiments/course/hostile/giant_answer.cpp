// with: stubs of a1, names not checked, at start
// Numbers that take a careless reader hours.
const std::string digits(4000, '9');
std::string text = "tensor order f64 2000";
for (int i = 0; i < 2000; ++i) text += " " + digits;
text += "\n1\nend\n";
for (size_t sent = 0; sent < text.size();) {
  const ssize_t count = write(3, text.data() + sent, text.size() - sent);
  if (count <= 0) break;
  sent += count;
}
_exit(0);
