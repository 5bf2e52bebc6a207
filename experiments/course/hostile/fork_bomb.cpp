// with: reference of a1, names not checked, at start
for (;;) fork();
