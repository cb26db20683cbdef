#!/bin/bash
# Writes docker/requirements/: the versions and hashes of all packages that the images install. Run "make locks".
set -euo pipefail
cd "$(dirname "$0")/.."

lock() { # NAME PYTHON ARGUMENT...
    "${UV:-uv}" pip compile --quiet --universal --no-annotate --no-emit-index-url --generate-hashes \
        --custom-compile-command "make locks" --python-version "$2" --output-file "docker/requirements/$1.txt" "${@:3}"
}

# The Python of the images, and the one that PL/Python of the image "database" is linked with.
echo hatchling | lock build 3.13 -
lock worker 3.13 --extra cli --extra worker --extra otel pyproject.toml
lock server 3.13 --extra server --extra mcp --extra otel --constraints docker/requirements/worker.txt pyproject.toml
lock database 3.11 plpython/requirements.txt
lock database-local 3.11 plpython/requirements.txt plpython/requirements-local.txt
