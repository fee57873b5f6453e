#!/usr/bin/env bash
# A Prefect server, our deployments and one worker on this machine, until Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/.."
BIN="$(cd "${BIN:-.venv/bin}" && pwd)"
export PATH="$BIN:$PATH"
export PREFECT_API_URL="http://127.0.0.1:${PORT:-4200}/api"
export PREFECT_SERVER_UI_API_URL="$PREFECT_API_URL"
export PREFECT_SERVER_ANALYTICS_ENABLED=false
state="$(python -c 'from nightwatch_core.settings import settings; print(settings().state)')"
log="$state/ui.log"
mark="${PREFECT_HOME:-$HOME/.prefect}/nightwatch-server" # by which `nightwatch night` finds the server

pids=()
stop() { # the worker first: it says goodbye to the server
  trap - EXIT INT TERM
  [ ${#pids[@]} -eq 0 ] || rm -f "$mark"
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill "${pids[i]}" 2>/dev/null || true
    for _ in $(seq 20); do kill -0 "${pids[i]}" 2>/dev/null || break; sleep 0.5; done
    kill -9 "${pids[i]}" 2>/dev/null || true
  done
  wait 2>/dev/null || true
}
trap stop EXIT INT TERM

get() { # the status of an answer; 000 where nobody answers
  curl --silent --noproxy '*' --max-time 3 --output /dev/null --write-out '%{http_code}' "$1" || true
}
if [ "$(get "$PREFECT_API_URL/work_pools/nightwatch")" = 200 ]; then
  echo "NightWatch's server answers on port ${PORT:-4200} already: open http://127.0.0.1:${PORT:-4200}" >&2
  exit 1
elif [ "$(get "http://127.0.0.1:${PORT:-4200}/")" != 000 ]; then
  echo "Another program answers on port ${PORT:-4200}; it is left alone. Choose a port: make ui PORT=4300" >&2
  exit 1
fi
mkdir -p "$state"
prefect server start --host 127.0.0.1 --port "${PORT:-4200}" --log-level WARNING >"$log" 2>&1 &
pids+=($!)
for _ in $(seq 120); do
  [ "$(get "$PREFECT_API_URL/health")" = 200 ] && break
  kill -0 "${pids[0]}" 2>/dev/null || { echo "The Prefect server did not start: see $log" >&2; exit 1; }
  sleep 1
done
nightwatch deploy >>"$log" 2>&1 || { tail -n 5 "$log" >&2; exit 1; }
prefect worker start --pool nightwatch --name "nightwatch-$(hostname)" >>"$log" 2>&1 &
pids+=($!)
echo "$PREFECT_API_URL" >"$mark"
registered="$(sed -n 's/^Registered at [^ ]*: //p' "$log" | tail -n 1)"
run="PREFECT_API_URL=$PREFECT_API_URL $BIN/prefect deployment run"
one="$(grep -o 'one-error/[^,]*' <<<"$registered")"
cat <<TEXT
NightWatch's Prefect UI:  http://127.0.0.1:${PORT:-4200}
Registered:               $registered
Server and worker log to: $log
Run one night now:        $run ${registered%%,*}
Analyse one error again:  $run $one --param error=v1:…
Another application:      nightwatch --config FILE deploy
Ctrl-C stops server and worker.
TEXT
wait -n "${pids[@]}"
