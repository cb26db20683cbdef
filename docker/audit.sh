#!/bin/bash
# Looks for known weaknesses of the packages that the images install. Ends with status 1 if there are any, and with 0 and
# a line that says so where the list of advisories cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

found=0
for file in docker/requirements/*.txt; do
    report=$(mktemp)
    if timeout 120 "${PIP_AUDIT:-pip-audit}" --disable-pip --require-hashes --progress-spinner off --timeout 15 \
        --requirement "$file" --format json --output "$report" 2>"$report.log"; then
        echo "audit: nothing known against $file"
    elif [ -s "$report" ]; then # a report is written only when all advisories were read
        found=1
        echo "audit: $file" && cat "$report.log" "$report"
    else
        echo "audit: skipped, the advisories cannot be reached: $(tail -n 1 "$report.log")"
        exit 0
    fi
    rm -f "$report" "$report.log"
done
exit $found
