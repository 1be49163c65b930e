#!/bin/sh
# Both README commands in a fresh clone of HEAD, with no key in the environment.
set -eu
here=$(git rev-parse --show-toplevel)
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
chmod 755 "$there"  # tests search as another user, who must be able to read what is installed
git clone --quiet "$here" "$there/holodeck"
cd "$there/holodeck"
unset OPENAI_API_KEY AZURE_OPENAI_API_KEY OPENAI_BASE_URL || true
make demo
make test
