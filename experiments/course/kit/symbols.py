"""What an object file asks of others, by the names that the linker sees, however they are spelled in the
source. Mangled names are read, never demangled: a short one can demangle to gigabytes."""
import os, re

# Of the library, for every assignment: what makes, reads, writes and describes tensors.
TENSORS = ["Tensor", "Shape", "Dims", "NormOrder", "KeepDim", "Error", "Storage", "raw", "tensor", "zeros", "ones",
           "full", "arange", "broadcast", "broadcast_strides", "throw_error", "name_of", "dtype_from_name",
           "operator", "memory", "object_memory", "ObjectAllocator", "parallel"]

# Of C++ and of fmt, which the library's headers use.
STANDARD = re.compile(
    r"_Zn[wa]|_Zd[la]|_Z(?:T[ISV]|GV)?N?[KRO]*(?:S[taosid]|3fmt)|_ZT[ISV](?:N10__cxxabiv1|P|[a-z]$)")
# But not what opens files: a program that makes a run writes where its results stand. Nor what reads a test before the
# driver does, nor threads of one's own: one could end the program in order while a sanitizer stops another.
REFUSED = re.compile(r"basic_[io]?f(?:stream|ilebuf)|10filesystem|basic_file|^_ZSt[34]w?cin$|St6thread")
# Of C and of the compiler's run-time: memory, text, numbers, printing, ending, locks of statics, clocks.
C = re.compile(
    r"mem(?:cpy|move|set|cmp|r?chr)|bcmp|wmem\w+|wcs\w+|str(?:n?len|n?cmp|n?cpy|n?cat|r?chr|str|spn|cspn|"
    r"pbrk|tol|toul|toll|toull|tof|tod|told)|malloc|calloc|realloc|free|aligned_alloc|posix_memalign|abs|"
    r"labs|llabs|div|ldiv|atoi|atol|atof|rand|srand|qsort|bsearch|v?(?:f|s|sn)?printf|__(?:v?(?:f|s|"
    r"sn)?printf)_chk|f?put[cs]|putchar|fwrite|fflush|stdout|stderr|abort|exit|__assert_fail|is(?:alnum|"
    r"alpha|digit|space|upper|lower|print|punct|xdigit)|to(?:upper|lower)|time|clock|clock_gettime|"
    r"(?:a?(?:sin|cos|tan)h?|atan2|exp2?|expm1|log(?:2|10|1p|b)?|pow|sqrt|cbrt|hypot|erfc?|[lt]gamma|ceil|"
    r"floor|trunc|round|rint|nearbyint|l?l?r(?:ound|int)|fmod|remainder|remquo|fmax|fmin|fdim|fma|fabs|modf|"
    r"frexp|ldexp|scalbl?n|ilogb|copysign|nextafter|nan|sincos|lgamma_r|sinpi|cospi)[fl]?|"
    r"(?:__)?signgam|__cxa_\w+|__dynamic_cast|__once_proxy|__gxx_personality_v0|__dso_handle|"
    r"_Unwind_\w+|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__libc_single_threaded|__(?:u?div|u?mod|mul|"
    r"u?divmod|ashl|ashr|lshr|float\w*|fix\w*|pow)[dstx][ficxt]\w*|__errno_location|__tls_get_addr|"
    r"__isoc\d\d_strto\w+|_ITM_\w+|__gmon_start__|pthread_(?!create$)\w+|__(?:isnan|isinf|finite|signbit|"
    r"fpclassify)[fl]?|__popcount[sdt]i2|rand_r|sscanf|__isoc\d\d_sscanf")
# Of complex numbers, which no assignment offers: with them a forward pass gives its gradient, and nothing is derived.
COMPLEX = re.compile(
    r"_Z.*7complexI.*|__(?:mul|div)[hsdxt]c3|"
    r"c(?:exp|log|log10|pow|sqrt|abs|arg|imag|real|conj|proj|a?(?:sin|cos|tan)h?)[fl]?", re.S)
# What compilers write into code that is watched; nothing that switches the watching off.
INSTRUMENTS = re.compile(
    r"__asan_(?:init|version_mismatch_check\w*|(?:report_)?(?:exp_)?(?:load|store)\w+|handle_no_return|"
    r"(?:un)?register_\w+|(?:before|after)_dynamic_init|stack_(?:malloc|free)\w*|option_\w+|"
    r"allocas?_(?:un)?poison|(?:un)?poison_stack_memory|poison_cxx_array_cookie|set_shadow_\w\w|"
    r"mem(?:cpy|move|set))|__ubsan_handle_\w+|___asan_\w+|__odr_asan.*|__clang_call_terminate")
