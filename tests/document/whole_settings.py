"""A file with every setting, and what a file says."""

from __future__ import annotations

from gitticks.document.settings import file_layer
from gitticks.document.settings_layers import merge_layers
from gitticks.model.settings import Settings

WHOLE = """\
version: 1
base: null                     # where approved work is merged
agent: null
agents:
  claude: {model: null, mode: auto-edit, args: [], fallback: [codex]}   # more
  mine:   {type: command, argv: ["./agent.sh"], prompt: file, provider: x}
review: agent
reviewers: [{name: correctness, agent: claude, focus: "bugs"}]
review_limit: 2
council: {rule: any, rounds: 3, timeout: 10m}
human: always
verify: {test: null, build: null, committed: true, scripts: [], retries: 0}
iterations: 10
budget:
  task: {iterations: null, tokens: null, cost: null, duration: null}
  epic: {iterations: null, tokens: null, cost: null, duration: null}
  run:  {iterations: null, tokens: null, cost: 20.0, duration: null}
prices: {gpt-5.1: {input: 1, output: 2.5}}
parallel: 3
isolation: task
workspace: {dir: .gitticks-work, update: manual}
setup: {copy: [], run: null}
merge: {mode: queue, strategy: merge, on_conflict: return, push: false}
checkpoint_every: 5
sandbox: {preset: permissive, allowed_paths: [], denied_paths: [], allowed_hosts: [], denied_hosts: [], max_process_time: 5m, max_processes: 512, max_memory: 8GB, max_file_size: 2GB}
permissions: {mode: auto-edit, deny: [], allow: [], default: ask, timeout: 5m}
approvals: {minimum: L0, allowed_signers: null, four_eyes: false}
limits: {in_review: 10, iteration: 30m, idle: 10m, gate: 10m, awaiting: 24h, output: 64MB, prompt: 200kB}
claims: {lease: 10m}
sync: {auto: "off"}
keep: {transcripts: 14d, rescued: 90d}
notify: null
"""


def settings_of(text: str) -> Settings:
    return merge_layers([file_layer(text)]).settings
