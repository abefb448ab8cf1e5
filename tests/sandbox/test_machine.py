from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitticks.model.settings import SandboxPreset, SandboxSettings
from gitticks.sandbox.machine import read_machine, tool_folders
from gitticks.sandbox.walls import Inside, bubblewrap, walls_of


@pytest.mark.debian("bubblewrap", program="bwrap")
def test_what_cannot_be_looked_at_is_no_secret_to_hide(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    path = {"PATH": os.environ["PATH"]}
    assert tmp_path / ".ssh" in read_machine({**path, "HOME": str(tmp_path)}).secrets
    # As /root/.ssh for everybody but root, the names below this one cannot even be asked for.
    assert read_machine({**path, "HOME": f"/{'x' * 300}"}).home.name.startswith("x")


@pytest.mark.debian("bubblewrap", program="bwrap")
@pytest.mark.parametrize(
    "name",
    [
        "snap/firefox/common/.mozilla",
        ".var/app/org.mozilla.firefox",
        ".config/BraveSoftware/Default",
        ".config/mozilla/firefox",
        ".local/share/kwalletd/kdewallet.kwl",
        ".local/share/fish/fish_history",
        ".histfile",
        ".fly/config.yml",
        ".pulumi/credentials.json",
    ],
)
def test_browsers_histories_and_keys_are_hidden_wherever_a_packager_puts_them(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    machine = read_machine({"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    hidden = {*machine.secrets, *machine.secret_files}
    assert hidden.intersection((file, *file.parents))


def test_a_folder_of_programs_shows_what_is_beside_it_only_where_that_is_a_tool(tmp_path: Path) -> None:
    for name in ("tool/bin", "project/bin", "home"):
        (tmp_path / name).mkdir(parents=True)
    path = os.pathsep.join(str(tmp_path / name / "bin") for name in ("tool", "project"))
    found = tool_folders({"PATH": path, "HOME": str(tmp_path / "home")}, (tmp_path / "project/.work/k7f2",))
    seen = {str(folder.relative_to(tmp_path)) for folder in found if folder.is_relative_to(tmp_path)}
    assert seen == {"tool", "project/bin"}


@pytest.mark.debian("bubblewrap", program="bwrap")
@pytest.mark.parametrize("preset", [SandboxPreset.STRICT, SandboxPreset.PERMISSIVE])
def test_nobody_sets_up_the_kernel_root_included(tmp_path: Path, preset: SandboxPreset) -> None:
    walls = walls_of(SandboxSettings(preset))
    assert walls is not None
    words = bubblewrap(walls, read_machine(os.environ), Inside(tmp_path))
    script = (
        "cat /proc/sys/kernel/core_pattern >/dev/null && find /proc/sys /proc/irq /proc/bus -writable -type f"
    )
    ran = subprocess.run([*words, "/bin/sh", "-c", script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")
