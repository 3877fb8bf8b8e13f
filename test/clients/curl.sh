#!/bin/sh
# Client credentials, and a resource with curl's own --oauth2-bearer.
set -eu
token=$(curl -sf --cacert "$CA_FILE" -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials -d scope=read \
  "$BASE/oauth2/token" | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
status=$(curl -s -o /dev/null -w '%{http_code}' --cacert "$CA_FILE" --oauth2-bearer "$token" "$BASE/articles")
[ "$status" = 200 ]
status=$(curl -s -o /dev/null -w '%{http_code}' --cacert "$CA_FILE" --oauth2-bearer "${token}x" "$BASE/articles")
[ "$status" = 401 ]
echo '["client_credentials","--oauth2-bearer","a wrong token"]'
