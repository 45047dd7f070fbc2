#!/usr/bin/env bash
# Builds jlfix for Windows and runs its tests under Wine. Needs Debian 12 and nothing else: Rust with the matching source
# of std, the linker and Wine come from Debian's archive, std for Windows is built here once.
set -euo pipefail

usage() {
    cat <<'END'
usage: tests/windows/run.sh [ARGS…]           cargo test ARGS under Wine (as in: run.sh --test library store)
       tests/windows/run.sh --check [ARGS…]   cargo check --all-targets ARGS
       tests/windows/run.sh --clippy [ARGS…]  cargo clippy --all-targets ARGS
       tests/windows/run.sh --build [ARGS…]   builds jlfix.exe (--profile dist for a small one); its path is all of stdout
       tests/windows/run.sh --exe [ARGS…]     builds jlfix.exe and runs it under Wine with ARGS
       tests/windows/run.sh --wine PROGRAM [ARGS…]   runs another Windows program in the same Wine prefix
       tests/windows/run.sh --cc ARGS…        x86_64-w64-mingw32-gcc ARGS

JLFIX_WINDOWS_CACHE     where std and the Wine prefix are kept (.cache/windows in the checkout)
JLFIX_WINDOWS_TIMEOUT   how long the tests may run, as timeout(1) takes it (20m)
JLFIX_CORPUS            the real jump lists, as for cargo test

Exit codes: 69 if what it needs cannot be had here, so that nothing was built; else those of cargo.
END
}

die() {
    printf 'run.sh: %s\n' "$*" >&2
    exit 1
}

# Nobody's fault: the machine has no Debian, no network, or no leave to install.
unavailable() {
    printf 'run.sh: left out: %s\n' "$*" >&2
    exit 69
}

say() { printf '== %s\n' "$*" >&2; }

target=x86_64-pc-windows-gnu
packages=(rustc-web cargo-web rust-web-src gcc-mingw-w64-x86-64-win32 wine64)
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
cache=${JLFIX_WINDOWS_CACHE:-$root/.cache/windows}

