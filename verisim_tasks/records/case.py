"""The case record: what is true of one patient, and how that patient would say it.

One readable YAML file per case. The fields follow the PatientSim profile items (arXiv 2505.17818, section 3) so
that every fact can later be scored against the item it belongs to.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")]

ProfileItem = Literal[
    "age",
    "gender",
    "race",
    "occupation",
    "living_situation",
    "children",
    "marital_status",
    "insurance",
    "exercise",
    "tobacco",
    "alcohol",
    "illicit_drug",
    "sexual_history",
    "allergies",
    "medical_history",
    "family_medical_history",
    "medical_device",
    "present_illness_positive",
    "present_illness_negative",
    "chief_complaint",
    "pain",
    "medication",
    "arrival_transport",
    "other",
]
"""The 23 spoken PatientSim items, and ``other`` for what an import could not place."""

SPOKEN_ITEMS: tuple[str, ...] = tuple(item for item in ProfileItem.__args__ if item != "other")  # type: ignore[attr-defined]

Aspect = Literal[
    "onset",
    "location",
    "duration",
    "character",
    "aggravating",
    "relieving",
    "radiation",
    "timing",
    "severity",
    "course",
    "context",
]
"""What a fact says about its concept (OLD CARTS plus course and context); none means that the concept is there."""

Specialty = Literal[
    "cardiology",
    "pulmonology",
    "gastroenterology",
    "neurology",
    "endocrinology",
    "nephrology_urology",
    "infectious_disease",
    "rheumatology_orthopaedics",
    "psychiatry",
    "gynaecology_obstetrics",
    "dermatology",
    "paediatrics",
    "other",
]

NoiseDimension = Literal[
    "cognitive_processing",
    "social_cultural",
    "memory_recall",
    "health_literacy",
    "emotional_state",
    "communication_style",
]


class Record(BaseModel):
    """Base of every record: unknown fields are errors, instances do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Codes(Record):
    """Concept identifiers of a fact, where known."""

    umls: str | None = None
    snomed: str | None = None
    hpo: str | None = None
    icd10: str | None = None


class Fact(Record):
    """One atomic thing that is true of the patient (or truly absent), with the words the informant uses for it."""

    id: Identifier
    category: ProfileItem
    concept: Text
    """Short clinical name of what the fact is about, e.g. ``chest pain``; aspects of one symptom share it."""
    aspect: Aspect | None = None
    statement: Text
    """The fact in clinical words."""
    lay: Text
    """The fact as the informant says it, plainly. Spans that memory may blur are marked ``[text|kind|vaguer]``."""
    colloquial: Text | None = None
    """The same in very informal words (health literacy 2)."""
    vague: Text | None = None
    """The same as true, imprecise body talk that does not name the concept (health literacy 3)."""
    polarity: Literal["present", "denied"] = "present"
    onset: Text | None = None
    duration: Text | None = None
    severity: Text | None = None
    frequency: Text | None = None
    key: bool = False
    """Weighs for the diagnosis."""
    sensitive: bool = False
    """Carries stigma: alcohol, drugs, sexual history, mental health, abuse, adherence, money."""
    terms: tuple[Text, ...] = ()
    """Words, lay and clinical, by which a doctor may ask for this fact."""
    asked: tuple[Text, ...] = ()
    """Whole questions by which doctors may ask for this fact; what is close in meaning to one of them asks for it."""
    codes: Codes = Codes()


class Demographics(Record):
    """Who the patient is. ``age`` in years."""

    age: Annotated[float, Field(ge=0, le=120)]
    sex: Literal["female", "male"]
    race: Text | None = None
    occupation: Text | None = None


class Informant(Record):
    """Who speaks: the patient, or a named caregiver who speaks about the patient in the third person."""

    role: Literal["patient", "caregiver"] = "patient"
    name: Text | None = None
    relation: Text | None = None
    """The caregiver's relation to the patient, e.g. ``mother``."""
    patient_name: Text | None = None
    """What the caregiver calls the patient."""

    @model_validator(mode="after")
    def _caregiver_is_named(self) -> Informant:
        if self.role == "caregiver" and not (self.name and self.relation):
            raise ValueError("a caregiver needs a name and a relation")
        return self


