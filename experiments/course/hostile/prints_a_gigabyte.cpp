// with: reference of a1, names not checked, at start
const std::string line(1 << 20, 'x');
for (int i = 0; i < 1024; ++i) std::fputs(line.c_str(), stdout);
