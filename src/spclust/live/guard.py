"""Who may ask the service: Host and Origin are checked, and the token if there is one."""

import hmac
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "spclust_token"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OPEN = ("/healthz", "/readyz")  # without a token: they tell nothing
_HEADERS = [
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]

logger = logging.getLogger("spclust.live")


def is_loopback(host: str) -> bool:
    """True if only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """An application that is asked only by those who may."""

    def __init__(self, app: App, token: str | None, hosts: tuple[str, ...] = ()) -> None:
        """Guard an application; `hosts` are names of this machine besides those of loopback."""
        self._app, self._token, self._hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in one sentence."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if refusal := self._refusal(scope, headers, query):
            status, sentence = refusal
            client = (scope.get("client") or ("?",))[0]
            logger.warning(
                "refused %s %.80r from %s: %s", scope["method"], scope["path"], client, sentence
            )
            await _answer(send, status, sentence)
        elif scope["path"] == "/" and "token" in query and self._token is not None:
            await self._set_cookie(send)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refusal(
        self, scope: Scope, headers: dict[str, str], query: dict[str, list[str]]
    ) -> tuple[int, str] | None:
        """Status and sentence of a refusal; None if the request is answered."""
        host = headers.get("host", "")
        if not self._is_known(host):
            return 421, f"Host {host!r:.80} is not known here: say --allowed-host, if it is right."
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return 403, f"A page of {origin!r:.80} may not ask this service."
        # A page of another site may have a link to this one, and nothing else.
        is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not is_link:
            return 403, "A page of another site may not ask this service."
        if "\0" in scope["path"]:  # which no name of a file can have
            return 400, "A path has no null character."
        if scope["path"] not in _OPEN and not self._has_token(headers, query):
            return 401, (
                "This service needs a token: send it as Authorization: Bearer TOKEN, or open the "
                "page as /?token=TOKEN."
            )
        return None

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:  # brackets that are no address
            return False
        if name in _LOOPBACK or name in self._hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True  # no name that another server could give this address to

    def _has_token(self, headers: dict[str, str], query: dict[str, list[str]]) -> bool:
        if self._token is None:
            return True
        given = [
            headers.get("authorization", "").removeprefix("Bearer "),
            *(each.replace(" ", "+") for each in query.get("token", [])),  # as forms write it
            *_cookies(headers.get("cookie", "")),
        ]
        wanted = self._token.encode()
        return any(hmac.compare_digest(each.encode(), wanted) for each in given)

    async def _set_cookie(self, send: Send) -> None:
        """Keep the token in a cookie, and out of the address."""
        cookie = f"{COOKIE}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [
            (b"location", b"/"),
            (b"set-cookie", cookie.encode()),
            (b"content-length", b"0"),
            *_HEADERS,
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _cookies(header: str) -> Iterator[str]:
    """Tokens in cookies; those of other services of this machine may be of any form."""
    for cookie in header.split(";"):
        name, _, value = cookie.strip().partition("=")
        if name == COOKIE:
            yield value


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *_HEADERS]
        await send(message)

    return sent


async def _answer(send: Send, status: int, sentence: str) -> None:
    body = f"{sentence}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
