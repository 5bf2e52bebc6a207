// with: stubs of a1
asm(".data\n.fill 1000000000, 8, 1\n.text");
