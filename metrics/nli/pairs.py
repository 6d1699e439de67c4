"""Training pairs for the built-in NLI: handwritten, and generated from cases and the lexicon by stable draws."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from verisim_metrics.nli.model import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL
from verisim_metrics.nli.quantities import agreeing, figures
from verisim_metrics.nli.reading import read, shared
from verisim_tasks._stable import choose, draw, shuffled
from verisim_tasks.language.lexicon import Concept, default_lexicon, load_yaml
from verisim_tasks.noise.markup import Span, blur, plain, spans
from verisim_tasks.records.case import Case, Fact

TOLD_AGAIN = 1
"""Copies of each lay sentence behind an opener, so that support is as common as it is in interviews."""
OTHERS = 2
"""Unrelated facts of the same case and of other cases that each fact is paired with."""
_TIMES = {
    "ago": (
        "about ten minutes ago",
        "three weeks ago",
        "two years ago",
        "six months ago",
        "two hours ago",
        "five days ago",
    ),
    "since": ("since last year", "since this morning", "since three weeks ago", "for ten years", "for the last hour"),
    "": ("three weeks", "two years", "ten minutes", "six months", "four days", "five hours", "a single day"),
}
_DOSES = (
    "five milligrams",
    "a thousand milligrams",
    "two hundred milligrams",
    "forty milligrams",
    "seven tablets a day",
    "once a month",
)
_NUMBERS = ("two", "five", "nine", "fourteen", "thirty", "sixty", "a hundred")
_WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 8: "eight", 10: "ten", 20: "twenty", 40: "forty",
          50: "fifty", 100: "a hundred", 250: "two hundred and fifty", 500: "five hundred"}  # fmt: skip
_UNITS = ("hour", "day", "week", "month", "year")
_OFTEN = {
    "once daily": "once a day",
    "twice daily": "twice a day",
    "three times daily": "three times a day",
    "at night": "at bedtime",
}


class Example(NamedTuple):
    """One labelled pair."""

    premise: str
    hypothesis: str
    label: int
    """Place in ``LABELS``."""
    kind: str


HANDWRITTEN = {"train": ("train.yaml", "train_more.yaml"), "voices": ("train_voices.yaml",), "dev": ("dev.yaml",)}


def handwritten(name: str) -> list[Example]:
    """The handwritten pairs of ``train`` or ``dev``."""
    groups: list[dict[str, Any]] = [group for file in HANDWRITTEN[name] for group in load_yaml("nli", file)]
    return [
        Example(group["premise"], sentence, place, group["kind"])
        for group in groups
        for place, label in enumerate(LABELS)
        for sentence in group.get(label, ())
    ]


def from_cases(cases: Sequence[Case]) -> list[Example]:
    """Pairs of statements and what the informant says of them, or of something else."""
    found: list[Example] = []
    for case in cases:
        for fact in case.facts:
            found += _of_fact(fact, case, cases)
    return _distinct(found)


def from_lexicon() -> list[Example]:
    """Pairs of clinical and lay names in frames: affirmed, denied, of relatives, past, timed, dosed."""
    concepts = [c for c in default_lexicon().concepts.values() if c.kind in ("symptom", "condition", "drug")]
    found: list[Example] = []
    for concept in sorted(concepts, key=lambda c: c.id):
        if _lay_names(concept):
            found += _of_concept(concept, concepts)
    return _distinct(found)


def with_small_talk(examples: Iterable[Example]) -> list[Example]:
    """Some sentences with an opener or closer that changes nothing."""
    data = load_yaml("nli", "templates.yaml")
    found = []
    for example in examples:
        text, key = example.hypothesis, (example.premise, example.hypothesis)
        if draw("opener", *key) < 0.12 and text[0].isupper() and not text.startswith(("No", "Yes")):
            text = f"{choose(data['openers'], *key)}{_lowered(text)}"
        if draw("closer", *key) < 0.08 and text.endswith("."):
            text = f"{text[:-1]}{choose(data['closers'], 'closer', *key)}."
        found.append(example._replace(hypothesis=text))
    return found


def _openers() -> list[str]:
    found: list[str] = load_yaml("nli", "templates.yaml")["openers"]
    return found


def _lowered(text: str) -> str:
    """The sentence as it stands behind an opener."""
    return text if re.match(r"I\b|I'|[A-Z][a-z]+'s|[A-Z]{2}", text) else text[0].lower() + text[1:]


def _of_fact(fact: Fact, case: Case, cases: Sequence[Case]) -> Iterator[Example]:
    premise = fact.statement
    again = 0 if plain(fact.lay).startswith(("No", "Yes")) else TOLD_AGAIN
    forms = [
        plain(fact.lay),
        blur(fact.lay, lambda _: True)[0],
        blur(fact.lay, lambda span: span.kind == "time")[0],
        blur(fact.lay, lambda span: span.kind != "time")[0],
        *([plain(fact.colloquial)] if fact.colloquial else []),
        *(f"{opener}{_lowered(plain(fact.lay))}" for opener in shuffled(_openers(), fact.statement)[:again]),
    ]
    for form in dict.fromkeys(forms):
        yield Example(premise, form, ENTAILMENT, "told")
    for text in _changed_spans(fact):
        yield Example(premise, text, CONTRADICTION, "number")
    for text in _flipped(fact, forms[0]):
        yield Example(premise, text, CONTRADICTION, "polarity")
    for text in _swapped(forms[0], premise):
        yield Example(premise, text, CONTRADICTION, "swap")
    for label, text in _generic(fact):
        yield Example(premise, text, label, "generic")
    for text in _unrelated(fact, case, cases):
        yield Example(premise, text, NEUTRAL, "other")
    if fact.category == "family_medical_history" and fact.polarity == "present":
        text = re.sub(
            r"\b[Mm]y (?:mother|mum|mom|father|dad|brother|sister|gran\w*|uncle|aunt)(?:'s)?\b(?: has| had)?",
            "I've had",
            forms[0],
        )
        if text != forms[0]:
            yield Example(premise, text, NEUTRAL, "family")
    if fact.category == "medical_history" and forms[0].startswith(("I've had", "I had", "I have", "I've got")):
        relative = choose(("mother", "dad", "sister", "brother"), premise)
        yield Example(
            premise, re.sub(r"^(?:I've had|I had|I have|I've got)", f"My {relative} had", forms[0]), NEUTRAL, "family"
        )


def _changed_spans(fact: Fact) -> Iterator[str]:
    """The lay sentence with one marked amount changed so that it cannot be true."""
    for place, span in enumerate(spans(fact.lay)):
        options = _alternatives(span)
        for option in shuffled(options, fact.statement, place)[:2]:
            if figures(option) == figures(span.text) and figures(option):
                continue
            if agreeing(option, span.text)[0]:
                continue
            yield _with_span(fact.lay, place, option)


def _alternatives(span: Span) -> Sequence[str]:
    if span.kind == "time":
        form = "ago" if span.text.endswith("ago") else "since" if span.text.startswith("since") else ""
        timed = form or re.search(r"\b(?:second|minute|hour|day|week|month|year)s?$", span.text)
        return _TIMES[form] if timed else ()
    if span.kind == "dose":
        return [d for d in _DOSES if re.search(r"milligram|tablet|day", span.text)]
    number = next(iter(figures(span.text)), None)
    if span.kind != "number" or number is None:
        return ()
    words = load_yaml("nli", "words.yaml")["numbers"]
    said = next((w for w in span.text.replace("-", " ").split() if w in words and w not in ("a", "an")), None)
    wrong = [n for n in _NUMBERS if words.get(n.removeprefix("a "), 100) not in number]
    return [span.text.replace(said, n) for n in wrong if said and "-" not in span.text and " and " not in span.text]


def _with_span(lay: str, place: int, text: str) -> str:
    marked = list(re.finditer(r"\[[^\[\]]+\]", lay))[place]
    return plain(lay[: marked.start()] + text + lay[marked.end() :])


def _flipped(fact: Fact, said: str) -> Iterator[str]:
    """The sentence with its denial taken away, or denied where it affirms."""
    data = load_yaml("nli", "templates.yaml")
    if fact.polarity == "denied":
        bare = re.sub(r"^No, ", "", said)
        for pattern, text in data["undenials"]:
            flipped = re.sub(pattern, text, bare, count=1)
            if flipped != bare:
                yield choose(("Yes, ", ""), said) + flipped
                break
    else:
        for pattern, text in data["denials"]:
            if re.search(pattern, said):
                flipped = re.sub(pattern, text, said, count=1)
                yield choose(("No, ", ""), said) + flipped
                break
    yield from _lexical_flips(fact)


def _lexical_flips(fact: Fact) -> Iterator[str]:
    """A short affirmation of what the statement denies, or denial of what it affirms, in the lexicon's lay words."""
    frames, reading = load_yaml("nli", "templates.yaml"), read(fact.statement)
    named, form = (reading.denied, "affirm") if fact.polarity == "denied" else (reading.asserted, "deny")
    if fact.aspect is not None or fact.category in ("family_medical_history", "occupation", "living_situation"):
        return
    for concept_id in sorted(named)[:3]:
        concept = default_lexicon().concepts[concept_id]
        if concept.kind in frames[form] and _lay_names(concept):
            key = (fact.statement, concept_id)
            yield choose(frames[form][concept.kind], *key).format(lay=choose(_lay_names(concept), *key))


