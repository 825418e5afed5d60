"""A service that is sent orders, as a process to be killed: a line of stdin is a cookie's token and a form, as JSON."""

import asyncio
import json
import logging
import sys
from pathlib import Path

from judge.base.logs import set_level
from tests.web.organisers.office import FORM
from tests.web.service import call, service_of


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    set_level(logging.ERROR)  # stdout is for answers
    with service_of(Path(sys.argv[1])) as (service, _):
        tell("ready")
        for line in sys.stdin:
            token, body = json.loads(line)
            headers = {**FORM, "cookie": f"judge-organiser={token}"}
            status, _, answer = asyncio.run(call(service, "POST", "/organiser/orders", headers, "", body.encode()))
            tell(json.dumps([status, answer.decode()]))


if __name__ == "__main__":
    main()
