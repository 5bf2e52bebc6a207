// with: reference of a4
extern "C" void another();
asm(".symver another, _ZN6isobar10layer_normERKNS_6TensorERKNS_5ShapeES2_S2_d@ISOBAR");
void (*const answer)() = &another;
