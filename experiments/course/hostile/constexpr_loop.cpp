// with: stubs of a1, builds for ever
constexpr long forever() {
  long n = 0;
  for (int i = 0; i < 200000; ++i)
    for (int j = 0; j < 200000; ++j) n += i ^ j;
  return n;
}
constexpr long bomb = forever();
