import os

from approve import approve, base, finish, records, step
from oauthlib.oauth1 import SIGNATURE_HMAC_SHA256, SIGNATURE_RSA, SIGNATURE_TYPE_QUERY
from requests_oauthlib import OAuth1Session

key, secret = os.environ["CONSUMER_KEY"], os.environ["CONSUMER_SECRET"]


def three_legs(name, session_of):
    session = session_of(callback_uri=os.environ["CALLBACK"])
    session.fetch_request_token(f"{base}/oauth1/request_token")
    back = approve(session.authorization_url(f"{base}/oauth1/authorize"))
    session.parse_authorization_response(back)
    token = session.fetch_access_token(f"{base}/oauth1/access_token")
    step(f"three legs: {name}", sorted(token), ["expires_in", "oauth_token", "oauth_token_secret", "scope"])
    step("resource", session.get(records, params={"limit": "1", "q": "é +&"}).status_code, 200)
    article = '<article><title>Tee &amp; Öl</title><price currency="EUR">1.00</price></article>'
    made = session.post(f"{base}/articles", data=article.encode(), headers={"Content-Type": "application/xml"})
    step("POST of XML", made.status_code, 201)
    return token


token = three_legs("HMAC-SHA1", lambda **given: OAuth1Session(key, secret, **given))
three_legs(
    "HMAC-SHA256",
    lambda **given: OAuth1Session(key, secret, signature_method=SIGNATURE_HMAC_SHA256, **given),
)
three_legs(
    "RSA-SHA1",
    lambda **given: OAuth1Session(
        os.environ["RSA_KEY"],
        signature_method=SIGNATURE_RSA,
        rsa_key=open(os.environ["RSA_FILE"]).read(),
        **given,
    ),
)
own = (token["oauth_token"], token["oauth_token_secret"])
in_query = OAuth1Session(key, secret, *own, signature_type=SIGNATURE_TYPE_QUERY)
step("in the query", in_query.get(records).status_code, 200)

out_of_band = OAuth1Session(key, secret, callback_uri="oob")
out_of_band.fetch_request_token(f"{base}/oauth1/request_token")
step("out of band", "oauth_token" in out_of_band.token)
finish()
