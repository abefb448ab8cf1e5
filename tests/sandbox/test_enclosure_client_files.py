"""What a client keeps in the person's home: no sandbox changes what it runs the next time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitticks.agents.base import AgentSpec
from gitticks.agents.registry import PRESETS
from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import discover
from gitticks.model.settings import AgentKind, SandboxPreset, SandboxSettings
from gitticks.runner.places.conversation import client_needs
from gitticks.sandbox.enclosure import enclosed
from gitticks.sandbox.walls import walls_of
from tests.support.repositories import git, make_repository

pytestmark = [pytest.mark.debian("bubblewrap", program="bwrap"), pytest.mark.damages]

KINDS = (AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE, AgentKind.AMP)
OF_CLAUDE = ("settings.json", "agents")
SETTINGS = {AgentKind.CLAUDE: "settings.json", AgentKind.CODEX: "config.toml"}


def inside(folder: Path, kind: AgentKind, script: str, preset: SandboxPreset, **variables: str) -> list[str]:
    """Runs a script as a client's in a home, and returns what a person is told."""
    make_repository(folder / "project")
    git("commit", "-q", "--allow-empty", "-m", "begin", at=folder / "project")
    git("worktree", "add", "-q", str(folder / "work"), at=folder / "project")
    repository, told, walls = discover(folder / "project"), list[str](), walls_of(SandboxSettings(preset))
    assert walls is not None
    outer = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
    needs = client_needs(AgentSpec(kind.value, kind), outer)._replace(hosts=())
    checkout = checkout_at(repository, folder / "work")
    with enclosed(walls, repository, checkout, outer, client=needs, warn=told.append) as enclosure:
        subprocess.run(
            enclosure.around(("/bin/sh", "-c", script)), env=enclosure.environment(outer), check=True
        )
    return told


@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
@pytest.mark.parametrize("kind", KINDS)
def test_settings_that_were_missing_are_not_the_agents_to_write(
    tmp_path: Path, kind: AgentKind, preset: SandboxPreset
) -> None:
    places = PRESETS[kind].places
    named = [path.replace("~", "$HOME") for path in (*places.settings, *places.copies)]
    script = "; ".join(f'(echo evil > "{one}" || echo evil > "{one}/evil") 2>/dev/null' for one in named)
    first = places.folders[0].replace("~", "$HOME")
    assert inside(tmp_path, kind, f"{script}; echo kept > {first}/session", preset) == []
    found = [path for path in tmp_path.glob(".*/**/*") if path.is_file() and "evil" in path.read_text()]
    assert not found
    assert (tmp_path / places.folders[0][2:] / "session").read_text() == "kept\n"


@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
def test_settings_that_are_links_are_read_and_stay_links(tmp_path: Path, preset: SandboxPreset) -> None:
    theirs, real = tmp_path / ".claude", tmp_path / "dotfiles"
    (real / "agents").mkdir(parents=True)
    (real / "settings.json").write_text('{"model": "mine"}')
    theirs.mkdir()
    for name in OF_CLAUDE:
        (theirs / name).symlink_to(f"../dotfiles/{name}")
    replace = "; ".join(
        f"(echo evil > {name}/evil; rm {name}; echo evil > {name}) 2>/dev/null" for name in OF_CLAUDE
    )
    told = inside(tmp_path, AgentKind.CLAUDE, f"cd ~/.claude; grep -q mine settings.json; {replace}", preset)
    assert [
        str(theirs / name) in words for name, words in zip(OF_CLAUDE, sorted(told, reverse=True), strict=True)
    ]
    assert (theirs / "settings.json").read_text() == '{"model": "mine"}'
    assert list((theirs / "agents").iterdir()) == []
    assert len(list(theirs.glob("*.aside"))) == len(OF_CLAUDE)


def test_what_a_session_makes_of_a_copy_goes_with_it(tmp_path: Path) -> None:
    snapshots = tmp_path / ".claude/shell-snapshots"
    snapshots.mkdir(parents=True)
    (snapshots / "mine.sh").write_text("true\n")
    inside(
        tmp_path,
        AgentKind.CLAUDE,
        "cd ~/.claude/shell-snapshots; echo evil | tee mine.sh > new.sh",
        SandboxPreset.STRICT,
    )
    assert {path.name: path.read_text() for path in snapshots.iterdir()} == {"mine.sh": "true\n"}


