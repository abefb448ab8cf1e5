"""An agent that does its work and lets what users report come between, as each task's plan says.

A plan is a folder for each task, outside of the repository: a file `fault-<n>-<kind>` is what comes between next, and
is renamed as it happens. `log` has a line for each session and for each hand-off that was written.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.support.agents import write_program

SHARES = (
    ("limit-with-reset", 16),
    ("limit-without-reset", 16),
    ("rate-with-time", 16),
    ("rate-without-time", 16),
    ("network", 13),
    ("hang", 8),
    ("login", 5),
    ("crash", 10),
)
"""Of a hundred faults that users report, how many are of which kind."""
COUNTED_AS_CRASH = frozenset({"hang", "crash"})
"""Of these, two on one task make it stuck, as they should."""

AGENT = r"""
import datetime, json, os, pathlib, subprocess, sys, time

task, role = os.environ["GITTICKS_TASK"], os.environ["GITTICKS_ROLE"]
plan, box = pathlib.Path(sys.argv[1]) / task, pathlib.Path(os.environ["GITTICKS_MAILBOX"])


def log(text):
    with open(plan / "log", "a") as file:
        file.write(f"{role} {os.environ['GITTICKS_ROUND']} {text}\n")


def append(text):
    with open(box / "TASK.md", "a") as file:
        file.write(text)


def git(*words):
    subprocess.run(["git", *words], check=True)


def told(kind, **more):
    print(json.dumps({"gitticks": kind, **more}), flush=True)
    sys.exit(75)


def fault(kind):
    if kind == "limit-with-reset":
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
        told("usage-limit", message=f"You have hit your limit, resets {at:%Y-%m-%dT%H:%M:%SZ}")
    if kind == "limit-without-reset":
        told("usage-limit", message="You have hit your limit")
    if kind == "rate-with-time":
        told("rate-limit", message="60 requests a minute", retry_after=2)
    if kind == "rate-without-time":
        sys.exit("Error: 429 Too Many Requests")
    if kind == "network":
        told("outage", message="ECONNRESET")
    if kind == "login":
        told("login", message="401 please log in")
    pathlib.Path("half-done.txt").write_text("half")
    if kind == "hang":
        time.sleep(600)
    os.kill(os.getpid(), 11)


log("begun")
for one in sorted(plan.glob("fault-*")):
    os.rename(one, plan / f"had-{one.name}")
    fault(one.name.split("-", 2)[2])
time.sleep(float(os.environ.get("SOAK_WORK_SECONDS", "0.1")))
text = (box / "TASK.md").read_text()
if role == "reviewer":
    fails = (plan / "fails-review").exists() and os.environ["GITTICKS_ROUND"] == "1"
    append(f"\n## Review\n\n{'FAIL, not yet' if fails else 'PASS, fine'}\n")
    sys.exit()
if (plan / "asks").exists() and " human " not in text:
    print("<promise>INPUT_NEEDED: Which tone?</promise>")
    sys.exit()
with open(f"{task}.txt", "a") as file:
    file.write(f"round {os.environ['GITTICKS_ROUND']}\n")
git("add", "-A")
git("commit", "-q", "-m", f"work on {task}")
if (plan / "by-command").exists():
    subprocess.run(["gt", "handoff", "DONE: it"], check=True)
    log("handed over")
    subprocess.run(["gt", "complete"], check=True)
else:
    append("\n## Handoff\n\n- DONE: it\n")
    log("handed over")
    print("<promise>COMPLETE</promise>")
time.sleep(float(os.environ.get("SOAK_WORK_SECONDS", "0.1")))
"""


def write_faulty_agent(folder: Path, mark: str) -> tuple[str, ...]:
    """Writes the agent and returns its command line; the plans lie in `folder / "plans"`."""
    program = write_program(folder / "faulty.py", AGENT, interpreter=f"{sys.executable} -IS")
    return (str(program), str(folder / "plans"), mark)


def deal(tasks: Sequence[str], seed: int) -> dict[str, str]:
    """Returns which fault befalls which task: one each, in the shares in which users report them."""
    kinds: list[str] = []
    whole = sum(share for _, share in SHARES)
    due = Counter[str]()
    for number in range(1, len(tasks) + 1):
        kind = max(SHARES, key=lambda one: one[1] * number / whole - due[one[0]])[0]
        due[kind] += 1
        kinds.append(kind)
    random.Random(seed).shuffle(kinds)
    return dict(zip(tasks, kinds, strict=True))


def write_plan(folder: Path, task: str, faults: Sequence[str], *marks: str) -> Path:
    """Writes a task's plan: its faults in order, and `asks`, `fails-review` or `by-command` if it is to do that."""
    plan = folder / "plans" / task
    plan.mkdir(parents=True)
    for number, fault in enumerate(faults):
        (plan / f"fault-{number:02}-{fault}").touch()
    for mark in marks:
        (plan / mark).touch()
    return plan


def handed_over(folder: Path, task: str) -> Counter[str]:
    """Returns how often the agent handed a task over in each round."""
    lines = (folder / "plans" / task / "log").read_text().splitlines()
    return Counter(line for line in lines if line.endswith("handed over"))
