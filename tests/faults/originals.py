"""Sound files that use everything their formats have, for changes to begin with."""

from __future__ import annotations

_PLAIN = b"""\
---
id: k7f2
title: Login loses the return URL
status: pending
---

After SSO people land on / instead of where they were.
"""

_FULL = """\
---
# what a person wrote above
id: k7f2
title: "Login: \\u00fc loses the return URL"   # and beside
type: task
status: reviewing
priority: 1
labels: [auth, 'web', "ü"]
blocked_by:
  - m3xq
  - b1kd
parent: e0pc
requires: review
awaiting: review
approval: {by: Ada Lovelace, at: 2026-03-04T05:06:07Z, head: 0123456789012345678901234567890123456789, strength: L0}
reviewer: Grace
defer_until: 2026-05-01
agent: claude
model: 'opus'
isolation: task
base: main
branch: gitticks/work/k7f2
start_sha: 0123456789012345678901234567890123456789
end_sha: 0123456789012345678901234567890123456789
review_round: 2
failed_reviews: 1
usage: {iterations: 3, tokens_in: 12345, tokens_out: 678, cost: 1.25, seconds: 90.5}
agent_sessions: {claude: abc-123}
asked_at: 2026-03-04T05:00:00Z
created: 2026-03-04T05:00:00Z
created_by: Ada Lovelace
updated: 2026-03-04T05:00:00Z
our_own_key: {kept: [as, it, is]}
text: |
  a block
  of lines
---

The summary, with `code`, *stars* and 🎉.

## Context

> ## no heading in a quote

- ## nor in a list

## Acceptance Criteria

1. It goes back.

## Script

```sh
echo hello
```

```sh reviewer
true
```

## Questions

### 2026-03-04T05:58:00Z · agent · claude

Which tone?

### 2026-03-04T06:58:00Z · human · Ada

Friendly.

## Handoff

- DONE: all
- REMAINING: nothing

## Review

PASS: well done, no `FAIL` found
<!-- FAIL -->

## Notes

### 2026-03-04T05:58:00Z · engine · gitticks

\\## escaped

### 2026-03-04T05:59:00Z · human · Ada

```
## fenced
```
""".encode()

_WINDOWS = b"\xef\xbb\xbf" + _FULL.replace(b"\n", b"\r\n")

_EPIC = b"""\
---
{id: e0pc, title: Accounts, type: epic, status: working, labels: []}
---
Setext
------

text

Notes
-----
"""

TASKS = (_PLAIN, _FULL, _WINDOWS, _EPIC)

_EVENTS = (
    b'{"type":"task.created","at":"2026-03-04T05:00:00Z","actor":{"kind":"human","name":"Ada"}}\n'
    b'{"type":"status.changed","at":"2026-03-04T05:01:00Z","actor":{"kind":"agent","name":"claude","role":"worker"},'
    b'"from":"pending","to":"working"}\n'
    b'{"type":"auto.advanced","at":"2026-03-04T05:02:00.5+02:00","actor":{"kind":"engine","name":"gitticks"},'
    b'"from":"working","to":"agent-review","reason":"hand-off","round":1,"list":["a","b"],"deep":{"x":[1,null]}}\n'
    b'{"type":"note.added","at":"2026-03-04T05:03:00Z","actor":{"kind":"human","name":"\xc3\xbc \\u00fc"},"count":3}\n'
)
HISTORIES = (_EVENTS, _EVENTS * 20, _EVENTS.replace(b"\n", b"\r\n"))

CONFIGS = (
    b"version: 1\n",
    b"""\
version: 1
base: main   # where it goes
agent: mine
agents:
  claude: {model: null, mode: auto-edit, args: [], fallback: [codex]}
  mine:
    type: command
    argv: ["./agent.sh", "--now"]
    prompt: stdin
review: council
reviewers:
  - {name: correctness, agent: claude, focus: "bugs and missing tests"}
council: {rule: any, rounds: 3, timeout: 10m}
human: when-required
verify: {test: make test, build: null, committed: true, scripts: [], retries: 1}
iterations: 10
budget:
  run: {iterations: null, tokens: 1000000, cost: 20.0, duration: 2h}
parallel: 3
merge: {mode: queue, strategy: squash}
limits: {in_review: 10, output: 64MB}
sync: {auto: "off"}
keep: {transcripts: 14d}
""",
)
