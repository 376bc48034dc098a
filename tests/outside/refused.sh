#!/bin/bash
# refused.sh - Mistakes that recorder.h must refuse at compile time, each in words.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

# Compiles a text in which @ is the right or the wrong code: the right one must
# compile, so that what is refused is the mistake and nothing else; the wrong
# one must fail with one of the sentences, which " || " divides. For the
# languages c, cc or both.
text_mistake() # languages flags sentences text right wrong
{
    [[ " $1 " = *" $language "* ]] || return 0
    [[ $2 != *-m32* || $words_32 = yes ]] || return 0
    printf '#include "recorder.h"\n%s\n' "${4//@/$5}" >"right.$language"
    printf '#include "recorder.h"\n%s\n' "${4//@/$6}" >"wrong.$language"
    local check="$compiler -I$ROOT -fsyntax-only $2"
    $check "right.$language"
    if $check "wrong.$language" 2>said; then
        echo "$compiler lets pass: $6" && false
    fi
    grep error: said | grep -F "${3// || /$'\n'}" || { cat said && false; }
    tried=$((tried + 1))
}
# The same in a function of these parameters.
mistake() # languages flags sentences parameters right wrong
{
    text_mistake "$1" "$2" "$3" "RECORDER(net, 16, \"Network\")
void use($4);
void use($4)
{
    @
}" "$5" "$6"
}

