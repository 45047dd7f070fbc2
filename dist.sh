#!/usr/bin/env bash
# Makes what a release offers for download, in dist/: a zip for Windows, a tarball for Linux, and SHA256SUMS. The same
# commit and the same tools give the same bytes: times are the commit's, names sorted, owners fixed, no path of the
# machine in a program. Windows is built as tests/windows/run.sh does it; see there for what that needs.
set -euo pipefail

die() {
    printf 'dist.sh: %s\n' "$*" >&2
    exit 1
}

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
cd -- "$root"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
target_dir=$(realpath -m -- "${CARGO_TARGET_DIR:-target}")/dist
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} CARGO_TARGET_DIR=$target_dir TZ=UTC LC_ALL=C
documents=(README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT)

for document in "${documents[@]}"; do [[ -f $document ]] || die "$document is missing"; done
[[ -z $(git status --porcelain) ]] || printf 'dist.sh: the working tree has changes; this is no release\n' >&2
for tool in zip gzip tar sha256sum; do
    command -v "$tool" >/dev/null || die "needs $tool (apt-get install $tool)"
done

encode() { # FLAG…: as cargo takes flags that may hold spaces
    local IFS=$'\x1f'
    printf '%s' "$*"
}
remap=("--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo" "--remap-path-prefix=$root=jlfix")

CARGO_ENCODED_RUSTFLAGS=$(encode "${remap[@]}") cargo build --profile dist --locked --bin jlfix
linux_exe=$target_dir/dist/jlfix
windows_exe=$(CARGO_ENCODED_RUSTFLAGS=$(encode "${remap[@]}" -Clink-arg=-Wl,--no-insert-timestamp) \
    tests/windows/run.sh --build --profile dist --locked)

# No DLL but the system's, as Windows 10 has them.
system='advapi32|bcrypt|bcryptprimitives|combase|crypt32|kernel32|msvcrt|ntdll|ole32|oleaut32|rpcrt4|secur32|shell32|shlwapi|user32|userenv|ws2_32|api-ms-win-[a-z0-9-]*'
imports=$(x86_64-w64-mingw32-objdump -p "$windows_exe" | sed -n 's/^[[:space:]]*DLL Name: //p' | sort -fu)
[[ -n $imports ]] || die "$windows_exe: no imports found"
! foreign=$(grep -viE "^($system)\.dll$" <<<"$imports") || die "jlfix.exe needs $(tr '\n' ' ' <<<"$foreign")"
size=$(stat -c %s "$windows_exe")
((size < 5000000)) || die "jlfix.exe has $size bytes, need less than 5,000,000"

for said in "$("$linux_exe" --version)" "$(tests/windows/run.sh --wine "$windows_exe" --version 2>/dev/null | tr -d '\r')"; do
    [[ $said == "jlfix $version" ]] || die "--version says '$said', need 'jlfix $version'"
done

umask 022
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

fill() { # FOLDER PROGRAM NAME: what both archives hold
    local folder=$work/$1 program=$2 name=$3
    mkdir -p -- "$folder/completions"
    install -m 755 -- "$program" "$folder/$name"
    install -m 644 -- "${documents[@]}" "$folder/"
}

windows=jlfix-$version-x86_64-windows
linux=jlfix-$version-x86_64-linux
fill "$windows" "$windows_exe" jlfix.exe
"$linux_exe" completions powershell >"$work/$windows/completions/_jlfix.ps1"

fill "$linux" "$linux_exe" jlfix
"$linux_exe" completions bash >"$work/$linux/completions/jlfix.bash"
"$linux_exe" completions zsh >"$work/$linux/completions/_jlfix"
"$linux_exe" completions fish >"$work/$linux/completions/jlfix.fish"
mkdir -- "$work/$linux/man"
"$linux_exe" man >"$work/$linux/man/jlfix.1"
# The pages that the first one names.
for command in $(sed -n 's/^jlfix\\-\([a-z]*\)(1)$/\1/p' "$work/$linux/man/jlfix.1"); do
    [[ $command == help ]] || "$linux_exe" man "$command" >"$work/$linux/man/jlfix-$command.1"
done
find "$work" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +

rm -rf -- dist
mkdir dist
(cd -- "$work" && find "$windows" -type f | sort | zip -q -9 -X "$root/dist/$windows.zip" -@)
(cd -- "$work" && tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    -cf - "$linux" | gzip -9n >"$root/dist/$linux.tar.gz")
cd dist
sha256sum "$linux.tar.gz" "$windows.zip" >SHA256SUMS
printf 'jlfix.exe: %s bytes, imports %s\n' "$size" "$(tr '\n' ' ' <<<"$imports")"
ls -l "$linux.tar.gz" "$windows.zip"
cat SHA256SUMS