def _swapped(said: str, statement: str) -> Iterator[str]:
    """The sentence with one word turned into its opposite; a side only where the statement names it as well."""
    for left, right in load_yaml("nli", "templates.yaml")["swaps"]:
        for old, new in ((left, right), (right, left)):
            sided = old not in ("left", "right") or re.search(rf"\b{old}\b", statement, re.IGNORECASE)
            if sided and re.search(rf"\b{old}\b", said) and not re.search(rf"\b{new}\b", said):
                yield re.sub(rf"\b{old}\b", new, said, count=1)


def _generic(fact: Fact) -> Iterator[tuple[int, str]]:
    rows = load_yaml("nli", "templates.yaml")["generic"].get(fact.category, {}).get(fact.polarity, {})
    for place, label in enumerate(LABELS):
        if rows.get(label):
            yield place, choose(rows[label], fact.statement)


def _unrelated(fact: Fact, case: Case, cases: Sequence[Case]) -> Iterator[str]:
    """What is said of other facts: of the same case first, another aspect of the same symptom, then of other cases."""
    mine = read(f"{fact.concept}. {fact.statement}").concepts

    def apart(other: Fact) -> bool:
        theirs = read(f"{other.concept}. {other.statement}. {plain(other.lay)}").concepts
        same_list = other.category == fact.category and fact.category not in (
            "present_illness_positive",
            "present_illness_negative",
            "pain",
        )
        return other.concept != fact.concept and not same_list and not shared(mine, theirs)

    near = [f for f in shuffled(case.facts, fact.statement, "same") if apart(f)][:OTHERS]
    aspects = [
        f
        for f in shuffled(case.facts, fact.statement, "aspect")
        if f.concept == fact.concept and f.id != fact.id and fact.aspect and f.aspect and f.aspect != fact.aspect
    ][:2]
    strangers = [
        f for c in cases if c.id != case.id for f in c.facts if f.category == fact.category and f.aspect == fact.aspect
    ]
    far = [f for f in shuffled(strangers, fact.statement, "far")[:12] if apart(f)][:1]
    for other in (*near, *aspects, *far):
        forms = [plain(other.lay), blur(other.lay, lambda _: True)[0], *([plain(other.vague)] if other.vague else [])]
        yield choose(forms, fact.statement, other.id)


