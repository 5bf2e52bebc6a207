"""What an object file asks of others, by the names that the linker sees, however they are spelled in the
source. Mangled names are read, never demangled: a short one can demangle to gigabytes."""
import re

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
    r"frexp|ldexp|scalbl?n|ilogb|copysign|nextafter|nan|sincos|lgamma_r|sinpi|cospi|c(?:exp|log|pow|sqrt|abs|"
    r"arg))[fl]?|(?:__)?signgam|__cxa_\w+|__dynamic_cast|__once_proxy|__gxx_personality_v0|__dso_handle|"
    r"_Unwind_\w+|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__libc_single_threaded|__(?:u?div|u?mod|mul|"
    r"u?divmod|ashl|ashr|lshr|float\w*|fix\w*|pow)[dstx][ficxt]\w*|__errno_location|__tls_get_addr|"
    r"__isoc\d\d_strto\w+|_ITM_\w+|__gmon_start__|pthread_\w+|__(?:isnan|isinf|finite|signbit|"
    r"fpclassify)[fl]?|__popcount[sdt]i2|rand_r|getc(?:har)?|fget[cs]|stdin|s?scanf|__isoc\d\d_s?scanf")
SANITIZERS = re.compile(r"__(?:asan|ubsan|lsan|sanitizer)_")  # of code that is watched
MASKS = re.compile(r"(?:eq|ne|lt|le|gt|ge)ERKNS_7Operand|(?:aa|oo|nt)ERKNS_6Tensor")  # operators that are ops
LONGEST = 4096  # the library's names are shorter
LIBRARY = re.compile(r"_Z(?:T[ISVTCW]|GV|Th\w*?_|Tv\w*?_)?N?[VKRO]*6isobar(.*)", re.S)


def library_name(mangled):
    """["raw", "clone"] of isobar::raw::clone(…); None of what is not the library's."""
    found = LIBRARY.fullmatch(mangled)
    if not found or len(mangled) > LONGEST:
        return None
    rest, parts = found[1], []
    while True:
        size = re.match(r"\d{1,3}", rest)
        if not size:
            return parts or ["mask_operator" if MASKS.match(rest) else "operator"]
        start = size.end()
        parts.append(rest[start:start + int(size[0])])
        rest = re.sub(r"^(?:B5cxx11)+", "", rest[start + int(size[0]):])


def offered(name, allowed):
    """Whether an assignment offers this name; allowed: of the library, None for all of it."""
    parts = library_name(name)
    if parts is None:
        lambda_of_the_library = re.search("ZNK?6isobar", name[2:])
        return bool(C.fullmatch(name) or STANDARD.match(name) and not lambda_of_the_library
                    and not FILES.search(name))
    return allowed is None or any(
        parts[:len(a)] == a for a in (entry.split("::") for entry in (*TENSORS, *allowed)))


def listed(text):
    """(name, kind) of each line of `nm -P -g`."""
    return [(words[0].split("@")[0],
             words[1]) for line in text.splitlines() if len(words := line.split()) >= 2]


def refused(of_object, of_library, allowed):
    """Names that an object file uses and may not, in words for the student. An undefined name counts, and a
    common one, which the linker takes from the library; and a weak or other definition of what the library
    defines itself: the linker may prefer the library's."""
    own = {name for name, kind in listed(of_library) if kind in "TDBR"}
    names = {name for name, kind in listed(of_object) if kind in "UwvC" or name in own}
    names = {name for name in names if not SANITIZERS.match(name)}
    return sorted({"isobar::" + "::".join(library_name(n)) if library_name(n) else n for n in names
                   if not offered(n, allowed)})


def refused_texts(source, forbidden):
    """What a source may not hold, by name: (pattern, name) each. Not in comments either: where one begins is
    the compiler's to say, and a pattern has room for them. Lines are joined as the compiler joins them."""
    source = re.sub(r"\\[ \t\f\v\r]*\n", "", source)
    return sorted({name for pattern, name in forbidden if re.search(pattern, source, flags=re.S)})
