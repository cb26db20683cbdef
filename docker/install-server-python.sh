#!/bin/bash
# Installs the packages that in-database model calls import into a folder of their own, for the Python that PL/Python
# is linked with, which is often not the Python on the PATH. The server finds them through AGENT_MEMORY_PYTHONPATH.
#
#   install-server-python.sh DIR [VERSION]   VERSION of PostgreSQL, the newest installed unless given
#
# With LOCAL_MODELS=1 also the packages that models of provider local need (200 MB). REQUIREMENTS names a file of pinned
# versions with hashes (docker/requirements/) to install instead.
#
# The pip of PYTHON (python3) does the work. Tiktoken's encodings go to DIR/tiktoken_encodings, because nothing is ever
# downloaded within a server: from TIKTOKEN_CACHE_DIR where that is set, else from the network. They may be missing.
set -euo pipefail

target=${1:?a folder to install into is needed}
version=${2:-$(find /usr/lib/postgresql -name plpython3.so -path '*/lib/*' 2>/dev/null | cut -d/ -f5 | sort -rn | head -n 1)}
library=/usr/lib/postgresql/${version:-none}/lib/plpython3.so
if [ ! -e "$library" ]; then
    echo "install-server-python: there is no PL/Python here; as root: docker/install-postgres.sh" >&2
    exit 1
fi
interpreter=/usr/bin/$(ldd "$library" | sed -n 's/.*lib\(python3\.[0-9]*\)\.so.*=>.*/\1/p')
if [ ! -x "$interpreter" ]; then
    echo "install-server-python: $interpreter is missing; as root: apt-get install ${interpreter##*/}" >&2
    exit 1
fi

folder=$(dirname "$0")/../plpython
requirements=(--requirement "$folder/requirements.txt")
if [ -n "${REQUIREMENTS:-}" ]; then
    requirements=(--require-hashes --requirement "$REQUIREMENTS")
elif [ "${LOCAL_MODELS:-0}" = 1 ]; then
    requirements+=(--requirement "$folder/requirements-local.txt")
fi

rm -rf "$target"
"${PYTHON:-python3}" -m pip --python "$interpreter" --disable-pip-version-check install --quiet --root-user-action ignore \
    --target "$target" "${requirements[@]}"

encodings=$target/tiktoken_encodings
mkdir "$encodings"
if [ -d "${TIKTOKEN_CACHE_DIR:-}" ]; then
    cp --recursive "$TIKTOKEN_CACHE_DIR/." "$encodings"
fi
# Tiktoken takes what is there and downloads the rest.
if ! PYTHONPATH=$target TIKTOKEN_CACHE_DIR=$encodings timeout 30 "$interpreter" -c '
import tiktoken
for name in ("o200k_base", "cl100k_base"):
    tiktoken.get_encoding(name)
' 2>/dev/null; then
    echo "install-server-python: tiktoken's encodings cannot be had; the server will estimate tokens" >&2
fi
