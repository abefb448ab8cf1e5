from __future__ import annotations

import re
import tomllib
from pathlib import Path

from ruamel.yaml import YAML

import gitticks

ROOT = Path(__file__).parents[2]


def test_the_workflow_runs_what_every_machine_runs() -> None:
    workflow = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "ci.yml")
    assert set(workflow["on"]) == {"push", "pull_request", "schedule"}
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step][-1] == ".ci/run"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_image_has_what_a_run_needs() -> None:
    image = (ROOT / "Dockerfile").read_text()
    assert {"git", "bubblewrap"} <= set(
        re.findall(r"[\w-]+", image.partition("apt-get install")[2].partition("&&")[0])
    )
    assert image.splitlines()[-2:] == ['ENTRYPOINT ["gt"]', 'CMD ["--help"]']


def test_the_image_is_built_from_all_that_the_wheel_takes() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {path.partition("/")[0] for path in wheel["force-include"]} <= kept


def test_the_version_stands_in_one_place() -> None:
    held = [
        path
        for folder in ("gitticks", "docs", "requirements")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".toml", ".md", ".txt")
        and f'"{gitticks.__version__}"' in path.read_text("utf-8")
    ]
    assert held == [ROOT / "gitticks" / "__init__.py"]
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
