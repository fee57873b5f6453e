"""Agent files: front matter that says how an analysis is led, and the prompt that leads it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import cast, get_args

import yaml

from nightwatch_core.analysis.limits import BASES, EXAMPLE, EXAMPLES, PROMPT
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import TOOLS, Agents, AgentSpec, BrokenAgent, Effort
from nightwatch_core.models.value import Value
from nightwatch_core.ports import AgentStore
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import digest, text_table

# The front matter of an agent file: its values with their lines, and one check a field.

EFFORTS: tuple[str, ...] = get_args(Effort)
_FIRST = 2  # the line after the opening "---"

Problem = tuple[str, int | None]  # a sentence, and the item of the list it is about


class FrontMatter(Value):
    """Front matter of an agent file, and the prompt below it."""

    meta: dict[str, object] = {}
    body: str = ""
    lines: dict[str, int] = {}  # of keys in the file, and of a list's items as "key 0"
    wrong: str = ""  # what is wrong with the YAML; nothing else is known then
    wrong_line: int = 1

    def line(self, key: str, item: int | None = None) -> int:
        """Return the line of a key, or of an item of its list; the first where it is not known."""
        own = self.lines.get(key, 1)
        return own if item is None else self.lines.get(f"{key} {item}", own)


@lru_cache(maxsize=32)  # YAML is slow, and every analysis reads all agents
def read_front_matter(text: str) -> FrontMatter:
    """Take an agent file apart: a text without front matter is all prompt.

    >>> front = read_front_matter("---\\nname: a\\ntools:\\n- blame\\n---\\nFind it.\\n")
    >>> front.meta["name"], front.line("name"), front.line("tools", 0), front.body
    ('a', 2, 4, 'Find it.\\n')
    >>> read_front_matter("---\\nname: a\\nname: b\\n---\\n").wrong_line
    3
    """
    try:
        meta, body = frontmatter.read(text)
    except frontmatter.BrokenFrontMatter as broken:
        wrong = broken.problem if broken.line else str(broken)
        return FrontMatter(wrong=wrong[:200], wrong_line=broken.line or 1)
    return FrontMatter(meta=meta, body=body, lines=_lines(text.removeprefix("\ufeff")))


def problems(front: FrontMatter) -> Iterator[tuple[str, int, str]]:
    """Yield keys with their line and what is wrong; an empty value counts as not given."""
    for key, value in front.meta.items():
        if key not in CHECKS:
            yield line(key, 60), front.line(key), f"it is not known, only {', '.join(CHECKS)}"
        elif value is not None and (problem := CHECKS[key](value)):
            why, item = problem
            yield key, front.line(key, item), why


def _text(value: object) -> Problem | None:
    return None if isinstance(value, str) and value.strip() else ("it has to be text", None)


def _list_of(
    allowed: Callable[[object], bool], sentence: str
) -> Callable[[object], Problem | None]:
    def check(value: object) -> Problem | None:
        if not isinstance(value, list):
            return sentence, None
        wrong = next((n for n, item in enumerate(value) if not allowed(item)), None)
        return None if wrong is None else (f"{_shown(value[wrong])}: {sentence}", wrong)

    return check


def _is_language(one: object) -> bool:
    return isinstance(one, str) and bool(one.strip()) and one == one.lower()


def _examples(value: object) -> Problem | None:
    most = f"at most {EXAMPLES} texts of at most {EXAMPLE} characters"
    if not isinstance(value, list) or len(value) > EXAMPLES:
        return f"it has to be a list of {most}", None
    for item, entry in enumerate(value):
        if not isinstance(entry, str) or not 0 < len(entry.strip()) <= EXAMPLE:
            return f"every example has to be text, {most}", item
        if "</example>" in entry:
            return "an example holds no </example>", item
    return None


def _effort(value: object) -> Problem | None:
    is_one = isinstance(value, str) and value in EFFORTS
    return None if is_one else (f"{_shown(value)} is not one of {', '.join(EFFORTS)}", None)


def _number(smallest: int, largest: int) -> Callable[[object], Problem | None]:
    def check(value: object) -> Problem | None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        fits = whole and smallest <= int(str(value)) <= largest
        wanted = f"it has to be a whole number from {smallest} to {largest}"
        return None if fits else (wanted, None)

    return check


CHECKS: Mapping[str, Callable[[object], Problem | None]] = {
    "name": _text,
    "description": _text,
    "extends": _text,
    "languages": _list_of(
        _is_language, "it has to be a list of languages in small letters: [ruby]"
    ),
    "model": _text,
    "effort": _effort,
    "thinking_budget": _number(1_024, 128_000),
    "max_iterations": _number(1, 100),
    "max_tokens": _number(1_000, 128_000),
    "tools": _list_of(lambda item: item in TOOLS, f"it has to be a list of {', '.join(TOOLS)}"),
    "examples": _examples,
}


def _shown(value: object) -> str:
    return repr(line(str(value)[:200], 60))


def _lines(text: str) -> dict[str, int]:
    parts = frontmatter.parts_of(text)
    root = frontmatter.composed(text[parts.begin : parts.end])[0] if parts else None
    lines: dict[str, int] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        lines[key.value] = key.start_mark.line + _FIRST
        for item, entry in enumerate(value.value if isinstance(value, yaml.SequenceNode) else ()):
            lines[f"{key.value} {item}"] = entry.start_mark.line + _FIRST
    return lines


__all__ = ["BASE", "BUILT_IN", "CHECKS", "agents_of", "choose", "inherited"]

BASE = "base-analyzer"  # leads where no agent speaks the trace's language
_OWN = ("name", "description", "extends", "languages")  # never taken from a base
_EXAMPLES = "# Worked examples"

BUILT_IN = AgentSpec(
    name=BASE,
    description="The prompt used where there are no agent files.",
    digest="built-in",
    tools=TOOLS,
    prompt=text_table(__package__, "prompts.toml")["built_in_agent"],
)


class BrokenFile(StopTheNight):
    """An agent file that cannot be used; says file and line, and what is allowed."""

    def __init__(self, said: str, languages: tuple[str, ...] = ()) -> None:
        super().__init__(said)
        self.languages = languages


def inherited(name: str, text_of: Callable[[str], str | None]) -> AgentSpec:
    """Build an agent with what its bases give: their prompts before its own, their fields where
    it says nothing. Name, description and languages are its own; examples replace a base's.

    `text_of` gives the text of an agent's file (the name is the file's, without `.md`), None where
    there is none; a base analyser without a file is the built-in one. A text without front matter
    is all prompt. Raises `StopTheNight` naming file, line, key and what is allowed, also where
    bases go round in a circle or are not there.

    >>> text = "---\\nlanguages: [go]\\n---\\nFind the cause.\\n"
    >>> inherited("go-services", {"go-services": text}.get).languages
    ('go',)
    """
    chain = _chain(name, text_of)
    fields: dict[str, object] = {}
    for _, front in reversed(chain):
        fields = {key: value for key, value in fields.items() if key not in _OWN}
        fields |= {key: value for key, value in front.meta.items() if value is not None}
    bodies = [front.body.strip() for _, front in reversed(chain)]
    given = cast(Sequence[str], fields.get("examples") or ())
    examples = [f"<example>\n{item.strip()}\n</example>" for item in given]
    prompt = "\n\n".join(filter(None, (*bodies, *((_EXAMPLES, *examples) if examples else ()))))
    if not 0 < len(prompt) <= PROMPT:
        said = f"the prompt below the front matter must have 1 to {PROMPT} characters"
        raise BrokenFile(f"agents/{name}.md:1: {said}", _languages(chain[0][1]))
    texts = "\0".join(text_of(item) or BUILT_IN.prompt for item, _ in chain)
    return AgentSpec.model_validate(
        {**fields, "name": name, "prompt": prompt, "digest": digest(texts)}
    )


def _chain(name: str, text_of: Callable[[str], str | None]) -> list[tuple[str, FrontMatter]]:
    chain: list[tuple[str, FrontMatter]] = []
    own: tuple[str, ...] = ()
    wanted: str | None = name
    while wanted is not None:
        text = text_of(wanted)
        if text is None and wanted == BASE and chain:
            return [*chain, (BASE, FrontMatter(body=BUILT_IN.prompt))]
        if text is None:
            raise _no_base(chain, wanted, own)
        front = read_front_matter(text)
        own = own if chain else _languages(front)
        _check(wanted, front, tuple(item for item, _ in chain), own)
        chain.append((wanted, front))
        base = front.meta.get("extends")
        wanted = base if isinstance(base, str) else None
    return chain


def _check(name: str, front: FrontMatter, before: tuple[str, ...], own: tuple[str, ...]) -> None:
    wrong = [(front.wrong_line, front.wrong)] if front.wrong else []
    wrong += [(at, f"{key}: {why}") for key, at, why in problems(front)]
    if front.meta.get("name") not in (None, name):
        wrong.append((front.line("name"), f"name: it has to be {name!r}, as the file is called"))
    base = front.meta.get("extends")
    if base in (*before, name):
        circle = " → ".join((*before, name, str(base)))
        wrong.append((front.line("extends"), f"extends: it leads back to itself: {circle}"))
    if len(before) > BASES:
        wrong.append((front.line("extends"), f"extends: more than {BASES} bases"))
    if wrong:
        at, why = min(wrong)
        asked = "".join(f", which agents/{item}.md extends" for item in reversed(before))
        raise BrokenFile(f"agents/{name}.md:{at}: {why}{asked}", own)


def _no_base(
    chain: list[tuple[str, FrontMatter]], wanted: str, languages: tuple[str, ...]
) -> StopTheNight:
    if not chain:
        return BrokenFile(f"agents/{line(wanted, 60)}.md:1: there is no such file")
    name, front = chain[-1]
    said = f"extends: there is no agents/{line(wanted, 60)}.md"
    return BrokenFile(f"agents/{name}.md:{front.line('extends')}: {said}", languages)


def agents_of(store: AgentStore) -> Agents:
    """Read every agent of the store; those that cannot be read are `broken`, and stop nobody.

    Raises `StopTheNight` where the store itself cannot be read.
    """
    specs: list[AgentSpec] = []
    broken: list[BrokenAgent] = []
    for name in store.names():
        try:
            specs.append(store.agent(name))
        except StopTheNight as trouble:
            languages = trouble.languages if isinstance(trouble, BrokenFile) else ()
            broken.append(BrokenAgent(name=name, complaint=str(trouble), languages=languages))
    spoken = sorted((language, spec.name) for spec in specs for language in spec.languages)
    shared = tuple(
        f"agents/{name}.md: {language} is spoken by agents/{other}.md already, which leads"
        for (known, other), (language, name) in pairwise(spoken)
        if known == language
    )
    complaints = (*(agent.complaint for agent in broken), *shared)
    return Agents(specs=tuple(specs), broken=tuple(broken), complaints=complaints)


def choose(agents: Agents, language: str, name: str = "") -> AgentSpec:
    """Choose the agent of that name, else the first for the language, the base, the built-in.

    Raises `StopTheNight` with the names there are where the named one is not among them, and with
    what is wrong where the chosen one is broken; a broken file that nobody chose is no trouble.
    """
    leads: dict[str, AgentSpec | BrokenAgent] = {spec.name: spec for spec in agents.specs}
    leads |= {agent.name: agent for agent in agents.broken}
    if name and name not in leads and name != BASE:
        known = ", ".join(dict.fromkeys((*sorted(leads), BASE)))
        raise StopTheNight(f"there is no agent {line(name, 60)!r}: choose {known}")
    spoken = language.lower()
    speaking = sorted(n for n, item in leads.items() if spoken and spoken in item.languages)
    chosen = leads.get(name or (speaking[0] if speaking else BASE), BUILT_IN)
    if isinstance(chosen, BrokenAgent):
        raise StopTheNight(chosen.complaint)
    return chosen


def _languages(front: FrontMatter) -> tuple[str, ...]:
    named = front.meta.get("languages")
    return tuple(item for item in named if isinstance(item, str)) if isinstance(named, list) else ()
