"""Every C++ file includes the standard header of each std:: name that it uses: std_includes.py ROOT [--fix].

What another header happens to bring differs between libraries and their versions, so a file that leans on it compiles here
and not elsewhere. A source may lean on its own header (name.h of name.cpp). Prints FILE:LINE: SENTENCE for each name without
its header, exits 1 on any; --fix writes the missing lines in. The table holds the headers that the C++20 standard names for
each name; a name that is not in it is a fault too, so that the table stays whole.
"""

import os
import re
import sys

FOLDERS = ("app", "core", "kernels", "tests")
EXTENSIONS = (".h", ".cpp", ".cu", ".cuh")

# Headers that may be included for the names after them; the first is what --fix writes.
TABLE = """
algorithm: adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count count_if equal equal_range
  fill fill_n find find_end find_if find_if_not for_each for_each_n generate generate_n includes inplace_merge is_permutation
  is_sorted is_sorted_until lexicographical_compare lower_bound make_heap max max_element merge min min_element minmax
  minmax_element mismatch next_permutation none_of nth_element partial_sort partition partition_point pop_heap push_heap
  remove_if replace replace_if reverse rotate sample search set_difference set_intersection set_union shuffle sort sort_heap
  stable_partition stable_sort swap_ranges transform unique unique_copy upper_bound
  ranges::adjacent_find ranges::all_of ranges::any_of ranges::binary_search ranges::copy ranges::copy_if ranges::count
  ranges::count_if ranges::equal ranges::equal_range ranges::fill ranges::find ranges::find_if ranges::find_if_not
  ranges::for_each ranges::includes ranges::is_sorted ranges::lower_bound ranges::max ranges::max_element ranges::min
  ranges::min_element ranges::minmax ranges::minmax_element ranges::mismatch ranges::none_of ranges::nth_element ranges::pop_heap ranges::push_heap
  ranges::partial_sort ranges::partition ranges::partition_point ranges::remove_if ranges::replace ranges::replace_if ranges::reverse
  ranges::rotate ranges::search ranges::set_union ranges::sort ranges::stable_partition ranges::stable_sort
  ranges::swap_ranges ranges::transform ranges::unique ranges::upper_bound
algorithm cstdio: remove
any: any any_cast
array: array to_array
variant array ranges tuple utility: get
iterator array deque list map set span string string_view unordered_map vector: begin cbegin cend crbegin crend data empty end
  rbegin rend size ssize
atomic: atomic atomic_bool atomic_flag atomic_int atomic_size_t atomic_thread_fence memory_order_acq_rel
  memory_order_acquire memory_order_relaxed memory_order_release memory_order_seq_cst
bit: bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit popcount
cctype: isalnum isalpha isdigit islower isspace isxdigit tolower toupper
charconv: chars_format from_chars to_chars
chrono: chrono_literals
chrono ratio: micro milli nano
cmath: acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma fmax fmin fmod frexp hypot ilogb
  isfinite isinf isnan isnormal ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nanf nearbyint
  nextafter pow remainder rint round scalbn signbit sin sinh sqrt tan tanh tgamma trunc
cmath cstdlib: abs
complex: arg complex conj norm polar
condition_variable: condition_variable condition_variable_any cv_status
csignal: raise sig_atomic_t signal
cstdarg: va_list
cstddef: byte max_align_t nullptr_t ptrdiff_t to_integer
cstddef cstdio cstdlib cstring ctime: size_t
cstdint: int16_t int32_t int64_t int8_t intmax_t intptr_t uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t
cstdio: FILE fclose feof ferror fflush fgetc fgets fileno fopen fprintf fputc fputs fread fscanf fseek ftell fwrite getchar
  perror printf putchar puts rename setvbuf snprintf sprintf sscanf tmpfile ungetc vfprintf vprintf vsnprintf
cstdlib: _Exit abort aligned_alloc at_quick_exit atexit atof atoi atol atoll calloc exit free getenv malloc mbstowcs
  quick_exit realloc strtod strtof strtol strtoll strtoul strtoull system
cstring: memchr memcmp memcpy memmove memset strcat strchr strcmp strcpy strcspn strerror strlen strncmp strncpy strpbrk
  strrchr strspn strstr strtok
ctime: asctime clock clock_t ctime difftime gmtime localtime mktime strftime time time_t tm
deque: deque
exception: current_exception exception_ptr make_exception_ptr rethrow_exception set_terminate terminate uncaught_exceptions
exception new stdexcept typeinfo: exception
fstream: filebuf fstream ifstream ofstream
functional: bind_front cref equal_to function greater greater_equal invoke less less_equal logical_not minus multiplies negate
  not_equal_to not_fn plus ranges::equal_to ranges::greater ranges::greater_equal ranges::less ranges::less_equal
  ranges::not_equal_to ref reference_wrapper
functional memory optional string string_view system_error thread variant: hash
initializer_list array deque list map set string unordered_map vector: initializer_list
iomanip: quoted setfill setprecision setw
ios fstream iostream istream ostream sstream: boolalpha dec defaultfloat fixed hex ios ios_base left right scientific streamoff
  streampos streamsize
iostream: cerr cin clog cout
istream iostream: istream ws
iterator: advance back_insert_iterator back_inserter bidirectional_iterator_tag contiguous_iterator distance
  forward_iterator_tag front_inserter input_iterator inserter istream_iterator istreambuf_iterator iterator_traits
  make_move_iterator make_reverse_iterator move_iterator next ostream_iterator ostreambuf_iterator prev
  random_access_iterator_tag reverse_iterator
latch: latch
limits: numeric_limits
list: list
map: map multimap
memory: addressof align allocator allocator_traits assume_aligned const_pointer_cast construct_at default_delete destroy_at
  dynamic_pointer_cast enable_shared_from_this make_shared make_unique make_unique_for_overwrite owner_less pointer_traits
  shared_ptr static_pointer_cast to_address uninitialized_copy uninitialized_fill unique_ptr weak_ptr
mutex: adopt_lock call_once defer_lock lock_guard mutex once_flag recursive_mutex scoped_lock timed_mutex try_to_lock unique_lock
new: align_val_t bad_alloc bad_array_new_length launder nothrow nothrow_t set_new_handler
numeric: accumulate adjacent_difference exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint partial_sum reduce
optional: make_optional nullopt nullopt_t optional
ostream iostream: endl ends flush ostream
queue: priority_queue queue
random: bernoulli_distribution default_random_engine discrete_distribution exponential_distribution minstd_rand mt19937
  mt19937_64 normal_distribution random_device seed_seq uniform_int_distribution uniform_real_distribution
ranges: ranges::begin ranges::data ranges::empty ranges::end ranges::iota_view ranges::size ranges::subrange views::all
  views::drop views::filter views::iota views::join views::keys views::reverse views::split views::take views::transform
  views::values
set: multiset set
shared_mutex: shared_lock shared_mutex
span: as_bytes as_writable_bytes dynamic_extent span
sstream: istringstream ostringstream stringbuf stringstream
stdexcept: domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error runtime_error
stop_token thread: nostopstate stop_callback stop_source stop_token
string: basic_string getline stod stof stoi stol stoll stoul stoull string string_literals to_string u16string u32string u8string
  wstring
string string_view: char_traits
string_view: basic_string_view string_view string_view_literals u32string_view
vector deque list map set string unordered_map unordered_set: erase erase_if
system_error: errc error_category error_code error_condition generic_category make_error_code system_category system_error
thread: jthread thread
tuple: apply forward_as_tuple ignore make_from_tuple make_tuple tie tuple tuple_cat
tuple utility array variant: tuple_element_t tuple_size tuple_size_v
type_traits: add_const_t common_type_t conditional conditional_t decay_t enable_if_t false_type integral_constant
  invoke_result_t is_arithmetic_v is_base_of_v is_const_v is_convertible_v is_enum_v is_floating_point_v is_integral_v
  is_invocable_r_v is_invocable_v is_nothrow_move_constructible_v is_pointer_v is_same is_same_v is_signed_v
  is_trivially_copyable_v is_unsigned_v is_void_v make_signed_t make_unsigned_t remove_const_t remove_cv_t remove_cvref_t
  remove_pointer_t remove_reference_t true_type type_identity_t underlying_type_t void_t is_constant_evaluated
typeinfo: type_info
unordered_map: unordered_map unordered_multimap
unordered_set: unordered_set
utility: as_const cmp_equal cmp_greater cmp_less declval exchange forward in_place in_place_index in_place_index_t in_place_t
  in_place_type index_sequence index_sequence_for integer_sequence make_index_sequence make_pair pair piecewise_construct
  swap to_underlying unreachable
utility algorithm: move
variant: bad_variant_access get_if holds_alternative monostate variant variant_alternative_t variant_size_v visit
vector: vector
concepts: convertible_to floating_point integral invocable same_as signed_integral unsigned_integral
compare: partial_ordering strong_ordering weak_ordering
source_location: source_location
barrier: barrier
future: async future launch packaged_task promise shared_future
semaphore: binary_semaphore counting_semaphore
"""
# Names of a whole header.
SPACES = {"chrono": "chrono", "filesystem": "filesystem", "numbers": "numbers", "this_thread": "thread", "pmr": "memory_resource"}

