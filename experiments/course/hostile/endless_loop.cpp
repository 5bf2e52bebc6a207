// with: reference of a1
struct Loop {
  Loop() {
    volatile bool forever = true;
    while (forever) {
    }
  }
} loop;