# Who defines these in a program defines them for the sanitizers, the driver and the library too.
RUNTIME = re.compile(
    r"_Z(?:n[wa]m|d[la]Pvm?)(?:St11align_val_t)?(?:RKSt9nothrow_t)?|_[^Z]\w*|(?:m|c|re)alloc|reallocarray|c?free|"
    r"(?:aligned_|[pv]+)alloc|(?:posix_)?memalign|malloc_usable_size|m(?:un|re)map|mmap|mem(?:cpy|move|set|cmp)|"
    r"str(?:len|cpy|cmp|dup)|read|write|abort|exit|raise|kill|signal|sigaction|getenv|syscall|pthread_\w+|dl\w+")
# What no assignment's source may hold: (pattern, name), of own_code(). The first hides code from the sanitizers, the
# others could spell it so that no pattern sees it, or name a function otherwise than nm does.
UNWATCHED = "no_sanitize|no_address_safety_analysis|disable_sanitizer"  # attributes
DEFINE = r"(?m:^[ \t]*(?:#|%:)[ \t]*define\b)[^\n]*"
FORBIDDEN = [
    (rf"{UNWATCHED}|__(?:asan|ubsan|lsan|sanitizer)_", "the name of something that switches a sanitizer off"),
    (r"\b(?:asm|__asm__|__asm)\b", "asm"), (r"\b_*weakref_*\b", "weakref"),
    # Their texts go to the assembler as they are, and may hold its instructions.
    (rf"\b_*(?:section|alias|symver|ifunc)_*\s*\(|{DEFINE}\b_*(?:section|symver|ifunc)_*\b",
     "section, alias, symver or ifunc before a parenthesis, as an attribute is written that names a section or a symbol"),
    (r"(?m:^[ \t]*(?:#|%:)[ \t]*(?:ident|sccs)\b)", "#ident"),
    (rf"{DEFINE}(?:##|%:%:)", "## of the preprocessor"),
    (r"(?m:^[ \t]*(?:#|%:)[ \t]*pragma[ \t]+(?:clang|redefine_extname|weak|GCC[ \t]+pch_preprocess)\b)|_Pragma|"
     r"(?m:^[ \t]*(?:#|%:)[ \t]*pragma\b)[^\n]*R\"", "a #pragma that changes names or attributes"),
    (r"\b_fileno\b|\bstdio_(?:sync_)?filebuf\b", "what a stream or a FILE holds, its number of a file")]
# In an assignment whose hidden tests are watched, beside these. In others such an instruction is an honest one.
UNSEEN = [
    (r"\b(?:_mm\d*_|__builtin_ia32_)\w*(?:mask\w*(?:load|store|mov)|(?:load|store)\w*mask|gather|scatter|stream|movnt|lddqu|"
     r"compress|expand|sparse|xsave)\w*|\b_f?xsave\w*|\b(?:__)?address_space(?:__)?\b|\b__seg_[fg]s\b",
     "a masked, gathering or streaming instruction, or an address space, whose reads no sanitizer watches")]
