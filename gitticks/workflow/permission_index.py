"""Which of many rules may be about an access, so that not each of them has to be asked."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from gitticks.model.settings import PermissionRule
from gitticks.workflow.permission_patterns import any_of, first_words, fixed_first_word


class RuleIndex:
    """The rules of one place about one operation, each with its patterns.

    Those about commands are found by a pattern's first word, others by one expression for the patterns of all. A rule
    that neither can rule out, such as one with nothing but `!`, is always asked.
    """

    def __init__(
        self, rules: Sequence[tuple[PermissionRule, tuple[str, ...]]], *, is_shell: bool, is_network: bool
    ) -> None:
        self.rules = tuple(rule for rule, _ in rules)
        self._by_word: defaultdict[str, set[int]] = defaultdict(set)
        self._always: set[int] = set()
        self._others: set[int] = set()
        self._any: re.Pattern[str] | None = None
        self._is_shell = is_shell
        every: list[str] = []
        for number, (_, patterns) in enumerate(rules):
            wanted = [one for one in patterns if not one.startswith("!")]
            if not wanted:
                self._always.add(number)
            elif is_shell:
                for word in map(fixed_first_word, wanted):
                    (self._always if word is None else self._by_word[word]).add(number)
            else:
                self._others.add(number)
                every += wanted
        if every:
            self._any = any_of(tuple(every), is_host=is_network)

    def about(self, target: str) -> tuple[PermissionRule, ...]:
        """Returns the rules that may be about a command, path or host, in their order."""
        found = self._always
        if self._is_shell:
            found = found.union(*(self._by_word.get(word, ()) for word in first_words(target)))
        elif self._any is not None and self._any.fullmatch(target):
            found = found | self._others
        return tuple(self.rules[number] for number in sorted(found))
