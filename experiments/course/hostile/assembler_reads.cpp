// with: stubs of a1
// The assembler looks for hidden tests, and the program prints what it found.
asm(".data\nfound: .incbin \"{course}/a1/cases.py\"\n.byte 0\n.text");
extern const char found[] asm("found");
[[gnu::constructor]] void hostile() {
  std::puts("LEAK");
  std::puts(found);
  __builtin_trap();
}
