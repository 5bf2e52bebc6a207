// with: reference of a1, at start
volatile bool forever = true;
while (forever) {
}