def _of_concept(concept: Concept, concepts: Sequence[Concept]) -> Iterator[Example]:
    for maker in (_affirmed, _denied, _past, _of_family, _timed, _dosed):
        if draw("maker", maker.__name__, concept.id) < _SHARE[maker.__name__]:
            yield from maker(concept, _stranger(concept, concepts, maker.__name__))


_SHARE = {"_affirmed": 0.6, "_denied": 0.6, "_past": 0.3, "_of_family": 0.3, "_timed": 0.25, "_dosed": 0.4}


def _stranger(concept: Concept, concepts: Sequence[Concept], salt: str) -> Concept:
    """An unrelated concept of the same kind."""
    options = [c for c in concepts if c.kind == concept.kind and (c.site is None or c.site != concept.site)]
    for other in shuffled(options, concept.id, salt)[:40]:
        if other.id != concept.id and _lay_names(other) and not shared(frozenset([concept.id]), frozenset([other.id])):
            return other
    return next(c for c in concepts if c.id != concept.id and _lay_names(c))


def _affirmed(concept: Concept, other: Concept) -> Iterator[Example]:
    say = _speaker(concept)
    premise = _premise("premises_present", concept, other)
    yield Example(premise, say("affirm", concept, 1), ENTAILMENT, "lexicon")
    yield Example(premise, say("deny", concept, 2), CONTRADICTION, "lexicon")
    yield Example(premise, say(choose(("affirm", "deny"), premise), other, 3), NEUTRAL, "lexicon")