COMMENT_OR_TEXT = re.compile(
    r'R"(?P<tag>[^(\s]*)\((?:.|\n)*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/'
)
DIGIT_SEPARATOR = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")
NAME = re.compile(r"\bstd::(?:(ranges|views|chrono|filesystem|this_thread|numbers|pmr)::)?(\w+)")
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([a-z_0-9]+)>", re.MULTILINE)


def allowed_headers():
    allowed = {}
    for line in TABLE.replace("\n  ", " ").strip().splitlines():
        headers, names = line.split(":", 1)
        for name in names.split():
            if name in allowed:
                raise ValueError(f"{name} is in the table twice")
            allowed[name] = headers.split()
    return allowed


def without_texts(source):
    """The source with comments and literals blank, lines where they were."""
    source = DIGIT_SEPARATOR.sub(" ", source)
    return COMMENT_OR_TEXT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), source)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def own_header(path):
    stem, extension = os.path.splitext(path)
    return stem + ".h" if extension in (".cpp", ".cu") and os.path.exists(stem + ".h") else None


def faults_of(path, allowed):
    """(line, name, headers that would do) for each name without its header, once a file; headers empty: not in the table."""
    source = read(path)
    included = set(INCLUDE.findall(source))
    if own_header(path):
        included |= set(INCLUDE.findall(read(own_header(path))))
    code = without_texts(source)
    seen = set()
    for found in NAME.finditer(code):
        space, name = found.groups()
        full = f"{space}::{name}" if space else name
        if full in SPACES or full in ("ranges", "views") or full in seen:
            continue
        seen.add(full)
        headers = [SPACES[space]] if space in SPACES else allowed.get(full, [])
        if not included.intersection(headers):
            yield code.count("\n", 0, found.start()) + 1, full, headers


