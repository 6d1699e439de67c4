"""Words: normalising, stemming, splitting into sentences and clauses."""

from __future__ import annotations

import functools
import re
import unicodedata

from nltk.stem.snowball import EnglishStemmer

_STEMMER = EnglishStemmer()
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|\n+")
_ABBREVIATION = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|e\.g|i\.e|vs|approx|no)\.$", re.IGNORECASE)

_FUNCTION_WORDS = """
a an the and or but of to in on at for with by from as is are was were be been being am do does did have has had
having i you he she it we they me him her us them my your his its our their this that these those there here any
some so just very really also too than then if when while can could would should will may might shall must ever
about into out up down over under again more most other s t d ll ve re m what which who whom how where why not no
nor only own same please tell say said get got getting
"""
STOPWORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that carry no content of their own in a question."""


def fold(text: str) -> str:
    """Lower case, accents and typographic quotes folded, invisible characters dropped."""
    if text.isascii():
        return text.replace("`", "'").lower()
    text = text.encode("utf-8", "replace").decode("utf-8")
    text = unicodedata.normalize("NFKD", text.replace("\u2019", "'").replace("\u2018", "'").replace("`", "'"))
    return "".join(c for c in text if not unicodedata.combining(c) and unicodedata.category(c) != "Cf").lower()


def words(text: str) -> list[str]:
    """Lower-case words and numbers, contractions kept whole."""
    return _WORD.findall(fold(text))


_UNSTEMMED = {"medical": "medical", "medication": "medication", "medications": "medication", "organic": "organic"}
"""Words whose stem would run together with another word's."""


@functools.lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Snowball stem; British and American spellings share one."""
    if word in _UNSTEMMED:
        return _UNSTEMMED[word]
    return str(_STEMMER.stem(american(word)))


def singular(word: str) -> str:
    """The word without a plural ending; British and American spellings are one."""
    bare = american(word)
    if bare.endswith("ies") and len(bare) > 4:
        return bare[:-3] + "y"
    if bare.endswith(("ches", "shes", "sses", "xes")):
        return bare[:-2]
    if bare.endswith("s") and len(bare) > 3 and not bare.endswith(("ss", "us", "is")):
        return bare[:-1]
    return bare


def stems(text: str) -> list[str]:
    """Stems of all words, in order."""
    return [stem(w) for w in words(text)]


def content_stems(text: str) -> list[str]:
    """Stems of the words that carry content, in order."""
    return [stem(w) for w in words(text) if w not in STOPWORDS]


def sentences(text: str) -> list[str]:
    """Sentences of running text; survives ``Dr.`` and ``e.g.`` and ``38.5``."""
    parts: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {piece.strip()}"
        elif piece.strip():
            parts.append(piece.strip())
    return parts


_SPELLINGS = (
    (re.compile(r"^(?:oe|ae)(?=[a-z])"), "e"),
    (re.compile(r"haem"), "hem"),
    (re.compile(r"aem"), "em"),
    (re.compile(r"rrhoea"), "rrhea"),
    (re.compile(r"pnoea"), "pnea"),
    (re.compile(r"oedema"), "edema"),
    (re.compile(r"paed"), "ped"),
    (re.compile(r"gynae"), "gyne"),
    (re.compile(r"colour"), "color"),
    (re.compile(r"tumour"), "tumor"),
    (re.compile(r"odour"), "odor"),
    (re.compile(r"isation"), "ization"),
    (re.compile(r"ised$"), "ized"),
    (re.compile(r"ise$"), "ize"),
)


@functools.cache
def american(word: str) -> str:
    """The word in American spelling, without a contraction's ending."""
    word = word.split("'")[0]
    for pattern, replacement in _SPELLINGS:
        word = pattern.sub(replacement, word)
    return word
