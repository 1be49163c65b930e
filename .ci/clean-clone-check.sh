#!/bin/sh
# Both README commands in a fresh clone of HEAD, with no key in the environment.
set -eu
here=$(git rev-parse --show-toplevel)
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
git clone --quiet "$here" "$there/holodeck"
cd "$there/holodeck"
unset OPENAI_API_KEY AZURE_OPENAI_API_KEY OPENAI_BASE_URL || true
make demo
make test
