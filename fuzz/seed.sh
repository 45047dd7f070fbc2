#!/bin/sh
# Makes the seeds of every target from samples/, and from the folders that are named.
set -eu
cd "$(dirname "$0")"
cargo +nightly run --quiet --example seed -- corpus ../samples "$@"
