#include <isobar/lm.h>

int main() { isobar::check_sampling({}); }
