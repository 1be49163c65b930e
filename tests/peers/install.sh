#!/bin/sh
# Installs the servers that others wrote into virtual environments of their own below DIR:
#     sh tests/peers/install.sh DIR
#     HOLODECK_PEERS=DIR python -m pytest tests/peers
# They are the tests' counterparts, never dependencies of the package.
set -eu
dir=${1:?usage: install.sh DIR}
python=${PYTHON:-python3}
for peer in litellm ollama-proxy; do
    [ -x "$dir/$peer/bin/python" ] || "$python" -m venv "$dir/$peer"
done
"$dir/litellm/bin/python" -m pip install --quiet 'litellm[proxy]>=1.100,<2'
"$dir/ollama-proxy/bin/python" -m pip install --quiet 'ollama-proxy-plus==0.1.0'
