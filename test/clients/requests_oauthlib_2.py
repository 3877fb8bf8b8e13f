import os

from approve import approve, base, finish, records, step
from oauthlib.oauth2 import BackendApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

client, secret = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]
endpoint = f"{base}/oauth2/token"

own = OAuth2Session(client=BackendApplicationClient(client, scope=["read"]))
token = own.fetch_token(endpoint, auth=HTTPBasicAuth(client, secret))
step("client_credentials", token["scope"], ["read"])
step("articles", own.get(f"{base}/articles").status_code, 200)

session = OAuth2Session(client, redirect_uri=os.environ["REDIRECT_URI"], scope=["read", "write"])
session._client.code_verifier = session._client.create_code_verifier(64)
challenge = session._client.create_code_challenge(session._client.code_verifier, "S256")
url, state = session.authorization_url(
    f"{base}/oauth2/authorize", code_challenge=challenge, code_challenge_method="S256"
)
token = session.fetch_token(
    endpoint,
    authorization_response=approve(url),
    client_secret=secret,
    code_verifier=session._client.code_verifier,
)
step("authorization_code", sorted(token["scope"]), ["read", "write"])
step("resource", session.get(records).status_code, 200)
refreshed = session.refresh_token(endpoint, auth=HTTPBasicAuth(client, secret))
step("refresh_token", refreshed["refresh_token"] != token["refresh_token"])
step("resource again", session.get(records).status_code, 200)
finish()
