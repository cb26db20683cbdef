#!/bin/bash
# Installs a PostgreSQL server with PL/Python, pgvector, pg_cron and plpgsql_check, on Debian 12 and 13 and wherever
# the PostgreSQL project's own apt repository is configured. The Dockerfile and the Makefile both use it.
#
#   install-postgres.sh [VERSION]                        as root; VERSION is the newest that apt offers unless given
#   install-postgres.sh --check [VERSION]                only says what is missing, and exits with 1 when anything is
#   install-postgres.sh --build-pgvector DIR [VERSION]   only builds pgvector from source and puts its files below DIR
#
# The machine's apt sources stay as they are; no database cluster is created or started.
set -euo pipefail

minimum_version=15
extensions=(vector plpython3u pg_cron plpgsql_check)

say() { printf 'install-postgres: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

work=$(mktemp -d)
restore= # the configuration file that $work holds the original of
clean_up() {
    [ -z "$restore" ] || cp -p "$work/createcluster.conf" "$restore"
    rm -rf "$work"
}
trap clean_up EXIT

installed_versions() { # newest first
    find /usr/lib/postgresql -mindepth 3 -maxdepth 3 -path '*/bin/postgres' 2>/dev/null | cut -d/ -f5 | sort -rn
}

missing_from() { # what the installed server of version $1 lacks, one per line
    [ -x "/usr/lib/postgresql/$1/bin/postgres" ] || echo server
    for extension in "${extensions[@]}"; do
        [ -e "/usr/share/postgresql/$1/extension/$extension.control" ] || echo "$extension"
    done
}

check() { # succeeds when version $1, or any installed version, has everything
    local versions version missing
    mapfile -t versions < <(if [ -n "${1:-}" ]; then echo "$1"; else installed_versions; fi)
    for version in "${versions[@]}"; do
        missing=$(missing_from "$version" | paste -sd ' ')
        if [ -z "$missing" ] && [ "$version" -ge "$minimum_version" ]; then
            return 0
        fi
        say "PostgreSQL $version: missing ${missing:-nothing, but $minimum_version or newer is needed}"
    done
    [ "${#versions[@]}" -gt 0 ] || say "no PostgreSQL server is installed"
    return 1
}

apt_has() { apt-cache show -- "$@" >/dev/null 2>&1; }

packages_for() {
    echo "postgresql-$1 postgresql-plpython3-$1 postgresql-$1-cron postgresql-$1-plpgsql-check python3"
}

newest_packaged_version() {
    local version packages
    for version in $(apt-cache --names-only search '^postgresql-plpython3-[0-9]+$' | sed 's/ .*//; s/.*-//' | sort -rn); do
        read -ra packages < <(packages_for "$version")
        if [ "$version" -ge "$minimum_version" ] && apt_has "${packages[@]}"; then
            echo "$version"
            return
        fi
    done
    die "apt offers no PostgreSQL $minimum_version or newer with PL/Python, pg_cron and plpgsql_check"
}

debian_mirror() { # the URI that this machine itself uses for the Debian archive
    # shellcheck disable=SC2016  # apt expands it
    apt-get indextargets --format '$(REPO_URI)' \
        'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 'Component: main' | head -n 1
}

# Debian 12 has no pgvector package: Debian 13's source package is built with PGXS against the server given.
# Its deb-src entry lives in a folder of its own, so that the machine's package lists do not change.
build_pgvector() { # build_pgvector VERSION DESTDIR
    local version=$1 destdir=$2 mirror apt
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || die "there is no pgvector package for PostgreSQL $version, and no Debian archive to take its source from"
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/pgvector"
    cat >"$work/debian-13.sources" <<SOURCES
Types: deb-src
URIs: $mirror
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
    apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/debian-13.sources" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$work" && "${apt[@]}" source --download-only pgvector)
    tar -xf "$work"/pgvector_*.orig.tar.gz --strip-components=1 -C "$work/pgvector"
    # Empty OPTFLAGS: the default compiles for this very processor.
    make -s -C "$work/pgvector" OPTFLAGS= PG_CONFIG="/usr/lib/postgresql/$version/bin/pg_config" \
        DESTDIR="$destdir" install
}

# Debian's package would create and start a cluster "main" with its first installation of a version.
without_new_cluster() { # without_new_cluster COMMAND…
    local conf=/etc/postgresql-common/createcluster.conf
    cp -p "$conf" "$work/createcluster.conf"
    restore=$conf
    echo 'create_main_cluster = false' >>"$conf"
    "$@"
    cp -p "$work/createcluster.conf" "$conf"
    restore=
}

install() { # install [VERSION]
    local version=${1:-} packages
    if check "$version" 2>/dev/null; then
        say "everything is installed already"
        return
    fi
    [ "$(id -u)" = 0 ] || die "installing packages needs root"
    export DEBIAN_FRONTEND=noninteractive
    local install=(apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends)
    apt-get -qq update
    version=${version:-$(newest_packaged_version)}
    [ "$version" -ge "$minimum_version" ] || die "PostgreSQL $minimum_version or newer is needed"
    read -ra packages < <(packages_for "$version")
    if apt_has "postgresql-$version-pgvector"; then
        packages+=("postgresql-$version-pgvector")
    elif [ ! -e "/usr/share/postgresql/$version/extension/vector.control" ]; then
        packages+=("postgresql-server-dev-$version" build-essential ca-certificates debian-archive-keyring)
    fi
    say "installing ${packages[*]}"
    "${install[@]}" postgresql-common >/dev/null
    without_new_cluster "${install[@]}" "${packages[@]}" >/dev/null
    if [ ! -e "/usr/share/postgresql/$version/extension/vector.control" ]; then
        say "building pgvector for PostgreSQL $version"
        build_pgvector "$version" ""
    fi
    check "$version"
    say "PostgreSQL $version is ready"
}

case ${1:-} in
    --check) check "${2:-}" ;;
    --build-pgvector)
        [ -n "${2:-}" ] || die "--build-pgvector needs a folder"
        version=${3:-$(installed_versions | head -n 1)}
        if [ ! -e "/usr/lib/postgresql/$version/lib/pgxs/src/makefiles/pgxs.mk" ]; then # not there where apt has pgvector
            DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
                "postgresql-server-dev-$version" build-essential >/dev/null
        fi
        build_pgvector "$version" "$(realpath "$2")"
        ;;
    -*) die "unknown option $1" ;;
    *) install "${1:-}" ;;
esac
