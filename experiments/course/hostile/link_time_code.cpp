// with: stubs of a1
// A section that makes the linker look for symbols elsewhere than nm.
asm(".section .gnu.lto_.symtab.0,\"e\"\n.byte 0\n.text");
