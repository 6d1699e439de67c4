"""The UMLS REST API: search, atoms and SNOMED CT relations; every answer kept on disk.

Source: https://documentation.uts.nlm.nih.gov/rest/home.html. The key travels in the query as the API wants it and is
never written: not into the cache, its file names, or any message.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import requests
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from verisim_tasks._files import write_atomically
from verisim_tasks.errors import UserError
from verisim_tasks.language.vector_store import cache_folder

KEY_VARIABLE = "UMLS_API_KEY"
URL_VARIABLE = "VERISIM_UMLS_URL"
DEFAULT_URL = "https://uts-ws.nlm.nih.gov/rest"
ATTEMPTS = 5
TIMEOUT = 30.0
"""Seconds to wait for an answer."""
PAGE = 100
MOST_PAGES = 20
LONGEST_WAIT = 60.0
"""Seconds between two attempts at most, whatever the server asks for."""
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class Found(NamedTuple):
    """A concept that a search found."""

    cui: str
    name: str


class Atom(NamedTuple):
    """One name of a concept in one source vocabulary."""

    name: str
    source: str
    code: str
    """Identifier in that source."""
    kind: str
    """Term type, e.g. ``PT`` (preferred) or ``SY``."""


class Link(NamedTuple):
    """One relation of a source concept: ``label`` e.g. ``has_finding_site``, ``name`` of the other concept."""

    label: str
    name: str


class _TransientError(Exception):
    """Worth another try. ``wait`` is the pause in seconds the server asks for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class UmlsClient:
    """Asks the API, each question once: answers are read from the cache when they are there."""

    def __init__(
        self,
        key: str,
        url: str = DEFAULT_URL,
        cache: Path | None = None,
        *,
        pause: float = 1.0,
        timeout: float = TIMEOUT,
    ) -> None:
        """``pause`` is the first wait in seconds, doubled before every further attempt."""
        self._key = key
        self._url = url.rstrip("/")
        self._cache = cache
        self._pause = pause
        self._timeout = timeout
        self._session = requests.Session()
        self.asked = 0
        """Requests that went out, retries too."""
        self.from_cache = 0

    def search(self, term: str) -> Found | None:
        """The best concept for a term: an exact match of a name, else of its words. None when there is none."""
        for kind in ("exact", "normalizedString", "words"):
            answer = self._get("search/current", {"string": term, "searchType": kind, "pageSize": "5"})
            for row in _rows(answer, "results"):
                if str(row.get("ui", "NONE")) != "NONE":
                    return Found(str(row["ui"]), str(row.get("name", "")))
        return None

    def atoms(self, cui: str) -> list[Atom]:
        """All English names of a concept that are neither obsolete nor suppressed."""
        found = []
        for row in self._pages(f"content/current/CUI/{quote(cui, safe='')}/atoms", {"language": "ENG"}):
            if "true" not in (str(row.get("obsolete")).lower(), str(row.get("suppressible")).lower()):
                code = str(row.get("code") or "").rsplit("/", 1)[-1]
                source = str(row.get("rootSource") or "")
                found.append(Atom(str(row.get("name") or ""), source, code, str(row.get("termType") or "")))
        return [a for a in found if a.name]

    def snomed_relations(self, code: str) -> list[Link]:
        """The relations of a SNOMED CT concept."""
        path = f"content/current/source/SNOMEDCT_US/{quote(code, safe='')}/relations"
        rows = self._pages(path, {})
        found = [Link(str(r.get("additionalRelationLabel") or ""), str(r.get("relatedIdName") or "")) for r in rows]
        return [r for r in found if r.name]

    def _pages(self, path: str, params: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        for number in range(1, MOST_PAGES + 1):
            answer = self._get(path, {**params, "pageSize": str(PAGE), "pageNumber": str(number)})
            yield from _rows(answer)
            if answer is None or number >= int(answer.get("pageCount") or 1):
                return

    def _get(self, path: str, params: Mapping[str, str]) -> dict[str, Any] | None:
        """The JSON answer, or None where the API knows nothing (404). Raises ``UserError`` when there is no answer."""
        kept = self._cache / f"{_digest(self._url, path, params)}.json" if self._cache else None
        if kept is not None and (stored := _stored(kept)) is not None:
            self.from_cache += 1
            return stored["answer"] or None
        transient = retry_if_exception_type(_TransientError)
        attempts = Retrying(stop=stop_after_attempt(ATTEMPTS), wait=self._wait, retry=transient, reraise=True)
        try:
            answer = attempts(self._ask, path, params)
        except _TransientError as error:
            raise UserError(
                f"UMLS gave no usable answer to /{path} after {ATTEMPTS} attempts ({error}); run the same command "
                "again later, what was answered is kept"
            ) from None
        if kept is not None:
            write_atomically(
                kept, json.dumps({"path": path, "params": dict(params), "answer": answer}, ensure_ascii=False)
            )
        return answer

    def _ask(self, path: str, params: Mapping[str, str]) -> dict[str, Any] | None:
        self.asked += 1
        try:
            response = self._session.get(
                f"{self._url}/{path}",
                params={**params, "apiKey": self._key},
                timeout=self._timeout,
                allow_redirects=False,
            )
        except requests.Timeout:
            raise _TransientError(f"no answer within {self._timeout:g} seconds") from None
        except requests.RequestException as error:
            raise _TransientError(f"connection failed: {type(error).__name__}") from None
        status = response.status_code
        if status in (401, 403):
            raise UserError(f"UMLS refused the key (HTTP {status}); check {KEY_VARIABLE} in your UTS profile")
        if status in _TRANSIENT:
            raise _TransientError(f"HTTP {status}", _retry_after(response.headers.get("Retry-After")))
        if status == 404:
            return None
        if status != 200:
            raise UserError(f"UMLS answered /{path} with HTTP {status}; check {URL_VARIABLE} and the UMLS status page")
        try:
            answer = response.json()
        except ValueError:
            kind = response.headers.get("Content-Type", "no type").split(";")[0]
            raise _TransientError(f"the answer is not whole JSON ({kind})") from None
        if not isinstance(answer, dict) or "result" not in answer:
            raise _TransientError("the answer has no result")
        return answer

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        wanted = error.wait if isinstance(error, _TransientError) else None
        return min(wanted if wanted is not None else self._pause * 2 ** (state.attempt_number - 1), LONGEST_WAIT)


def client_from_environment(cache: Path | None = None) -> UmlsClient:
    """A client with the key of ``UMLS_API_KEY``. Raises ``UserError`` when it is not set."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise UserError(
            f"{KEY_VARIABLE} is not set; get a key at https://uts.nlm.nih.gov/uts/profile, or use --source hpo"
        )
    folder = cache_folder()
    return UmlsClient(key, os.environ.get(URL_VARIABLE) or DEFAULT_URL, cache or (folder / "umls" if folder else None))


def _rows(answer: dict[str, Any] | None, part: str | None = None) -> list[dict[str, Any]]:
    result: Any = (answer or {}).get("result")
    if part is not None:
        result = result.get(part) if isinstance(result, dict) else None
    return [row for row in result if isinstance(row, dict)] if isinstance(result, list) else []


def _stored(path: Path) -> dict[str, Any] | None:
    """What the cache holds; a damaged file counts as nothing."""
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return loaded if isinstance(loaded, dict) and "answer" in loaded else None


def _digest(url: str, path: str, params: Mapping[str, str]) -> str:
    return sha256(json.dumps([url, path, sorted(params.items())]).encode()).hexdigest()[:32]


def _retry_after(value: str | None) -> float | None:
    try:
        return max(float(value), 0.0) if value else None
    except ValueError:
        return None
