// with: reference of a1
[[gnu::constructor]] void hostile() {
  volatile bool forever = true;
  while (forever) {
  }
}
