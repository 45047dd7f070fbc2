#!/usr/bin/env bash
# Other readers open what jlfix prunes: libgsf, 7-Zip and olefile go through every stream of each pruned list.
#
#   tests/outside.sh          with the debug binary, or the one that JLFIX names
#
# The lists are the healthy samples, and the corpus where it is (JLFIX_CORPUS, or ../shared/corpus beside the checkout).
# A reader that is not installed is left out, and that is told.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jlfix=${JLFIX:-$project/target/debug/jlfix}
corpus=${JLFIX_CORPUS:-$project/../shared/corpus}
[ -x "$jlfix" ] || (cd "$project" && cargo build --quiet --locked)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export JLFIX_BACKUP_DIR=$work/store

# A folder for each list and number kept: many lists have the same name.
count=0
while IFS= read -r -d '' list; do
  for keep in 0 1 3 50; do
    count=$((count + 1))
    mkdir -p "$work/keep-$keep/$count"
    cp "$list" "$work/keep-$keep/$count/"
  done
done < <(
  find "$project/samples" -name '*.automaticDestinations-ms' -not -path '*/damaged/*' -print0
  if [ -d "$corpus/jumplists" ]; then find "$corpus/jumplists" -name '*.automaticDestinations-ms' -print0; fi
)
for keep in 0 1 3 50; do
  "$jlfix" prune --keep "$keep" "$work/keep-$keep" >"$work/told" || { cat "$work/told"; exit 1; }
done
mapfile -d '' -t pruned < <(find "$work" -path '*/keep-*' -name '*.automaticDestinations-ms' -print0)
echo "${#pruned[@]} files after prune --keep 0, 1, 3 and 50"

failed=0
# skip WHY: says what is left out, and notes it where .ci/run looks for it.
skip() {
  echo "skipped: $1"
  [ -z "${JLFIX_SKIPS-}" ] || printf 'tests/outside.sh\t%s\n' "$1" >>"$JLFIX_SKIPS"
}

# with NAME COMMAND...: runs the command with each file after its words. A warning is a failure: gsf goes on after one.
with() {
  local name=$1 opened=0 list
  shift
  for list in "${pruned[@]}"; do
    if "$@" "$list" >"$work/out" 2>&1 && ! grep -aqE 'WARNING|CRITICAL' "$work/out"; then
      opened=$((opened + 1))
    else
      failed=1
      printf '%s cannot open %s:\n' "$name" "$list"
      grep -avx '' "$work/out" | head -n 5
    fi
  done
  echo "$name opened $opened of ${#pruned[@]}"
}

# Lists the streams, and reads each to its end.
gsf_all() {
  gsf list "$1"
  mapfile -t names < <(gsf list "$1" | awk '$1 == "f" && $NF != "*root*" { print $NF }')
  [ "${#names[@]}" = 0 ] || gsf cat "$1" "${names[@]}" >"$work/streams"
}

if command -v gsf >/dev/null; then with "gsf list and cat" gsf_all; else skip "no gsf (libgsf-bin)"; fi
if command -v 7z >/dev/null; then
  with "7z l" 7z l
  with "7z t" 7z t
else
  skip "no 7z (7zip)"
fi
if python3 -c 'import olefile' 2>/dev/null; then
  cat >"$work/streams.py" <<'PY'
"""Opens each file strictly and reads every stream; a line a file that does not read."""
import sys
import olefile

opened = 0
for path in sys.argv[1:]:
    try:
        with olefile.OleFileIO(path, raise_defects=olefile.DEFECT_INCORRECT) as ole:
            for name in ole.listdir():
                if len(ole.openstream(name).read()) != ole.get_size(name):
                    raise OSError("stream %s is cut short" % name)
            if ole.parsing_issues:
                raise OSError(ole.parsing_issues)
        opened += 1
    except Exception as error:
        print("olefile cannot open %s: %s" % (path, error))
print("olefile opened %d of %d" % (opened, len(sys.argv) - 1))
sys.exit(opened != len(sys.argv) - 1)
PY
  python3 "$work/streams.py" "${pruned[@]}" || failed=1
else
  skip "no olefile for python3"
fi
exit "$failed"
