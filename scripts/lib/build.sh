# For scripts that run the programs: builds canopyd and canopy below build/release.

# build_programs NAME: what goes wrong is in build/NAME.log, and printed.
build_programs() {
    local log=build/$1.log quiet=(-- --quiet)
    # Progress is for people; a log wants only what went wrong.
    if [[ -t 2 ]]; then quiet=(); fi
    mkdir -p build
    [[ -x build/release/bin/canopyd ]] || echo "building: the first time takes some minutes" >&2
    cmake --preset release >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    cmake --build build/release -j "$(nproc)" --target canopyd canopy "${quiet[@]}" >&2
}
