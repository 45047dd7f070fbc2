#!/usr/bin/env bash
# Lists what tests have skipped, and fails if the job may not skip it.
#
#   tests/skips/check.sh JOB FILE
#
# FILE has a line per skip: the test, a tab, and what it lacks (tests write it if JLFIX_SKIPS names it). tests/skips/JOB.txt has
# a line per reason that the job allows: a pattern as in `case`, then ` -- ` and why it is allowed.
set -euo pipefail
job=$1 skips=$2
allowed=$(dirname "${BASH_SOURCE[0]}")/$job.txt

patterns=()
while IFS= read -r line; do
  [[ -z $line || $line == '#'* ]] || patterns+=("${line%% -- *}")
done <"$allowed"

count=0 refused=0
if [ -s "$skips" ]; then
  while IFS=$'\t' read -r test why; do
    count=$((count + 1))
    verdict='NOT ALLOWED'
    for pattern in "${patterns[@]}"; do
      # shellcheck disable=SC2053
      if [[ $why == $pattern ]]; then verdict=allowed; fi
    done
    [ "$verdict" = allowed ] || refused=$((refused + 1))
    printf '%s: %s: %s\n' "$verdict" "$test" "$why"
  done < <(tr -d '\r' <"$skips" | sort -u)
fi
printf '%d skipped, %d of them not allowed by %s\n' "$count" "$refused" "tests/skips/$job.txt"
[ "$refused" = 0 ]
