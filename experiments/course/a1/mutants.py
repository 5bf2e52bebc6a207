"""Wrong forms of a1.cpp: name | a text that occurs once, in it «right→wrong»."""
MUTANTS = r"""
a leaf's slot is off by one | «- 1}→}»; } Var Tape::record
an op's slot is off by one | «- 1}→}»; } /
constants are recorded; an op with one constant is not recorded | «if (!needed) return {value, -1};→→for
    (const Var& v : inputs) if (v.slot < 0) return {value, -1}; if (!needed) return {value, -1};»
slot 0 counts as a constant | .slot >«=→» 0;
constants are left out of the inputs | { «→if (input.slot >= 0) »slot.
the closure is forgotten | = «backward→{}»
the walk visits what the loss does not need | «if (!reached[slot]) continue;→»
the walk leaves out slot 0 | «=→» 0; -
the walk goes up | return «order→{order.rbegin(), order.rend()}»
the walk reaches only the first input | input >= 0«→ && input == slots[slot].inputs[0]»
the walk forgets the start; the walk visits only what no walk has met | «order.push_back(slot)→if (slot !=
    start) order.push_back(slot)→ static std::vector<bool> met; met.resize(std::max<size_t>(met.size(), start
    + 1)); if (!met[slot]) order.push_back(slot); met[slot] = true»
slot 0 is never reached | «=→» 0) reached
the walk starts at the tape's end | «→reached.assign(slots.size(), true); »for (int64_t slot =
    «start→slots.size() - 1»
the walk remembers what it met | «→static »std::vector<bool> reached«(→;
    reached.resize(std::max<size_t>(reached.size(), »start + 1«, false→)»
only sizes are compared | «shape() == dx.shape→numel() == dx.numel»
summed in float; overwritten instead of accumulated | «a[i] + b[i]→float(a[i]) + float(b[i])→b[i]»
adjoints in a static that all tapes share | «→static »std::vector<Tensor> adjoints«(→;
    adjoints.resize(std::max<size_t>(adjoints.size(), »loss.slot + 1)«;→);»
leaf gradients are added in place | «accumulate(→if (!»slot.gradient«,→.defined()) slot.gradient =
    isobar::zeros(adjoints[at].shape(), Dtype::f64); for (int64_t i = 0; i <» adjoints[at]«);→.numel(); ++i)
    raw::write<double>(slot.gradient)[i] += adjoints[at].data<double>()[i];»
subtracted; only the first is kept | ]« + b[i]→ - b[i]→»
added in place; added into dx | «(dx.shape(), Dtype::f64)→ = adjoint→ = dx»
shapes are not compared | «adjoint.shape() == dx.shape()→true»
an undefined gradient is added | «if (!dx.defined()) return;→»
a first gradient is doubled | «dx→isobar::zeros(dx.shape(), Dtype::f64); accumulate(adjoint, dx);
    accumulate(adjoint, dx)»;
the loss's adjoint is 0 | «ones→zeros»
the loss's adjoint is its value | «isobar::ones(loss.value.shape(), Dtype::f64)→loss.value»
a loss of any shape is taken | «loss.value.numel() == 1→true»
a loss in a list is refused | «numel() == 1→ndim() == 0»
a loss of another tape is taken | 0« && loss.slot < static_cast<int64_t>(slots.size())→»
a constant loss passes silently | «check(loss.slot >= 0 && →if (loss.slot < 0) return; check(»loss
leaf gradients are overwritten | «accumulate(slot.gradient, adjoints[at])→slot.gradient = adjoints[at]»
every input gets the first gradient | «i→0»])
the last input gets nothing | «< slot.inputs.size(→+ 1 < std::max<size_t>(2, slot.inputs.size()»
adjoints are overwritten | «accumulate(adjoints[slot.inputs[i]], dx[i])→adjoints[slot.inputs[i]] = dx[i]»
ops without adjoint are called | «continue→adjoints[at] = isobar::zeros(loss.value.shape(), Dtype::f64)»; /
only the first slot is cleared | «for (Slot& slot : slots) slot→slots[0]»
nothing is cleared | «for (Slot& slot : slots) slot.gradient = Tensor();→»
clearing clears the tape | «for (Slot& slot : slots) slot.gradient = Tensor→slots.clear»
a constant's gradient is undefined, not an error | «check→if »(leaf.slot «>= 0 && →< 0) return {}; check(»leaf
"""

# Wrong to the eye only: (name, why no test can tell).
EQUIVALENT = [("accumulate copies the first gradient instead of taking it", "values are never written in place afterwards"),
              ("the adjoint is freed behind its node", "memory, not values")]