@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (AgentKind.CODEX, ".codex/skills/mine"),
        (AgentKind.CODEX, ".codex/plugins/cache/mine"),
        (AgentKind.CODEX, ".codex/tmp/arg0/apply_patch"),
        (AgentKind.GEMINI, ".gemini/tmp/bin/rg"),
        (AgentKind.OPENCODE, ".cache/opencode/bin/rg"),
        (AgentKind.OPENCODE, ".cache/opencode/node_modules/mine"),
    ],
)
def test_what_a_client_runs_out_of_its_own_folders_is_not_the_agents_to_write(
    tmp_path: Path, kind: AgentKind, path: str, preset: SandboxPreset
) -> None:
    program = tmp_path / path
    program.parent.mkdir(parents=True)
    program.write_text("mine\n")
    script = f'cd "$HOME/{Path(path).parent}"; grep -q mine {program.name} && (echo evil | tee new > {program.name})'
    above = f'cd "$HOME/{Path(path).parent.parent}" && mv "$PWD" "$PWD-2"'
    again = f'mkdir -p "$HOME/{Path(path).parent}" && echo evil > "$HOME/{path}"'
    inside(tmp_path, kind, f"({script}; {above}; {again}; true) 2>/dev/null", preset)
    assert {one.name: one.read_text() for one in program.parent.iterdir()} == {program.name: "mine\n"}


@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
def test_what_would_be_copied_is_read_and_stays_a_link_if_it_is_one(
    tmp_path: Path, preset: SandboxPreset
) -> None:
    theirs, real = tmp_path / ".codex/skills", tmp_path / "dotfiles/skills"
    for folder in (theirs.parent, real):
        folder.mkdir(parents=True)
    (real / "mine").write_text("mine\n")
    theirs.symlink_to("../dotfiles/skills")
    script = "cd ~/.codex; grep -q mine skills/mine && (echo evil > skills/mine; rm skills; mkdir skills) 2>/dev/null"
    (told,) = inside(tmp_path, AgentKind.CODEX, script, preset)
    assert str(theirs) in told
    assert theirs.resolve() == real
    assert {one.name: one.read_text() for one in real.iterdir()} == {"mine": "mine\n"}


@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
@pytest.mark.parametrize(
    ("kind", "variable", "files"),
    [
        (AgentKind.CLAUDE, "CLAUDE_CONFIG_DIR", ("kept", "settings.json", "hooks/x", ".claude.json")),
        (AgentKind.CODEX, "CODEX_HOME", ("kept", "config.toml", "skills/x")),
        (AgentKind.GEMINI, "GEMINI_CLI_HOME", (".gemini/kept", ".gemini/settings.json", ".gemini/tmp/bin/x")),
        (AgentKind.OPENCODE, "XDG_DATA_HOME", ("opencode/kept",)),
        (AgentKind.OPENCODE, "XDG_STATE_HOME", ("opencode/kept",)),
        (AgentKind.OPENCODE, "XDG_CACHE_HOME", ("opencode/bin/x",)),
        (AgentKind.OPENCODE, "XDG_CONFIG_HOME", ("opencode/opencode.json",)),
    ],
)
def test_a_variable_names_another_place_of_what_a_client_keeps(
    tmp_path: Path, kind: AgentKind, variable: str, files: tuple[str, ...], preset: SandboxPreset
) -> None:
    place = tmp_path / "other"
    tries = "; ".join(f'(mkdir -p "$(dirname {one})"; echo mine > {one}) 2>/dev/null' for one in files)
    assert (
        inside(tmp_path, kind, f'cd "${variable}" && {{ {tries}; true; }}', preset, **{variable: str(place)})
        == []
    )
    written = {
        str(one.relative_to(place))
        for one in place.glob("**/*")
        if one.is_file() and "mine" in one.read_text()
    }
    assert written == {one for one in files if one.endswith("kept")}
    assert not any((tmp_path / name).exists() for name in (".claude", ".codex", ".gemini"))


