"""The JSON Schema of plans; `UPDATE_DOCS=1` writes specs/fault-plan.schema.json."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from random import Random

import jsonschema
import pytest

from fscontract.contract.program.faults import AIMS, FAULTS, Fault, FaultPlan, random_plan
from fscontract.contract.program.plan_schema import plan_schema
from tests.contract.program.test_faults import INVALID, INVALID_AIMS

VALIDATOR = jsonschema.Draft202012Validator(plan_schema())
#: Rules that a schema can't express.
UNCHECKED = {
    "seed without probability",
    "offsets in the wrong order",
    "period that ends before it starts",
    "request that is a float",  # 1.0 is an integer in a schema
    "infinite period",
    "infinite amount",
    "seconds that are not a number",
}


def test_schema_file_is_the_generated_one() -> None:
    text = json.dumps(plan_schema(), indent=2) + "\n"
    path = Path(str(files("fscontract.specs").joinpath("fault-plan.schema.json")))
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_plans_are_valid() -> None:
    plans = [random_plan(Random(seed), FAULTS) for seed in range(30)]
    plans.append(FaultPlan((Fault.corrupt("zeros", silent=True, operation=("get", "put")),)))
    plans.append(FaultPlan((Fault.reset(during=slice(1, None), offset=slice(4, 9), path="*"),)))
    for plan in plans:
        VALIDATOR.validate(json.loads(plan.dumps()))


@pytest.mark.parametrize("name", [n for n in {**INVALID, **INVALID_AIMS} if n not in UNCHECKED])
def test_invalid_plan_does_not_match_the_schema(name: str) -> None:
    try:
        data = json.loads({**INVALID, **INVALID_AIMS}[name])
    except (ValueError, RecursionError):
        return
    assert not VALIDATOR.is_valid(data)


def test_schema_has_every_aim_that_json_can_express() -> None:
    (kind, *_) = plan_schema()["properties"]["faults"]["items"]["oneOf"]
    assert set(kind["properties"]) - {"kind", "amount"} == set(AIMS) - {"where"}
