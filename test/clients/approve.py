"""What a person does in a browser, for who has none: asks for the page with Basic, and answers by its ticket."""
import json
import os

import requests

base = os.environ["BASE"]
user = os.environ["USER_NAME"]
credentials = (user, os.environ["USER_PASSWORD"])
records = f"{base}/users/{user}/financialrecords"
done = []


def approve(url, decision="allow"):
    """Answers the request for authorization at this URL, and gives where the browser is sent then."""
    asked = {"auth": credentials, "allow_redirects": False}
    page = requests.get(url, headers={"Accept": "application/json"}, **asked)
    assert page.status_code == 200, page.text
    form = {"consent_ticket": page.json()["consent_ticket"], "decision": decision}
    answer = requests.post(url.split("?")[0], data=form, **asked)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def step(name, actual, expected=True):
    """Notes a step as done, where it came to what was expected."""
    assert actual == expected, f"{name}: {actual!r}, expected {expected!r}"
    done.append(name)


def finish():
    print(json.dumps(done))
