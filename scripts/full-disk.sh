#!/bin/sh
# Fills the data directory of a server for real, and looks whether it loses anything: full-disk.sh tmpfs | ulimit.
#
# With `tmpfs` the directory is a small file system of its own (as root, or it is skipped); with `ulimit` no file of the
# server may grow beyond a limit. PUTs go on until one is answered 507; reads still work then; room is made, PUTs are
# taken again, and after a kill and a new start all that was acknowledged is there. Needs curl. COMMAND is what runs the
# server, `node dist/server.js` when it is not set. Ends with 0 when all is well, 77 when it was skipped, 1 otherwise.
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

command -v curl >/dev/null || skip 'there is no curl'
if [ "$kind" = tmpfs ]; then
  [ "$(id -u)" = 0 ] || skip 'only root can mount a file system'
  mount -t tmpfs -o size=2m,mode=700 tmpfs "$disk" 2>/dev/null || skip 'no file system can be mounted here'
fi

cat >"$work/config.json" <<'JSON'
{ "users": { "ann": { "secret": "s", "password": "pw" } } }
JSON
chmod 600 "$work/config.json"

# start [BLOCKS]: a server whose files grow to so many blocks of 512 bytes at most.
start() {
  : >"$work/ready"
  (
    [ -z "${1:-}" ] || ulimit -f "$1"
    # The limit is to be an error, not a signal.
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

# put ID: gives the status.
put() {
  printf '<article><title>%s %s</title><price currency="EUR">1.00</price></article>' "$1" "$padding" |
    curl -sk -o "$work/reply" -w '%{http_code}' -u ann:pw -X PUT -H 'Content-Type: application/xml' \
      --data-binary @- "$url/articles/$1"
}

get() { curl -sk -o "$work/reply" -w '%{http_code}' "$url/articles/$1"; }

# look ID...: each is there whole.
look() {
  for id in "$@"; do
    [ "$(get "$id")" = 200 ] || fail "$id is lost"
    grep -q ">$id xxx.*xxx</title>" "$work/reply" || fail "$id is not whole"
  done
}

if [ "$kind" = ulimit ]; then start 1500; else start; fi
kept= number=0 status=201
while [ "$status" = 201 ]; do
  number=$((number + 1))
  [ "$number" -lt 200 ] || fail 'it never becomes full'
  status=$(put "a$number")
  [ "$status" != 201 ] || kept="$kept a$number"
done
[ "$status" = 507 ] || fail "a PUT without room was answered $status"
[ "$(get "a$number")" = 404 ] || fail 'what was not kept is shown'
[ "$(put again)" = 507 ] || fail 'the next PUT found room'
look $kept
echo "full after $((number - 1)) articles: 507, and reads go on"

if [ "$kind" = tmpfs ]; then
  mount -o remount,size=16m "$disk" || fail 'it cannot be made larger'
else
  # Nobody can raise the limit of a process from outside but with this.
  prlimit --fsize=unlimited --pid "$server" 2>/dev/null || {
    kill "$server"
    wait "$server" || fail 'the end was no success'
    start
  }
fi
[ "$(put after)" = 201 ] || fail 'there is room, and it is not used'
kept="$kept after"
look $kept
kill -9 "$server"
wait "$server" 2>/dev/null
start
look $kept
[ "$(get "a$number")" = 404 ] || fail 'what was not kept came back'
kill "$server"
wait "$server" || fail 'the end was no success'
server=
echo "room was made: PUTs are taken, and after kill -9 all $(echo $kept | wc -w) articles are there"
