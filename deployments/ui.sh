#!/usr/bin/env bash
# A Prefect server, our deployments and one worker on this machine, until Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/.."
BIN="$(cd "${BIN:-.venv/bin}" && pwd)"
export PATH="$BIN:$PATH"
export PREFECT_API_URL="http://127.0.0.1:${PORT:-4200}/api"
export PREFECT_SERVER_UI_API_URL="$PREFECT_API_URL"
export PREFECT_SERVER_ANALYTICS_ENABLED=false
export NIGHTWATCH_CHECKOUT="$PWD"
state="$(python -c 'from nightwatch_core.settings import settings; print(settings().state)')"
export NIGHTWATCH_RESULTS="${NIGHTWATCH_RESULTS:-$state/results}"

pids=()
stop() { # the worker first: it says goodbye to the server
  trap - EXIT INT TERM
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill "${pids[i]}" 2>/dev/null || true
    for _ in $(seq 20); do kill -0 "${pids[i]}" 2>/dev/null || break; sleep 0.5; done
    kill -9 "${pids[i]}" 2>/dev/null || true
  done
  wait 2>/dev/null || true
}
trap stop EXIT INT TERM

answers() {
  python -c "import urllib.request; urllib.request.urlopen('$PREFECT_API_URL/health', timeout=2)" >/dev/null 2>&1
}
if answers; then
  echo "Another Prefect server answers on port ${PORT:-4200}: stop it, or choose a port with PORT=4300." >&2
  exit 1
fi
prefect server start --host 127.0.0.1 --port "${PORT:-4200}" --log-level WARNING >/dev/null &
pids+=($!)
for _ in $(seq 120); do
  answers && break
  kill -0 "${pids[0]}" 2>/dev/null || { echo "The Prefect server did not start; is port ${PORT:-4200} taken?" >&2; exit 1; }
  sleep 1
done

prefect work-pool create nightwatch --type process >/dev/null 2>&1 || true
deployed="$(prefect --no-prompt deploy --all --prefect-file deployments/prefect.yaml 2>&1)" ||
  { echo "$deployed" >&2; exit 1; }
prefect worker start --pool nightwatch --name "nightwatch-$(hostname)" &
pids+=($!)
echo
echo "NightWatch's Prefect UI: http://127.0.0.1:${PORT:-4200}   (Ctrl-C stops server and worker)"
echo "  prefect deployment run nightly/nightly --param max_errors=3     with PREFECT_API_URL=$PREFECT_API_URL"
wait -n "${pids[@]}"