def _denied(concept: Concept, other: Concept) -> Iterator[Example]:
    say = _speaker(concept)
    premise = _premise("premises_denied", concept, other)
    yield Example(premise, say("deny", concept, 4), ENTAILMENT, "lexicon")
    yield Example(premise, say("affirm", concept, 5), CONTRADICTION, "lexicon")
    if other.name not in premise:
        yield Example(premise, say(choose(("affirm", "deny"), premise), other, 6), NEUTRAL, "lexicon")


def _past(concept: Concept, other: Concept) -> Iterator[Example]:
    frames = load_yaml("nli", "templates.yaml")
    if concept.kind not in frames["past_premises"]:
        return
    premise = _sentence(choose(frames["past_premises"][concept.kind], concept.id), clinical=_clinical(concept))
    yield Example(premise, _say(frames["past_affirm"][concept.kind], concept, 7), ENTAILMENT, "past")
    yield Example(premise, _say(frames["past_deny"][concept.kind], concept, 8), CONTRADICTION, "past")
    yield Example(premise, _say(frames["past_affirm"][concept.kind], other, 9), NEUTRAL, "past")


def _of_family(concept: Concept, other: Concept) -> Iterator[Example]:
    if concept.kind != "condition":
        return
    frames = load_yaml("nli", "templates.yaml")
    relative, kin = choose(sorted(frames["relatives"].items()), concept.id)
    clinical = _clinical(concept)
    premise = _sentence(
        choose(frames["family_premises"], concept.id), Relative=relative, relative=relative, clinical=clinical
    )
    yield Example(premise, _say(frames["family_affirm"], concept, 10, kin=kin), ENTAILMENT, "family")
    yield Example(premise, _say(frames["family_deny"], concept, 11, kin=kin), CONTRADICTION, "family")
    yield Example(premise, _say(frames["affirm"]["condition"], concept, 12), NEUTRAL, "family")
    yield Example(premise, _say(frames["family_affirm"], other, 13, kin=kin), NEUTRAL, "family")
    own = _sentence(choose(frames["premises_present"], concept.id, "own"), clinical=clinical)
    yield Example(own, _say(frames["family_affirm"], concept, 14, kin=kin), NEUTRAL, "family")
    none = _sentence(choose(frames["family_none"], concept.id), clinical=clinical)
    yield Example(none, _say(frames["family_affirm"], concept, 15, kin=kin), CONTRADICTION, "family")
    yield Example(none, _say(frames["family_deny"][::2], concept, 16, kin=kin), ENTAILMENT, "family")
    yield Example(none, _say(frames["affirm"]["condition"], concept, 17), NEUTRAL, "family")