def add_includes(path, headers):
    """Writes the includes in among the standard ones, or after the last include before the first other line."""
    lines = read(path).split("\n")
    standard = [i for i, line in enumerate(lines) if INCLUDE.match(line)]
    if standard:
        first = standard[0]
        last = first
        while last + 1 < len(lines) and INCLUDE.match(lines[last + 1]):
            last += 1
        block = sorted(set(lines[first : last + 1]) | {f"#include <{header}>" for header in headers})
        lines[first : last + 1] = block
    else:
        at = next(i for i, line in enumerate(lines) if line.startswith(("#pragma once", "#include", "namespace")))
        before = [f"#include <{header}>" for header in sorted(headers)]
        if lines[at].startswith("#pragma once"):
            lines[at + 1 : at + 1] = [""] + before
        elif own_header(path) and lines[at].startswith("#include"):
            lines[at + 1 : at + 1] = [""] + before
        else:
            lines[at:at] = before + [""]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def sources(root):
    for folder in FOLDERS:
        for where, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                if name.endswith(EXTENSIONS):
                    yield os.path.join(where, name)


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] != "--fix" else ".")
    allowed = allowed_headers()
    count, wrong = 0, 0
    for path in sources(root):
        count += 1
        missing = list(faults_of(path, allowed))
        for line, name, headers in missing:
            wrong += 1
            what = f"needs #include <{headers[0]}>" if headers else "is not in the table of names"
            print(f"{os.path.relpath(path, root)}:{line}: std::{name} {what}")
        if "--fix" in sys.argv and any(headers for _, _, headers in missing):
            add_includes(path, {headers[0] for _, _, headers in missing if headers})
    if not count:
        sys.exit(f"{root}: no sources here; expected the repository's root")
    if not wrong:
        print(f"{count} files include what they use of the standard library")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
