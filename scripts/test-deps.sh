#!/usr/bin/env bash
# Installs what only some tests need: packages of npm, and programs of Debian if this user may install them. A test whose package
# or program is not installed is reported as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=(
  chromium libnss3-tools curl nginx-light caddy haproxy buildah systemd strace jq prometheus redis-server postgresql openssl
  python3 perl python3-requests-oauthlib python3-authlib libnet-oauth-perl ruby-oauth python3-botocore
)

install_programs() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    (apt-get update && apt-get install -y --no-install-recommends "${programs[@]}") >/dev/null 2>&1 ||
      echo 'the Debian packages that some tests need cannot be installed here'
  else
    echo "not installed, because that takes root and apt-get: ${programs[*]}"
  fi
}

install_programs &
installing=$!
npm ci --no-audit --no-fund --prefix test
npm ci --no-audit --no-fund --prefix test/clients
# These depend on this checkout, which is built already: its scripts do not run again.
for lock in examples/*/package-lock.json fixtures/projects/*/package-lock.json; do
  npm ci --no-audit --no-fund --ignore-scripts --prefix "$(dirname "$lock")"
done
wait "$installing"
