"""What an object file asks of others, by the names that the linker sees, however they are spelled in the
source. Mangled names are read, never demangled: a short one can demangle to gigabytes."""
import os, re

# Of the library, for every assignment: what makes, reads, writes and describes tensors.
TENSORS = ["Tensor", "Shape", "AxisList", "KeepDim", "Error", "Storage", "raw", "tensor", "zeros", "ones",
           "full", "arange", "broadcast", "broadcast_strides", "throw_error", "name_of", "dtype_from_name",
           "operator", "memory", "object_memory", "ObjectAllocator", "parallel"]

# Of C++ and of fmt, which the library's headers use.
STANDARD = re.compile(
    r"_Zn[wa]|_Zd[la]|_Z(?:T[ISV]|GV)?N?[KRO]*(?:S[taosid]|3fmt)|_ZT[ISV](?:N10__cxxabiv1|P|[a-z]$)")
# But not what opens files: a program that makes a run writes where its results stand.
FILES = re.compile(r"basic_[io]?f(?:stream|ilebuf)|10filesystem|basic_file")
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
    r"__isoc\d\d_strto\w+|_ITM_\w+|__gmon_start__|pthread_\w+|__(?:isnan|isinf|finite|signbit|"
    r"fpclassify)[fl]?|__popcount[sdt]i2|rand_r|getc(?:har)?|fget[cs]|stdin|s?scanf|__isoc\d\d_s?scanf")
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
# What no assignment's source may hold: (pattern, name). The first hides code from the sanitizers, the others
# could spell it so that no pattern sees it, or name a function otherwise than nm does.
GAP = r"(?:\s|/\*.*?\*/)*"
UNWATCHED = "no_sanitize|no_address_safety_analysis|disable_sanitizer"  # attributes
FORBIDDEN = [
    (rf"{UNWATCHED}|__(?:asan|ubsan|lsan|sanitizer)_", "the name of something that switches a sanitizer off"),
    (r"\b(?:asm|__asm__|__asm)\b", "asm"), (r"\b_*weakref_*\b", "weakref"),
    # Their texts go to the assembler as they are, and may hold its instructions.
    (rf"\b_*(?:section|alias|symver|ifunc)_*{GAP}\(|(?:#|%:){GAP}define[^\n]*\b_*(?:section|symver|ifunc)_*\b",
     "an attribute that names a section or a symbol"),
    (rf"(?:#|%:){GAP}define(?:/\*.*?\*/|[^\n])*?(?:##|%:%:)", "## of the preprocessor"),
    (rf"(?:#|%:){GAP}pragma{GAP}(?:clang|redefine_extname|weak)\b|_Pragma", "a #pragma that changes names or attributes")]
MASKS = re.compile(r"(?:eq|ne|lt|le|gt|ge)ERKNS_7Operand|(?:aa|oo|nt)ERKNS_6Tensor")  # operators that are ops
LONGEST = 4096  # the library's names are shorter
# A comment (1), a literal (2), or a name or number, whose ' begins no literal.
TOKEN = re.compile(r"""(//[^\n]*|/\*.*?\*/)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|"""
                   r"[A-Za-z_]\w*|\.?\d(?:[eEpP][-+]|'?\w|\.)*", re.S)
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
                    and not FILES.search(name))
    return allowed is None or any(
        parts[:len(a)] == a for a in (entry.split("::") for entry in (*TENSORS, *allowed)))


def listed(text):
    """(name, kind) of each line of `nm -P -g`."""
    return [(words[0].split("@")[0],
             words[1]) for line in text.splitlines() if len(words := line.split()) >= 2]


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
    # Of two definitions the linker may take the library's, or the library be linked to another memory than its own.
    bad |= defined & {name for name, kind in listed(of_library) if kind in "TDBR"}
    bad = {name for name in bad if not INSTRUMENTS.fullmatch(name)}
    return sorted({"isobar::" + "::".join(library_name(n)) if library_name(n) else
                   "complex numbers" if COMPLEX.fullmatch(n) else n for n in bad})


def read_for(deps):
    """The files that a compiler has read, as `ninja -t deps` lists them."""
    return [os.path.normpath(line.strip()) for line in deps.splitlines() if line.startswith("    ")]


def refused_headers(paths, allowed, search):
    """Headers that a source may not include, of those that the compiler has read for it: answers of the library
    (allowed: None for all), and of others what search(pattern, paths) finds in their text."""
    answers = {found[1] for path in paths if allowed is not None and (found := ANSWERS.search(path))}
    return sorted(answers | {os.path.basename(path) for path in search(
        UNWATCHED, [path for path in paths if not TRUSTED.search(path)])})


def code_of(source):
    """A source without its comments and the texts of its literals, whose lines are joined as the compiler joins them.
    One that has raw literals stays as it is: in these the compiler joins no lines."""
    source = re.sub(r"\\[ \t\f\v\r]*\n", "", source)
    if re.search(r'(?<!\w)(?:u8|[uUL])?R"', source):
        return source
    short = lambda token: " " if token[1] else '""' if token[2] else token[0]
    return re.sub(TOKEN, short, source)


def refused_texts(source, forbidden):
    """What a source may not hold, by name: (pattern, name) each."""
    code = code_of(source)
    return sorted({name for pattern, name in forbidden if re.search(pattern, code, flags=re.S)})


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