mistakes()
{
    local both='c cc' twelve=1,2,3,4,5,6,7,8,9,10,11,12
    local d12='%d%d%d%d%d%d%d%d%d%d%d%d'
    local many='record(): at most 12 arguments; use two records'
    mistake "$both" '' "$many" 'void' "record(net, \"$d12\", $twelve);" \
        "record(net, \"$d12%d\", $twelve,13);"
    mistake "$both" '' "$many" 'int n' 'record(net, "%d", n);' \
        "(void)record(net, \"$d12%d%d\", n,$twelve,13);"
    mistake "$both" '' "$many" 'const char *text, double real' \
        'record(net, "%s%f", text, real);' \
        "record(net, \"%s%f$d12%d%d%d%d%d%d\", text, real,$twelve,1,2,3,4,5,6);"
    mistake "$both" '' "$many" 'void' 'record(net, "%d", 1);' \
        "record(net, \"$d12$d12\", $twelve,$twelve);"

    local is_long='record(): a long double does not fit a word; cast it to double'
    mistake c '' "$is_long" '_Complex double z' \
        'record(net, "%f %f", __real__ z, __imag__ z);' 'record(net, "%f", z);'
    mistake "$both" '' "$is_long" 'long double x' \
        'record(net, "%f", (double)x);' 'record(net, "%Lf", x);'
    text_mistake cc '' "$is_long" 'RECORDER(net, 16, "Network")
template <typename T> void use(T x) { record(net, "%f", x); }
template void use<@>(@);' double 'long double'

    mistake "$both" -Werror "passing argument 2 of 'recorder_copy_bytes_' from \
incompatible pointer type || incompatible pointer types passing 'int *' to \
parameter of type 'const char *' || cannot convert 'int*' to 'const char*' || \
no matching function for call to 'recorder_copy_bytes_'" \
        'int *n, const char *text' '(void)n, (void)text;
    record(net, "%s", RECORDER_COPY_BYTES(net, text, 3));' \
        '(void)n, (void)text;
    record(net, "%s", RECORDER_COPY_BYTES(net, n, 3));'

    local is_double="format '%d' expects argument of type 'int', but argument \
2 has type 'double' || format specifies type 'int' but the argument has type \
'double' || argument 2 has type 'recorder_plain_<double, false>::type' {aka \
'double'} || the argument has type 'typename recorder_plain_<double, \
recorder_scoped_<double>::value>::type' (aka 'double')"
    for flags in -Werror=format '-Werror=format -DRECORDER_OFF'; do
        mistake "$both" "$flags" "$is_double" 'double real' \
            'record(net, "%f", real);' 'record(net, "%d", real);'
    done
    mistake "$both" -Werror=format "format '%s' expects argument of type \
'char *', but argument 2 has type 'int' || format '%s' expects argument of \
type 'char*', but argument 2 has type 'int' || format specifies type 'char *' \
but the argument has type 'int' || argument 2 has type 'recorder_plain_<int, \
false>::type' {aka 'int'} || the argument has type 'typename \
recorder_plain_<int, recorder_scoped_<int>::value>::type' (aka 'int')" \
        'int n' 'record(net, "%d", n);' 'record(net, "%s", n);'
    for severity in '' 'RECORDER_SW2 '; do
        mistake "$both" -Werror=format "format '%d' expects a matching 'int' \
argument || more '%' conversions than data arguments" 'int n' \
            "record(net, $severity\"%d %d\", n, n);" \
            "record(net, $severity\"%d %d\", n);"
    done
    mistake "$both" '-Werror=format -DRECORDER_SEVERITY_LEAST=3' "format '%d' \
expects argument of type 'int' || format specifies type 'int' but the \
argument has type" 'const char *text' 'record(net, RECORDER_HW1 "%s", text);' \
        'record(net, RECORDER_HW1 "%d", text);'
    mistake "$both" '-Werror=format -Werror=format-extra-args' 'too many '\
'arguments for format || data argument not used by format string' 'int n' \
        'record(net, "%d", n);' 'record(net, "%d", n, n);'
    mistake "$both" '' 'record(): the format must be a string literal' \
        'const char *format' 'record(net, "%s", format);' 'record(net, format);'

    local is_wide='record(): an integer wider than a machine word; cast it, or'
    is_wide="$is_wide record its halves"
    text_mistake "$both" '' "$is_wide" 'RECORDER(net, 16, "Network")
#ifdef __SIZEOF_INT128__
typedef __int128 wide;
#else
typedef long long wide;
#endif
void use(wide x);
void use(wide x) { record(net, "%lx", @); }' '(unsigned long)x' x
    mistake "$both" -m32 "$is_wide" 'uint64_t bytes' \
        'record(net, "%lu", (unsigned long)bytes);' \
        'record(net, "%llu", (unsigned long long)bytes);'

    local is_struct='record(): a struct is no argument; record its members'
    text_mistake "$both" '' "$is_struct" 'RECORDER(net, 16, "Network")
struct point { int x, y; };
void use(struct point point);
void use(struct point point) { record(net, "%d", @); }' point.x point
    text_mistake "$both" '' "$is_struct" 'RECORDER(net, 16, "Network")
union number { int integer; float real; };
void use(const union number *number);
void use(const union number *number) { record(net, "%d %d", 1, @); }' \
        'number->integer' '*number'
    text_mistake cc '' "$is_struct" 'RECORDER(net, 16, "Network")
class text
{
  public:
    text(const char *from) : copy(from) {}
    ~text() {}
    const char *copy;
};
void use(const text &name);
void use(const text &name) { record(net, "%s", @); }' name.copy name

    text_mistake "$both" '' 'RECORDER_LANES(net, 16, 3): the lanes must be a '\
'power of two' '@
extern int end;' 'RECORDER_LANES(net, 16, 4, "")' 'RECORDER_LANES(net, 16, 3, "")'
    text_mistake "$both" '' 'RECORDER_LANES(net, 16, 0): the lanes must be a '\
'power of two' '@
extern int end;' 'RECORDER_LANES(net, 16, 1, "")' 'RECORDER_LANES(net, 16, 0, "")'
    for size in -1 0; do
        text_mistake "$both" '' "RECORDER(net, $size): the size must be at \
least 1" '@
extern int end;' 'RECORDER(net, 1, "")' "RECORDER(net, $size, \"\")"
    done
    text_mistake "$both" '' 'RECORDER(net, (1ll << 30) + 1): the size must be '\
'at most 2^30' '@
extern int end;' 'RECORDER(net, 1 << 10, "")' 'RECORDER(net, (1ll << 30) + 1, "")'
    text_mistake "$both" -m32 'the size must be at most 2^30 (32-bit: 2^16)' '@
extern int end;' 'RECORDER(net, 1 << 16, "")' 'RECORDER(net, (1 << 16) + 1, "")'
    text_mistake "$both" '-DRECORDER_TIME()=0 -DRECORDER_THREAD()=1' \
        'RECORDER_AT(net, 3): the size must be at least 4' '@
extern int end;' 'RECORDER_AT(net, 4, 0x20000)' \
        'RECORDER_AT(net, 3, 0x20000, "Its memory has room for 3")'

    text_mistake "$both" '' "'recorder_for_net'" '@
void use(void);
void use(void) { record(net, "a recorder that nobody declared"); }' \
        'RECORDER_DECLARE(net)' ''
    text_mistake cc '' 'record(): a parameter pack is no list of arguments' \
        'RECORDER(net, 16, "Network")
template <typename... T> static void use(T... values)
{
    (void)sizeof...(values);
    record(net, "%d %d", @);
}
int main() { use(1, 2); return 0; }' '1, 2' values...
    text_mistake cc '' 'record(net, ...) in namespace app, or after: using '\
'app::recorder_for_net;' 'namespace app
{
RECORDER(net, 16, "Network");
}
void use(int bytes);
void use(int bytes)
{
    @, "%d bytes", bytes);
}' 'using app::recorder_for_net; record(net' 'record(app::net'
}

refuse_all() # language compiler...
{
    language=$1
    for compiler in "${@:2}"; do
        has_program $compiler || continue
        words_32=no tried=0
        echo '#include <stdint.h>' >can.$language
        $compiler -m32 -fsyntax-only can.$language && words_32=yes ||
            leaves_out "$compiler -m32 finds no headers here"
        mistakes
        test $tried -gt 20
    done
}

## in_c
# Goal: records that cannot be made are refused at compile time, in C. Method:
# each wrong text must fail with its sentence, the right one pass.
[[ $SCALE = 0* ]] && refuse_all c gcc || refuse_all c gcc clang

## in_cxx, long
# Goal and method: the same in C++.
needs g++
refuse_all cc g++ clang++
