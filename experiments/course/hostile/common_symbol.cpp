// with: reference of a4
// A common symbol is not undefined, and yet the linker takes it from the library.
asm(".comm _ZN6isobar7softmaxERKNS_6TensorE, 8");
