#!/bin/sh
# Fills the disk of a server and checks that it loses no data. Usage: full-disk.sh tmpfs | ulimit
#
# With `tmpfs`, the data directory is on a small file system (requires root); with `ulimit`, the size of the server's files is
# limited. Sends PUTs until the response is 507, and checks that reads still succeed. Then makes room, and checks that PUTs
# succeed again, and that all acknowledged data exists after a kill and a new start. Requires curl. COMMAND starts the server
# (default: node dist/server.js). Exit status: 0 for success, 77 if it was skipped, 1 for a failure.
set -u
kind=${1:-tmpfs}
command=${COMMAND:-node $(dirname "$0")/../dist/server.js}
work=$(mktemp -d)
disk=$work/disk
server=
mkdir -m 700 "$disk"

clean() {
  [ -z "$server" ] || kill -9 "$server" 2>/dev/null
  wait 2>/dev/null
  mountpoint -q "$disk" && umount "$disk"
  rm -rf "$work"
}
trap clean EXIT
fail() { echo "failed: $*" >&2; sed 's/^/  server: /' "$work/errors" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

command -v curl >/dev/null || skip 'curl is not installed'
if [ "$kind" = tmpfs ]; then
  [ "$(id -u)" = 0 ] || skip 'only root can mount a file system'
  mount -t tmpfs -o size=2m,mode=700 tmpfs "$disk" 2>/dev/null || skip 'mount failed'
fi

cat >"$work/config.json" <<'JSON'
{ "users": { "ann": { "secret": "s", "password": "pw" } } }
JSON
chmod 600 "$work/config.json"

# start [BLOCKS]: starts a server, and limits the size of its files to BLOCKS blocks of 512 bytes.
start() {
  : >"$work/ready"
  (
    [ -z "${1:-}" ] || ulimit -f "$1"
    # Without this, exceeding the limit is a signal instead of an error.
    trap '' XFSZ
    COUNTERSIGN_TLS_PORT=0 exec $command --data "$disk/data" --config "$work/config.json" --port 0 --tls-port 0 --log off
  ) >"$work/ready" 2>>"$work/errors" &
  server=$!
  while ! grep -q ready "$work/ready"; do
    kill -0 "$server" 2>/dev/null || fail 'the server does not start'
    sleep 0.1
  done
  url=$(sed 's/.*\(https:[^ ]*\).*/\1/' "$work/ready")
}

padding=$(head -c 60000 /dev/zero | tr '\0' 'x')

# put ID: prints the status of the response.
put() {
  printf '<article><title>%s %s</title><price currency="EUR">1.00</price></article>' "$1" "$padding" |
    curl -sk -o "$work/reply" -w '%{http_code}' -u ann:pw -X PUT -H 'Content-Type: application/xml' \
      --data-binary @- "$url/articles/$1"
}

get() { curl -sk -o "$work/reply" -w '%{http_code}' "$url/articles/$1"; }

# check ID...: checks that each article exists and is complete.
check() {
  for id in "$@"; do
    [ "$(get "$id")" = 200 ] || fail "$id is lost"
    grep -q ">$id xxx.*xxx</title>" "$work/reply" || fail "$id is not complete"
  done
}

if [ "$kind" = ulimit ]; then start 1500; else start; fi
stored= number=0 status=201
while [ "$status" = 201 ]; do
  number=$((number + 1))
  [ "$number" -lt 200 ] || fail 'the disk does not fill up'
  status=$(put "a$number")
  [ "$status" != 201 ] || stored="$stored a$number"
done
[ "$status" = 507 ] || fail "a PUT on a full disk was answered $status"
[ "$(get "a$number")" = 404 ] || fail 'a rejected article is visible'
[ "$(put again)" = 507 ] || fail 'the next PUT succeeded'
check $stored
echo "disk full after $((number - 1)) articles: 507, reads succeed"

if [ "$kind" = tmpfs ]; then
  mount -o remount,size=16m "$disk" || fail 'the file system cannot be enlarged'
else
  # Without prlimit, the limit of a running process cannot be raised, so the server is restarted.
  prlimit --fsize=unlimited --pid "$server" 2>/dev/null || {
    kill "$server"
    wait "$server" || fail 'the exit status is not 0'
    start
  }
fi
[ "$(put after)" = 201 ] || fail 'a PUT failed although there is room'
stored="$stored after"
check $stored
kill -9 "$server"
wait "$server" 2>/dev/null
start
check $stored
[ "$(get "a$number")" = 404 ] || fail 'a rejected article exists after the restart'
kill "$server"
wait "$server" || fail 'the exit status is not 0'
server=
echo "disk enlarged: PUTs succeed, and all $(echo $stored | wc -w) articles exist after kill -9"