@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
@pytest.mark.parametrize(
    ("kind", "words", "program"),
    [
        (AgentKind.CLAUDE, "", ".claude/statusline.sh"),
        (AgentKind.CLAUDE, "", ".claude/scripts/lines"),
        (AgentKind.CLAUDE, '{"apiKeyHelper": "sh ~/.claude/key.sh"}', ".claude/key.sh"),
        (
            AgentKind.CLAUDE,
            '{"apiKeyHelper": "sh \\"$CLAUDE_CONFIG_DIR\\"/own/key.sh"}',
            ".claude/own/key.sh",
        ),
        (AgentKind.CODEX, 'notify = ["python3", "HOME/.codex/notify.py"]', ".codex/notify.py"),
        (AgentKind.CODEX, "notify = []", ".codex/hooks/mine"),
        (AgentKind.CODEX, "notify = []", ".codex/packages/standalone/releases/1/bin/codex"),
    ],
)
def test_a_program_beside_the_settings_of_a_client_is_not_the_agents_to_write(
    tmp_path: Path, kind: AgentKind, words: str, program: str, preset: SandboxPreset
) -> None:
    file = tmp_path / program
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\n")
    theirs, entry = program.split("/")[:2]
    if words:
        (tmp_path / theirs / SETTINGS[kind]).write_text(words.replace("HOME/", f"{tmp_path}/"))
    else:
        file.chmod(0o755)
    script = (
        f'program="$HOME/{program}"; cd "$HOME/{theirs}"; read -r line < "$program" && echo "$line" > seen\n'
        f'(echo evil >> "$program"; mv {entry} away; mkdir -p "$(dirname "$program")"; echo evil > "$program") 2>/dev/null\n'
        "true"
    )
    assert inside(tmp_path, kind, script, preset) == []
    assert file.read_text() == (tmp_path / theirs / "seen").read_text() == "#!/bin/sh\n"


def test_a_program_that_is_a_link_is_one_again_and_what_it_leads_to_is_not_shown(
    tmp_path: Path,
) -> None:
    theirs, real = tmp_path / ".claude", tmp_path / "dotfiles/line.sh"
    theirs.mkdir()
    real.parent.mkdir()
    real.write_text("#!/bin/sh\n")
    (theirs / "settings.json").write_text('{"statusLine": {"command": "~/.claude/line.sh"}}')
    (theirs / "line.sh").symlink_to("../dotfiles/line.sh")
    script = "cd ~/.claude; cat line.sh > seen; rm line.sh; echo evil > line.sh; true"
    (told,) = inside(tmp_path, AgentKind.CLAUDE, f"{{ {script}; }} 2>/dev/null", SandboxPreset.STRICT)
    assert str(theirs / "line.sh") in told
    assert (theirs / "line.sh").resolve() == real
    assert real.read_text() == "#!/bin/sh\n"
    assert not (theirs / "seen").read_text()


def test_a_client_writes_its_state_whatever_that_holds(tmp_path: Path) -> None:
    names = ("projects/mine", ".credentials.json", "other/data", "log.txt")
    for name in names:
        file = tmp_path / ".claude" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" if name == "projects/mine" else "{}")
        file.chmod(0o755)
    (tmp_path / ".claude/settings.json").write_text(
        '{"apiKeyHelper": "cat ~/.claude/.credentials.json", "permissions": {"allow": ["Read(~/.claude/projects/**)"]},'
        ' "hooks": [{"command": "cat >> ~/.claude/log.txt"}]}'
    )
    script = f"cd ~/.claude; for one in projects/new {' '.join(names)}; do echo new > $one; done"
    assert inside(tmp_path, AgentKind.CLAUDE, script, SandboxPreset.STRICT) == []
    for name in ("projects/new", *names):
        assert (tmp_path / ".claude" / name).read_text() == "new\n"


def test_a_variable_that_names_all_of_the_home_opens_it_to_no_client(tmp_path: Path) -> None:
    script = "echo evil > ~/new 2>/dev/null; true"
    inside(tmp_path, AgentKind.CODEX, script, SandboxPreset.PERMISSIVE, CODEX_HOME=f"{tmp_path}/")
    assert not (tmp_path / "new").exists()
