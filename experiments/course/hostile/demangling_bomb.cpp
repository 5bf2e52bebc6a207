// with: stubs of a1
// 345 characters that demangle to 540 kB for their first 14 parts, and to twice as much for each of the 20
// others.
#define PART(n) "S_IS" n "_S" n "_E"
#define PARTS(a, b, c, d, e) PART(a) PART(b) PART(c) PART(d) PART(e)
#define BOMB                                                                                       \
  "_Z1fSt4pairIiiE" PARTS("0", "1", "2", "3", "4") PARTS("5", "6", "7", "8", "9")                  \
      PARTS("A", "B", "C", "D", "E") PARTS("F", "G", "H", "I", "J") PARTS("K", "L", "M", "N", "O") \
          PARTS("P", "Q", "R", "S", "T") PART("U") PART("V") PART("W")
asm(".weak " BOMB "\n.data\n.quad " BOMB "\n.text");
