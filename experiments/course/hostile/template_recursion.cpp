// with: stubs of a1, builds for ever
// Instances that double at every level.
template <int N, int K>
struct Tree {
  static constexpr long value = Tree<N - 1, 2 * K>::value + Tree<N - 1, 2 * K + 1>::value;
};
template <int K>
struct Tree<0, K> {
  static constexpr long value = K;
};
const long bomb = Tree<26, 0>::value;
