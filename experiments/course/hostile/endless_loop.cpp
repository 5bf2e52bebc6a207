// with: reference
struct Loop {
  Loop() {
    volatile bool forever = true;
    while (forever) {
    }
  }
} loop;
