"""The clinician behind lm-eval's interface."""

from __future__ import annotations

import json

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.registry import get_model

from verisim_tasks.clinician.model import NAME, ClinicianLM
from verisim_tasks.errors import UserError

CHAT = [
    {"role": "system", "content": "You are a doctor."},
    {"role": "user", "content": "I'm a 29-year-old woman and I get these awful headaches."},
]


def request(prompt: str, until: object = ("\nPatient:", "\nDoctor:")) -> Instance:
    arguments = (prompt, {"until": until, "max_gen_toks": 64, "do_sample": False})
    return Instance(request_type="generate_until", doc={}, arguments=arguments, idx=0)


@pytest.fixture(scope="module")
def lm() -> ClinicianLM:
    return ClinicianLM()


def test_it_is_registered_beside_the_stock_models() -> None:
    assert get_model(NAME) is ClinicianLM
    assert get_model("hf").__name__ == "HFLM"


def test_model_arguments() -> None:
    made = ClinicianLM.create_from_arg_string("policy=broad,model=mine", {"batch_size": 1, "device": "cpu"})
    assert (made.policy.name, made.model) == ("broad", "mine")
    with pytest.raises(UserError, match="unknown clinician policy 'hasty'"):
        ClinicianLM(policy="hasty")


def test_chat_travels_as_json(lm: ClinicianLM) -> None:
    assert json.loads(lm.apply_chat_template(CHAT)) == CHAT
    assert lm.tokenizer_name == NAME
    assert isinstance(lm.chat_template(True), str)


def test_batches_do_not_change_answers(lm: ClinicianLM) -> None:
    opening = "Patient: My stomach hurts and I'm a man of 22.\nDoctor: When did this start?\nPatient: Since last night."
    prompts = [lm.apply_chat_template(CHAT), opening + "\nDoctor:", "Patient: \nDoctor:", "nonsense"]
    together = lm.generate_until([request(p) for p in prompts], disable_tqdm=True)
    alone = [lm.generate_until([request(p)])[0] for p in reversed(prompts)][::-1]
    fresh = [ClinicianLM().generate_until([request(p)])[0] for p in prompts]
    assert together == alone == fresh
    assert all(together)


def test_stop_strings_cut(lm: ClinicianLM) -> None:
    forced = json.dumps([*CHAT[:1], {"role": "user", "content": CHAT[1]["content"] + "\n\nconclude now"}])
    whole, cut = (lm.generate_until([request(forced, until)])[0] for until in (None, ["\n"]))
    assert "\nDifferential:" in whole
    assert cut == whole.split("\n")[0]
    assert "Final Diagnosis: " in cut


def test_generations_reach_the_cache(lm: ClinicianLM) -> None:
    stored: list[tuple[str, str]] = []

    class Hook:
        def add_partial(self, attr: str, req: object, res: str) -> None:
            stored.append((attr, res))

    lm.set_cache_hook(Hook())
    answers = lm.generate_until([request(lm.apply_chat_template(CHAT))])
    assert stored == [("generate_until", answers[0])]


def test_it_refuses_what_it_cannot_do(lm: ClinicianLM) -> None:
    for refused in (lm.loglikelihood, lm.loglikelihood_rolling):
        with pytest.raises(UserError, match="only generates"):
            refused([])