class Vitals(Record):
    """Vital signs on arrival."""

    temperature_c: Annotated[float, Field(ge=25, le=45)] | None = None
    heart_rate_bpm: Annotated[int, Field(ge=0, le=300)] | None = None
    respiratory_rate_pm: Annotated[int, Field(ge=0, le=120)] | None = None
    systolic_mmhg: Annotated[int, Field(ge=0, le=320)] | None = None
    diastolic_mmhg: Annotated[int, Field(ge=0, le=220)] | None = None
    spo2_percent: Annotated[int, Field(ge=0, le=100)] | None = None
    weight_kg: Annotated[float, Field(gt=0, le=400)] | None = None
    height_cm: Annotated[float, Field(gt=0, le=250)] | None = None


class Finding(Record):
    """One physical examination finding."""

    id: Identifier
    name: Text
    """What is examined, e.g. ``abdomen``."""
    result: Text
    abnormal: bool = False
    terms: tuple[Text, ...] = ()


class TestResult(Record):
    """One result that a sensible doctor may ask for, normal ones too."""

    __test__ = False  # not a pytest class

    id: Identifier
    name: Text
    result: Text
    unit: Text | None = None
    reference: Text | None = None
    abnormal: bool = False
    panel: Text | None = None
    """The panel it comes with, e.g. ``full blood count``."""
    terms: tuple[Text, ...] = ()


class Diagnosis(Record):
    """The reference diagnosis. Never spoken by anyone but the doctor."""

    name: Text
    synonyms: tuple[Text, ...] = ()
    accepted_codes: tuple[Text, ...] = ()
    """ICD-10-CM codes; a prediction that links to one of them (or below it) is right."""


class Differential(Record):
    """A diagnosis that a careful doctor would consider, and what speaks against it."""

    name: Text
    code: Text | None = None
    against: Text | None = None


class Provenance(Record):
    """Where a case comes from and who may see its text."""

    source: Text
    licence: Text
    restricted: bool = False
    """Under a data-use agreement: its text never enters results, entries or pages."""


class Case(Record):
    """One patient: everything that is true, and who tells it."""

    schema_version: Literal[1] = 1
    canary: Text
    id: Identifier
    specialty: Specialty
    split: Text = "test"
    difficulty: Literal["easy", "medium", "hard"] | None = None
    language: Text = "en"
    provenance: Provenance
    demographics: Demographics
    informant: Informant = Informant()
    chief_complaint: Text
    """In clinical words. The patient opens with the fact of category ``chief_complaint``."""
    facts: tuple[Fact, ...]
    vitals: Vitals = Vitals()
    examination: tuple[Finding, ...] = ()
    tests: tuple[TestResult, ...] = ()
    diagnosis: Diagnosis | None = None
    differential: tuple[Differential, ...] = ()
    rationale: tuple[Text, ...] = ()
    treatment: tuple[Text, ...] = ()
    incompatible_noise: tuple[NoiseDimension, ...] = ()
    """Dimensions that would mimic the disease itself."""
    suggested_noise: dict[NoiseDimension, Annotated[int, Field(ge=0, le=4)]] = {}
    """Noise that the case's own authors gave it (published VeriSim profiles); never applied unasked."""

    @model_validator(mode="after")
    def _ids_are_unique_and_one_opening(self) -> Case:
        for kind, ids in (
            ("fact", [f.id for f in self.facts]),
            ("examination", [f.id for f in self.examination]),
            ("test", [t.id for t in self.tests]),
        ):
            doubled = sorted({i for i in ids if ids.count(i) > 1})
            if doubled:
                raise ValueError(f"{kind} ids used twice: {', '.join(doubled)}")
        openings = sum(f.category == "chief_complaint" for f in self.facts)
        if openings != 1:
            raise ValueError(f"exactly one fact has category chief_complaint, found {openings}")
        return self

    @property
    def opening(self) -> Fact:
        """The fact the patient opens with."""
        return next(f for f in self.facts if f.category == "chief_complaint")

    def fact(self, fact_id: str) -> Fact:
        """The fact with that id; raises ``KeyError``."""
        for fact in self.facts:
            if fact.id == fact_id:
                return fact
        raise KeyError(fact_id)

    @property
    def key_facts(self) -> tuple[Fact, ...]:
        """Facts that weigh for the diagnosis, in case order."""
        return tuple(f for f in self.facts if f.key)
