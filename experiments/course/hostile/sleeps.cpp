// with: reference of a1, names not checked
[[gnu::constructor]] void hostile() { sleep(100000); }
