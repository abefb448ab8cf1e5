"""The real programs of agents, set up to talk to a stand-in of their service; keys and homes are made up."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.model_services import ModelServices

VARIABLE = "GITTICKS_REAL_AGENTS"
FOLDER = os.environ.get(VARIABLE, "")
"""The folder that holds the programs; read before the tests are sealed off from such variables."""
KEY = "made-up-key"


@dataclass(frozen=True, slots=True)
class Client:
    """A real program; `set_up` writes its settings into a home and returns its variables.

    `is_asking` says that it calls a hook before it uses a tool.
    """

    name: str
    model: str
    set_up: Callable[[Path, ModelServices], Mapping[str, str]]
    is_asking: bool = True

    @property
    def is_found(self) -> bool:
        """True if the program lies in the folder."""
        return bool(FOLDER) and (Path(FOLDER) / self.name).exists()


def _claude(home: Path, services: ModelServices) -> Mapping[str, str]:
    return {"ANTHROPIC_BASE_URL": services.address, "ANTHROPIC_API_KEY": KEY}


def _codex(home: Path, services: ModelServices) -> Mapping[str, str]:
    settings = home / ".codex/config.toml"
    settings.parent.mkdir()
    settings.write_text(
        'model_provider = "stand-in"\n\n[model_providers.stand-in]\nname = "stand-in"\n'
        f'base_url = "{services.address}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
        "request_max_retries = 1\nstream_max_retries = 1\n"
    )
    return {"OPENAI_API_KEY": KEY}


def _gemini(home: Path, services: ModelServices) -> Mapping[str, str]:
    settings = home / ".gemini/settings.json"
    settings.parent.mkdir()
    settings.write_text(
        json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"maxAttempts": 1}})
    )
    return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": services.address}


def _opencode(home: Path, services: ModelServices) -> Mapping[str, str]:
    model = {
        "tool_call": True,
        "limit": {"context": 128000, "output": 8192},
        "cost": {"input": 1, "output": 2},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{services.address}/v1", "apiKey": KEY},
        "models": {"some-model": model},
    }
    settings = home / ".config/opencode/opencode.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        json.dumps(
            {"small_model": "stand-in/some-model", "autoupdate": False, "provider": {"stand-in": provider}}
        )
    )
    return {}


ALL = (
    Client("claude", "claude-sonnet-4-5", _claude),
    Client("codex", "gpt-5.5", _codex),
    Client("gemini", "gemini-2.5-flash", _gemini),
    Client("opencode", "stand-in/some-model", _opencode, is_asking=False),
)
FOUND = tuple(client for client in ALL if client.is_found)