MASKS = re.compile(r"(?:eq|ne|lt|le|gt|ge)ERKNS_7Operand|(?:aa|oo|nt)ERKNS_6Tensor")  # operators that are ops
MOST_SEEN = 64 << 20  # bytes of a source whose macros are expanded
LONGEST = 4096  # the library's names are shorter
# Of what a compiler sees (own_code): a directive, a literal, or a name or number, whose ' and R" begin no literal.
LITERAL = r"""(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
WORD = r"[A-Za-z_$\x80-\U0010ffff][\w$\x80-\U0010ffff]*|\.?\d(?:[eEpP][-+]|'?[\w$\x80-\U0010ffff]|\.)*"
TOKEN = re.compile(rf"(?m:^(?P<line>[ \t]*(?:#|%:)[^\n]*))|(?P<text>{LITERAL})|{WORD}", re.S)
IN_LINE = re.compile(rf"(?P<text>{LITERAL})|{WORD}", re.S)
MARKER = re.compile(r'(?m:^# \d+ "((?:\\.|[^"\\\n])*)"((?: \d)*)$)')  # where the next lines come from
BEGIN = re.compile(r'"<command[- ]line>".*?\n# \d+ "[^"\n]*\.cpp"(?: 2)?\n', re.S)  # behind what compilers define
DEFINED = re.compile(r"(?m:^#define ([\w$]+)([^\n]*))")
SUBMITTED = re.compile(r"^/(?:proc|dev)/|\ba\d+\.(?:cpp|ii)")  # a header of such a name is no system's
# A line marker in a source, which would give its lines another origin, or a comment where its number or its file could be. What
# stands before it begins behind a line or a comment, so that no text is searched in more than one way.
FORGED = re.compile(r"(?:^|\*/|[\n\r])[^\S\n\r]*(?:#|%:|\?\?=)[^\S\n\r]*(?:/\*|\d\w*[^\S\n\r]*(?:\"|/\*))")
LIBRARY = re.compile(r"_Z(?:T[ISVTCW]|G[VR]|Th\w*?_|Tv\w*?_)?Z*N?[VKRO]*6isobar(.*)", re.S)
# Answers that the library's headers hold as templates or inline functions, which a source defines by using them.
INLINE = ["kernels", "pointwise", "pointwise_op", "warming_up", "WarmupCosine", "WarmupStableDecay"]
# The headers of most of them: of an inlined function the compiler leaves no name.
ANSWERS = re.compile(r"/isobar/(core/kernels/[^/]*|autograd/pointwise\.h)$")
# Headers that are trusted to have no macro for what UNWATCHED names: those of every program.
TRUSTED = re.compile(r"/isobar/|^/usr/(?:include/(?:[\w-]+/)?(?:c\+\+|fmt|bits|sys)/|lib/(?:gcc|llvm[-\d]*/lib/clang)/)")


def library_name(mangled):
    """["raw", "clone"] of isobar::raw::clone(…); None of what is not the library's."""
    found = LIBRARY.fullmatch(mangled)
    if not found or len(mangled) > LONGEST:
        return None
    rest, parts = found[1], []
    while True:
        size = re.match(r"L?(\d{1,3})", rest)  # L: of internal linkage
        if not size:
            return parts or ["mask_operator" if MASKS.match(rest) else "operator"]
        start, end = size.end(), size.end() + int(size[1])
        parts.append(rest[start:end])
        rest = re.sub(r"^(?:B5cxx11)+", "", rest[end:])


def offered(name, allowed):
    """Whether an assignment offers this name; allowed: of the library, None for all of it."""
    parts = library_name(name)
    if parts is None:
        if COMPLEX.fullmatch(name):
            return allowed is None
        lambda_of_the_library = re.search("ZNK?6isobar", name[2:])
        return bool(C.fullmatch(name) or STANDARD.match(name) and not lambda_of_the_library
                    and not REFUSED.search(name))
    return allowed is None or any(
        parts[:len(a)] == a for a in (entry.split("::") for entry in (*TENSORS, *allowed)))


def listed(text):
    """(name, kind) of each line of `nm -P -g`."""
    return [(words[0], words[1]) for line in text.splitlines() if len(words := line.split()) >= 2]


def used(of_object):
    """The names that an object file uses: what it wants of others, what of INLINE it defines, and a common symbol,
    which the linker takes from the library."""
    return {name for name, kind in listed(of_object) if kind in "UwvC"
            or (library_name(name) or [""])[0] in INLINE}


def refused(of_objects, of_library, allowed):
    """Names that object files of one source use or define and may not, in words for the student: all names of
    each, as nm lists them."""
    names = {name for of_object in of_objects for name in used(of_object)}
    defined = {name for of_object in of_objects for name, kind in listed(of_object) if kind in "TDBRVWCiu"}
    bad = {name for name in names if not offered(name, allowed)} | set(filter(RUNTIME.fullmatch, defined))
    bad |= {name for name in defined if allowed is not None and COMPLEX.fullmatch(name)}
    # A function that is chosen while the program is loaded: that code runs before the sanitizers begin.
    bad |= {name for of_object in of_objects for name, kind in listed(of_object) if kind == "i"}
    # A specialization of a template: the driver and the library would be linked to it, their own checks too.
    bad |= {name for of_object in of_objects for name, kind in listed(of_object) if kind in "TDBR" and (
        library_name(name) is not None or STANDARD.match(name))}
    # Of two definitions the linker may take the library's, or the library be linked to another memory than its own.
    bad |= defined & {name for name, kind in listed(of_library) if kind in "TDBR"}
    bad = {name for name in bad if not INSTRUMENTS.fullmatch(name)}
    return sorted({"isobar::" + "::".join(library_name(n)) if library_name(n) else
                   "complex numbers" if COMPLEX.fullmatch(n) else n for n in bad})


def read_for(deps):
    """The files that a compiler has read, as `ninja -t deps` lists them."""
    return [os.path.normpath(line.strip()) for line in deps.splitlines() if line.startswith("    ")]