mode=test
case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
--check | --clippy | --build | --exe | --wine | --cc)
    mode=${1#--}
    shift
    ;;
esac

[[ $mode != clippy ]] || packages+=(rust-web-clippy)

timings=()
timed() { # NAME COMMAND…: remembers the minutes that a part took
    local name=$1 start=$EPOCHREALTIME
    shift
    "$@"
    timings+=("$(awk -v a="$start" -v b="$EPOCHREALTIME" -v n="$name" 'BEGIN { printf "%s %.2f min", n, (b - a) / 60 }')")
}

summary() {
    local line
    for line in "${timings[@]}"; do say "$line"; done
    say "all $(awk -v s="$SECONDS" 'BEGIN { printf "%.2f min", s / 60 }')"
}

install_packages() {
    local missing=() package
    for package in "${packages[@]}"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    ((EUID == 0)) || unavailable "as root, please: apt-get install --no-install-recommends ${missing[*]}"
    say "installing ${missing[*]}"
    local apt=(env DEBIAN_FRONTEND=noninteractive timeout --kill-after=10 900 apt-get -qq -o Acquire::Retries=3)
    {
        "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
    } </dev/null >"$cache/apt.log" 2>&1 || unavailable "apt-get failed: $(grep -m 1 '^E:' "$cache/apt.log" || true) ($cache/apt.log)"
}

# Flags as cargo takes those that may hold spaces. Not in a config file, as a real Windows has another sysroot.
encoded() {
    local IFS=$'\x1f'
    printf '%s' "$*"
}

# Debian's cargo and rustc, whatever stands first on PATH or in the environment: another rustc would not match the std.
debian_rust() {
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc
    unset RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC CARGO_BUILD_TARGET RUSTUP_TOOLCHAIN
    flags=${CARGO_ENCODED_RUSTFLAGS-$(encoded ${RUSTFLAGS-})}
    doc_flags=${CARGO_ENCODED_RUSTDOCFLAGS-$(encoded ${RUSTDOCFLAGS-})}
    unset RUSTFLAGS RUSTDOCFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_ENCODED_RUSTDOCFLAGS
}

# Everything in the cache carries the version and the recipe that made it, and counts only once its `done` is there:
# crates that were built with another std would not find their way to this one.
build_std() {
    sysroot=$cache/std-$(dpkg-query -W -f '${Version}' rustc-web)-$(declare -f build_std | cksum | cut -d ' ' -f 1)
    [[ ! -e $sysroot/done ]] || return 0
    say "building std for Windows into $sysroot"
    rm -rf -- "$sysroot"
    local dummy=$sysroot/dummy lib=$sysroot/lib/rustlib/$target/lib
    local deps=$dummy/target/$target/release/deps
    mkdir -p -- "$dummy/src" "$lib"
    printf '[package]\nname = "dummy"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n' >"$dummy/Cargo.toml"
    : >"$dummy/src/lib.rs"
    # A program that aborts takes panic_abort only if that aborts too, and cargo has no word for it.
    cat >"$dummy/rustc" <<'END'
#!/bin/sh
case " $* " in *" --crate-name panic_abort "*) set -- "$@" -Cpanic=abort ;; esac
exec "$@"
END
    chmod +x -- "$dummy/rustc"
    (
        cd -- "$dummy"
        # Bitcode is for the dist profile's LTO; the linker leaves empty files in TMPDIR.
        export RUSTC_BOOTSTRAP=1 CARGO_ENCODED_RUSTFLAGS=-Cembed-bitcode=yes TMPDIR=$dummy RUSTC_WRAPPER=$dummy/rustc
        /usr/bin/cargo build --quiet --release --target "$target" --target-dir target \
            -Zbuild-std=std,panic_unwind,panic_abort,proc_macro,test </dev/null
    )
    rm -f -- "$deps"/libdummy-*
    cp -- "$deps"/*.rlib "$deps"/*.rmeta "$lib/"
    ln -s "$(/usr/bin/rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu" "$sysroot/lib/rustlib/"
    rm -rf -- "$dummy"
    touch -- "$sysroot/done"
}

wine_server() { # -k: ends all that runs in the prefix; -w: waits for it to end
    WINEPREFIX=$prefix/drive TMPDIR=$prefix/tmp timeout --kill-after=5 60 /usr/lib/wine/wineserver64 "$1"
}

# A prefix of its own, with a home folder of its own: Wine links its Documents, Desktop and so on to there.
build_prefix() {
    local version recipe
    version=$(dpkg-query -W -f '${Version}' wine64)
    recipe=$({ declare -f build_prefix && cat -- "$here/processprng.c"; } | cksum | cut -d ' ' -f 1)
    prefix=$cache/wine-${version//[^A-Za-z0-9.]/-}-$recipe
    wine=$prefix/wine
    [[ ! -e $prefix/done ]] || return 0
    say "making a Wine prefix in $prefix"
    rm -rf -- "$prefix"
    mkdir -p -- "$prefix/home" "$prefix/tmp" "$prefix/drive"
    cat >"$wine" <<'END'
#!/bin/sh
# With LC_ALL=C names that are not ASCII fail. Debian's Wine finds its server by TMPDIR: with another one there would be
# two of them for one registry.
prefix=$(dirname -- "$0")
unset DISPLAY WAYLAND_DISPLAY
export WINEPREFIX="$prefix/drive" HOME="$prefix/home" TMPDIR="$prefix/tmp" WINEARCH=win64 WINEDEBUG="${WINEDEBUG:--all}" LC_ALL=C.UTF-8
export WINEDLLOVERRIDES='mscoree,mshtml=;winemenubuilder.exe=d'
exec /usr/lib/wine/wine64 "$@"
END
    chmod +x -- "$wine"
    {
        # A server that still runs for a folder which was deleted would take the new one, of the same inode, for its own.
        wine_server -k
        # The default is Windows 7. The registry is on disk once the server has gone.
        timeout 300 "$wine" wineboot -i && timeout 60 "$wine" winecfg -v win10 && wine_server -w &&
            grep -q '^"TEMP"' "$prefix/drive/user.reg"
    } </dev/null >"$cache/wine.log" 2>&1 {lock}>&- || die "making the prefix failed: see $cache/wine.log"
    x86_64-w64-mingw32-gcc -O2 -shared -o "$prefix/drive/drive_c/windows/system32/bcryptprimitives.dll" \
        "$here/processprng.c" -ladvapi32
    touch -- "$prefix/done"
}

fetch_crates() {
    (cd -- "$root" && timeout 900 /usr/bin/cargo fetch --quiet --target "$target" --target x86_64-unknown-linux-gnu </dev/null) ||
        unavailable "no crates: cargo fetch failed"
}

prepare() {
    setting_up=1
    command -v dpkg-query >/dev/null || unavailable "needs Debian 12: no dpkg-query here"
    mkdir -p -- "$cache"
    cache=$(cd -- "$cache" && pwd -P)
    exec {lock}>"$cache/lock"
    flock -n "$lock" || {
        say "waiting for another run to finish with $cache"
        flock "$lock"
    }
    timed packages install_packages
    debian_rust
    timed std build_std
    timed prefix build_prefix
    exec {lock}>&-
    [[ $mode != test ]] || timed crates fetch_crates
    setting_up=

    export CARGO_ENCODED_RUSTFLAGS="--sysroot=$sysroot${flags:+$'\x1f'$flags}"
    export CARGO_ENCODED_RUSTDOCFLAGS="--sysroot=$sysroot${doc_flags:+$'\x1f'$doc_flags}"
    target_dir=$(realpath -m -- "${CARGO_TARGET_DIR:-$root/target}")/windows
    unset CARGO_TARGET_DIR
    export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG-false} # a panic tells its line without it, and all links faster
}

limited=() # the words before cargo's
run_cargo() { # SUBCOMMAND ARGS…
    local command=$1 program=/usr/bin/cargo temp status=0
    shift
    [[ $command != clippy ]] || program=/usr/bin/cargo-clippy # cargo would take the one of CARGO_HOME
    mkdir -p -- "$target_dir"
    temp=$(mktemp -d -- "$target_dir/linker.XXXXXX") # the linker leaves empty files behind
    (
        cd -- "$root"
        TMPDIR=$temp exec "${limited[@]}" "$program" "$command" --config "target.$target.runner = ['$wine']" --target "$target" \
            --target-dir "$target_dir" "$@"
    ) || status=$?
    rm -rf -- "$temp"
    return "$status"
}

build_exe() {
    local profile=debug argument before=
    for argument in "$@"; do
        [[ $argument != --release && $argument != -r ]] || profile=release
        [[ $argument != --profile=* ]] || profile=${argument#--profile=}
        [[ $before != --profile ]] || profile=$argument
        before=$argument
    done
    [[ $profile != dev ]] || profile=debug
    run_cargo build --bin jlfix "$@" </dev/null >&2
    exe=$target_dir/$target/$profile/jlfix.exe
}

# Tests use the prefix' live folders and registry: one run at a time, and no other program meanwhile. What Wine starts
# must not inherit the lock, as its server stays a while.
take_prefix() { # exclusive | shared
    exec {prefix_lock}>"$prefix/lock"
    flock -n "--$1" "$prefix_lock" || {
        say "waiting for another run in $prefix"
        flock "--$1" "$prefix_lock"
    }
}

# Nothing that was started here outlives this script; what others run in the prefix stays.
leave() {
    local status=$?
    trap - EXIT
    # One that is being made is nobody else's.
    [[ -z ${setting_up-} || -z ${prefix-} ]] || wine_server -k >/dev/null 2>&1 || true
    if [[ -n ${prefix_lock-} ]] && flock -n --exclusive "$prefix_lock"; then
        wine_server -k {prefix_lock}>&- >/dev/null 2>&1 || true
    fi
    ((status == 0 || status == 69)) || [[ -z ${setting_up-} ]] || unavailable "it could not be set up (status $status)"
    exit "$status"
}
trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# A start of a Windows program takes half a second, a tenth of that while another keeps Wine's services running.
# The one that does waits for the end of a pipe, so it goes when this script goes, however that happens.
keep_wine_up() {
    exec {keep}> >(exec "$wine" cmd /d /c 'set /p _=' >/dev/null 2>&1 {prefix_lock}>&-)
}

# In the foreground, so that an interrupt from the keyboard reaches cargo. What cargo leaves behind when it is ended holds
# the log open, so it has to go before the log can end.
tests_under_wine() {
    local status=0
    limited=(timeout --foreground --kill-after=30 "${JLFIX_WINDOWS_TIMEOUT:-20m}")
    run_cargo test "$@" </dev/null 2>&1 || status=$?
    wine_server -k >/dev/null 2>&1 || true
    ((status != 124 && status != 137)) || printf '== the tests did not end within %s\n' "${JLFIX_WINDOWS_TIMEOUT:-20m}"
    return "$status"
}

run_tests() {
    local fail_fast=(--no-fail-fast)
    [[ " $* " != *" --no-fail-fast "* ]] || fail_fast=()
    # Skips of this job are checked here, whatever job runs this script.
    export JLFIX_SKIPS=$target_dir/skips.txt
    : >"$JLFIX_SKIPS"
    keep_wine_up
    tests_status=0
    tests_under_wine "${fail_fast[@]}" "$@" {keep}>&- {prefix_lock}>&- | tee "$target_dir/tests.log" || tests_status=$?
    exec {keep}>&-
    awk '/^test result:/ { passed += $4; failed += $6; ignored += $8; programs++ }
        END { printf "== under Wine: %d passed, %d failed, %d ignored, in %d test programs", passed, failed, ignored, programs }' \
        "$target_dir/tests.log"
    if ((tests_status)); then echo "; cargo test failed ($tests_status)"; else echo; fi
    bash "$root/tests/skips/check.sh" windows "$JLFIX_SKIPS" || ((tests_status)) || tests_status=1
}

run_program() { # PROGRAM ARGS…
    take_prefix shared
    "$wine" "$@" {prefix_lock}>&-
}

main() {
    case $mode in
    test)
        prepare
        # A path that a Windows program takes for absolute, whatever its current drive.
        corpus=${JLFIX_CORPUS:-$root/../shared/corpus}
        [[ ! -d $corpus ]] || export JLFIX_CORPUS="Z:$(cd -- "$corpus" && pwd -P)"
        timed build run_cargo test --no-run "$@" </dev/null
        timed waiting take_prefix exclusive
        timed tests run_tests "$@"
        summary
        exit "$tests_status"
        ;;
    check | clippy)
        prepare
        timed "$mode" run_cargo "$mode" --all-targets "$@" </dev/null
        summary
        ;;
    build)
        prepare
        timed build build_exe "$@"
        summary
        printf '%s\n' "$exe"
        ;;
    exe)
        prepare
        build_exe --quiet
        run_program "$exe" "$@"
        ;;
    wine)
        (($#)) || die "--wine needs a program"
        prepare
        run_program "$@"
        ;;
    cc)
        prepare
        x86_64-w64-mingw32-gcc "$@"
        ;;
    esac
}

main "$@"; exit # on one line, so that an edit meanwhile does no harm
