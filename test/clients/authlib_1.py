import os

from approve import approve, base, finish, records, step
from authlib.integrations.requests_client import OAuth1Session

key, secret = os.environ["CONSUMER_KEY"], os.environ["CONSUMER_SECRET"]


def three_legs(name, session):
    session.redirect_uri = os.environ["CALLBACK"]
    session.fetch_request_token(f"{base}/oauth1/request_token")
    back = approve(session.create_authorization_url(f"{base}/oauth1/authorize"))
    session.parse_authorization_response(back)
    token = session.fetch_access_token(f"{base}/oauth1/access_token")
    step(f"three legs: {name}", token["scope"], "read write")
    step("resource", session.get(f"{records}?limit=1").status_code, 200)
    return token


three_legs("HMAC-SHA1", OAuth1Session(key, secret))
# In the query and in a form it sends each parameter of the protocol twice, which RFC 5849 §3.1 forbids.
three_legs("PLAINTEXT", OAuth1Session(key, secret, signature_method="PLAINTEXT"))
three_legs(
    "RSA-SHA1",
    OAuth1Session(os.environ["RSA_KEY"], signature_method="RSA-SHA1", rsa_key=open(os.environ["RSA_FILE"]).read()),
)
finish()