def refused_headers(paths, allowed, search, prefix="/usr"):
    """Headers that a source may not include, of those that the compiler has read for it: answers of the library
    (allowed: None for all), and of others what search(pattern, paths) finds in their text. What is installed below
    `prefix` may have brought fmt with it."""
    answers = {found[1] for path in paths if allowed is not None and (found := ANSWERS.search(path))}
    return sorted(answers | {os.path.basename(path) for path in search(
        UNWATCHED, [path for path in paths if not TRUSTED.search(path) and not path.startswith(f"{prefix}/include/fmt/")])})


def own_code(seen):
    """Of what a compiler has seen of a source (`-E -dD`: no comments, nothing that is skipped, macros expanded), what
    comes from no header of the system, with "" for its literals; and whether a #define of it that joins names
    by a macro of a header stands before an #include, whose code it could become."""
    begins = BEGIN.search(seen)
    parts, at, of_system, hooks, hooked = [], begins.end() if begins else 0, [False], "", False
    while found := (MARKER if of_system[-1] else TOKEN).search(seen, at):
        parts += [] if of_system[-1] else [seen[at:found.start()]]
        at = found.end()
        marker = MARKER.match(seen, found.start())
        if marker:
            flags = marker[2].split()
            if "1" in flags:  # a file begins; 2: it has ended; 3: it is a header of the system
                of_system.append("3" in flags and not SUBMITTED.search(marker[1]))
                hooked |= of_system[-1] and bool(hooks and joining(seen) & set(re.findall(r"[\w$]+", hooks)))
                hooks = "" if of_system[-1] else hooks
            elif "2" in flags and len(of_system) > 1:
                of_system.pop()
        elif found["line"]:
            line = IN_LINE.sub(lambda token: '""' if token["text"] else token[0], found["line"])
            parts.append(line)
            hooks += " ".join(DEFINED.findall(line)[0]) + " " if DEFINED.match(line) else ""
        else:
            parts.append('""' if found["text"] else found[0])
    return "".join(parts + ([] if of_system[-1] else [seen[at:]])), hooked


def joining(seen):
    """The macros that join two of their parameters by ##, or use one that does: names of any spelling come of them."""
    bodies, found = DEFINED.findall(seen), set()

    def joins(body):
        given = {"__VA_ARGS__", *re.findall(r"[\w$]+", body.partition(")")[0] if body.startswith("(") else "")}
        return any({left, right} <= given for left, right in re.findall(r"([\w$]+) ?## ?(?=([\w$]+))", body))
    while more := {name for name, body in bodies if name not in found and (
            joins(body) or not found.isdisjoint(re.findall(r"[\w$]+", body)))}:
        found |= more
    return found


def refused_texts(source, seen, forbidden):
    """What a source may not hold, by name: (pattern, name) each. `seen`: what compilers have seen of it."""
    found = set()
    if FORGED.search(re.sub(r"\\[ \t\f\v\r]*\n", "", source)):
        found.add('a line such as # 1 "file"')
    for text in seen:
        if len(text) == MOST_SEEN:
            found.add("macros or headers of more than 64 MiB")
            continue
        code, hooked = own_code(text)
        found |= {name for pattern, name in forbidden if re.search(pattern, code, flags=re.S)}
        found |= {"## of the preprocessor, by a macro of a header, in a #define before an #include"} if hooked else set()
    return sorted(found)


def seen_for(object_file):
    """What the compiler has seen for an object file, which the build has kept beside it (-save-temps), cut at MOST_SEEN;
    None where it is not there."""
    for path in (object_file.with_suffix(".ii"), object_file.with_suffix("").with_suffix(".ii")):
        if path.is_file() and not path.is_symlink():
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read(MOST_SEEN)
    return None


def repairs(names, texts):
    """What to do about refused names, of refused() and refused_headers(), and refused_texts(), in sentences."""
    of_c = [name for name in names if re.fullmatch(r"\w+", name)]
    return " ".join(sentence for there, sentence in [
        (of_c, f"{', '.join(of_c[:5])}: a name of C or of the run-time, which may not be called; a function or variable of "
         "yours with such a name needs another one, or an unnamed namespace around it."),
        ("complex numbers" in names,
         "Complex numbers: a gradient by a complex step is not derived; compute with real numbers."),
        (any(name.startswith("isobar::") for name in names),
         "Of the library only what the handout lists may be used: write the others yourself."),
        (texts, f"{', '.join(texts[:5])}: it stands in the source, outside of comments and texts; do without, and give "
         "what has such a word for its name another one.")] if there)
