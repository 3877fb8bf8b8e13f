import os

from approve import approve, base, finish, records, step
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

client, secret = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]
endpoint = f"{base}/oauth2/token"

for method in ("client_secret_basic", "client_secret_post"):
    own = OAuth2Session(client, secret, scope="read", token_endpoint_auth_method=method)
    step(f"client_credentials by {method}", own.fetch_token(endpoint)["scope"], "read")

session = OAuth2Session(
    client,
    secret,
    scope="read write",
    redirect_uri=os.environ["REDIRECT_URI"],
    code_challenge_method="S256",
)
verifier = generate_token(48)
url, state = session.create_authorization_url(f"{base}/oauth2/authorize", code_verifier=verifier)
token = session.fetch_token(endpoint, authorization_response=approve(url), code_verifier=verifier)
step("authorization_code", token["scope"], "read write")
step("resource", session.get(records).status_code, 200)
refreshed = session.refresh_token(endpoint)
step("refresh_token", refreshed["refresh_token"] != token["refresh_token"])
about = session.introspect_token(f"{base}/oauth2/introspect", token=refreshed["access_token"]).json()
step("introspect", about["active"])
session.revoke_token(f"{base}/oauth2/revoke", token=refreshed["access_token"])
session.token = refreshed
step("revoke", session.get(records, withhold_token=True, headers={
    "Authorization": f"Bearer {refreshed['access_token']}",
}).status_code, 401)
finish()