def _timed(concept: Concept, other: Concept) -> Iterator[Example]:
    if concept.kind == "drug":
        return
    frames = load_yaml("nli", "templates.yaml")
    number, wrong_number = shuffled([n for n in _WORDS if n <= 10], concept.id)[:2]
    unit, wrong = shuffled(_UNITS, concept.id, "unit")[:2]
    values = {"n": number, "N": _WORDS[number], "M": _WORDS[wrong_number], "unit": unit, "wrong": wrong}
    premise = _sentence(choose(frames["timed_premises"], concept.id), clinical=_clinical(concept), **values)
    yield Example(premise, _say(frames["timed"], concept, 18, **values), ENTAILMENT, "duration")
    yield Example(premise, _say(frames["untimed"], concept, 19, **values), CONTRADICTION, "duration")
    yield Example(premise, _say(frames["timed"][:2], other, 20, **values), NEUTRAL, "duration")


def _dosed(concept: Concept, other: Concept) -> Iterator[Example]:
    if concept.kind != "drug":
        return
    frames = load_yaml("nli", "templates.yaml")
    dose, wrong = shuffled([n for n in _WORDS if n >= 5], concept.id, "dose")[:2]
    (often, said), (_, other_said) = shuffled(sorted(_OFTEN.items()), concept.id)[:2]
    values = {
        "dose": dose,
        "Dose": _WORDS[dose],
        "Wrong": _WORDS[wrong],
        "often": often,
        "said": said,
        "other_said": other_said,
    }
    premise = _sentence(choose(frames["dosed_premises"], concept.id), clinical=_clinical(concept), **values)
    yield Example(premise, _say(frames["dosed"], concept, 21, **values), ENTAILMENT, "dose")
    yield Example(premise, _say(frames["misdosed"], concept, 22, **values), CONTRADICTION, "dose")
    yield Example(premise, _say(frames["dosed"], other, 23, **values), NEUTRAL, "dose")


def _speaker(concept: Concept) -> Callable[[str, Concept, int], str]:
    frames = load_yaml("nli", "templates.yaml")
    return lambda form, of, salt: _say(frames[form][concept.kind], of, salt)


def _say(frames: Sequence[str], concept: Concept, salt: int, **values: object) -> str:
    lay = choose(_lay_names(concept), concept.id, salt)
    return choose(frames, concept.id, salt, "frame").format(lay=lay, **values)


def _premise(form: str, concept: Concept, other: Concept) -> str:
    frame = choose(load_yaml("nli", "templates.yaml")[form], concept.id, form)
    return _sentence(frame, clinical=_clinical(concept), other=other.name)


def _clinical(concept: Concept) -> str:
    return choose((*concept.clinical, concept.name), concept.id, "clinical")


def _lay_names(concept: Concept) -> tuple[str, ...]:
    """Names that a patient would use, of herself."""
    names = (*concept.lay, *concept.colloquial, *((concept.name,) if concept.kind == "drug" else ()))
    return tuple(re.sub(r"\byour\b", "my", n) for n in names if not re.search(r"\b(?:you|pril|stuff)\b", n))


def _sentence(frame: str, **values: object) -> str:
    text = frame.format(**values)
    return text[0].upper() + text[1:]


def _distinct(examples: Iterable[Example]) -> list[Example]:
    """One example for each pair of texts; pairs with two labels are left out."""
    labels: dict[tuple[str, str], set[int]] = {}
    first: dict[tuple[str, str], Example] = {}
    for example in examples:
        key = (example.premise, example.hypothesis)
        labels.setdefault(key, set()).add(example.label)
        first.setdefault(key, example)
    return [example for key, example in first.items() if len(labels[key]) == 1]
