"""Agent files: front matter that says how an analysis is led, and the prompt below it."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, StringConstraints, ValidationError

from nightwatch_core.analysis.limits import EXAMPLE, EXAMPLES, PROMPT
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import TOOLS, Agents, AgentSpec, BrokenAgent, Effort
from nightwatch_core.models.value import Value
from nightwatch_core.ports import AgentStore
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import digest, text_table

BASE = "base-analyzer"  # leads where no agent speaks the trace's language
BUILT_IN = AgentSpec(
    name=BASE,
    description="The prompt used where there are no agent files.",
    digest="built-in",
    tools=TOOLS,
    prompt=text_table(__package__, "prompts.toml")["built_in_agent"],
)
_OWN = ("name", "description", "extends", "languages")  # never taken from a base


Text = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1)]
Example = Annotated[Text, Field(max_length=EXAMPLE)]


class FrontMatter(Value, extra="forbid", strict=True):
    """The fields of an agent file; an empty value counts as not given."""

    name: Text | None = None
    description: Text | None = None
    extends: Text | None = None
    languages: list[Annotated[Text, StringConstraints(pattern="^[^A-Z]+$")]] | None = None
    model: Text | None = None
    effort: Effort | None = None
    thinking_budget: Annotated[int, Field(ge=1_024, le=128_000)] | None = None
    max_iterations: Annotated[int, Field(ge=1, le=100)] | None = None
    max_tokens: Annotated[int, Field(ge=1_000, le=128_000)] | None = None
    tools: list[Literal[TOOLS]] | None = None  # type: ignore[valid-type]
    examples: Annotated[list[Example], Field(max_length=EXAMPLES)] | None = None


class AgentFile(Value):
    """An agent file: its front matter, its prompt, and the problems by line."""

    meta: dict[str, Any] = {}
    body: str = ""
    lines: dict[str, int] = {}  # of keys, and of a list's items as "key 0"
    problems: tuple[tuple[int, str], ...] = ()

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages, also where other fields are wrong."""
        named = self.meta.get("languages")
        named = named if isinstance(named, list) else []
        return tuple(language for language in named if isinstance(language, str))


class BrokenFile(StopTheNight):
    """An agent file that cannot be used; names file and line, and what is allowed."""

    def __init__(self, said: str, languages: tuple[str, ...] = ()) -> None:
        super().__init__(said)
        self.languages = languages


@lru_cache(maxsize=32)  # YAML is slow, and every analysis reads all agents
def read_agent_file(text: str) -> AgentFile:
    """Read an agent file: a text without front matter is all prompt.

    >>> file = read_agent_file("---\\nname: a\\ntools:\\n- blame\\n---\\nFind it.\\n")
    >>> file.meta["name"], file.lines["tools 0"], file.body
    ('a', 4, 'Find it.\\n')
    >>> read_agent_file("---\\nname: a\\nname: b\\n---\\n").problems
    ((3, "key 'name' comes twice"),)
    """
    try:
        meta, body = frontmatter.read(text)
    except frontmatter.BrokenFrontMatter as broken:
        problem = broken.problem if broken.line else str(broken)
        return AgentFile(problems=((broken.line or 1, problem[:200]),))
    text = text.removeprefix("\ufeff")
    parts = frontmatter.parts_of(text)
    root = frontmatter.composed(text[parts.begin : parts.end])[0] if parts else None
    lines: dict[str, int] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        lines[key.value] = key.start_mark.line + 2  # after the opening "---"
        for item, entry in enumerate(value.value if isinstance(value, yaml.SequenceNode) else ()):
            lines[f"{key.value} {item}"] = entry.start_mark.line + 2
    return AgentFile(meta=meta, body=body, lines=lines, problems=tuple(_problems(meta, lines)))


def _problems(meta: dict[str, Any], lines: dict[str, int]) -> Iterator[tuple[int, str]]:
    try:
        FrontMatter.model_validate(meta)
    except ValidationError as wrong:
        for error in wrong.errors(include_url=False, include_input=False):
            key, *items = map(str, error["loc"])
            at = lines.get(f"{key} {items[0]}" if items else key, lines.get(key, 1))
            reason = frontmatter.problem_text(error)
            is_unknown = error["type"] == "extra_forbidden"
            known = f"it is not known, only {', '.join(FrontMatter.model_fields)}"
            yield at, f"{line(key, 60)}: {known if is_unknown else line(reason)}"


def inherited(name: str, text_of: Callable[[str], str | None]) -> AgentSpec:
    """Build an agent with the prompts of its bases before its own, and their fields as defaults.

    Name, description and languages are its own; examples replace a base's. `text_of` gives the text
    of an agent's file (the name is the file's, without `.md`), None where there is none; a base
    analyser without a file is the built-in one. Raises `StopTheNight` naming file, line, key and
    what is allowed, also where bases form a circle or do not exist.

    >>> text = "---\\nlanguages: [go]\\n---\\nFind the cause.\\n"
    >>> inherited("go-services", {"go-services": text}.get).languages
    ('go',)
    """
    chain = _chain(name, text_of)
    fields: dict[str, Any] = {}
    for _, file in reversed(chain):
        fields = {key: value for key, value in fields.items() if key not in _OWN}
        fields |= {key: value for key, value in file.meta.items() if value is not None}
    bodies = [file.body.strip() for _, file in reversed(chain)]
    examples = [f"<example>\n{text.strip()}\n</example>" for text in fields.get("examples") or ()]
    heading = ["# Worked examples"] if examples else []
    prompt = "\n\n".join(filter(None, (*bodies, *heading, *examples)))
    if not 0 < len(prompt) <= PROMPT:
        wrong = f"the prompt below the front matter must have 1 to {PROMPT} characters"
        raise BrokenFile(f"agents/{name}.md:1: {wrong}", chain[0][1].languages)
    texts = "\0".join(text_of(item) or BUILT_IN.prompt for item, _ in chain)
    return AgentSpec.model_validate(
        {**fields, "name": name, "prompt": prompt, "digest": digest(texts)}
    )


def _chain(name: str, text_of: Callable[[str], str | None]) -> list[tuple[str, AgentFile]]:
    """The agent's file and those of its bases, the nearest first."""
    chain: list[tuple[str, AgentFile]] = []
    current: str | None = name
    while current is not None:
        own = chain[0][1].languages if chain else ()
        if (text := text_of(current)) is None:
            if current == BASE and chain:
                return [*chain, (BASE, AgentFile(body=BUILT_IN.prompt))]
            if not chain:
                raise BrokenFile(f"agents/{line(current, 60)}.md:1: there is no such file")
            by, file = chain[-1]
            at, missing = file.lines.get("extends", 1), f"agents/{line(current, 60)}.md"
            raise BrokenFile(f"agents/{by}.md:{at}: extends: there is no {missing}", own)
        file, before = read_agent_file(text), [item for item, _ in chain]
        wrong = list(file.problems)
        if file.meta.get("name") not in (None, current):
            problem = f"name: it has to be {current!r}, as the file is called"
            wrong.append((file.lines.get("name", 1), problem))
        base, at = file.meta.get("extends"), file.lines.get("extends", 1)
        if base in (*before, current):
            circle = " → ".join((*before, current, str(base)))
            wrong.append((at, f"extends: it leads back to itself: {circle}"))
        if wrong:
            at, problem = min(wrong)
            asked = "".join(f", which agents/{item}.md extends" for item in reversed(before))
            raise BrokenFile(f"agents/{current}.md:{at}: {problem}{asked}", own or file.languages)
        chain.append((current, file))
        current = base
    return chain


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

    Raises `StopTheNight` with the existing names where the named one is missing, and with the
    problem where the chosen one is broken; a broken file that nobody chose does not matter.
    """
    leads: dict[str, AgentSpec | BrokenAgent] = {spec.name: spec for spec in agents.specs}
    leads |= {agent.name: agent for agent in agents.broken}
    if name and name not in leads and name != BASE:
        known = ", ".join(dict.fromkeys((*sorted(leads), BASE)))
        raise StopTheNight(f"there is no agent {line(name, 60)!r}: choose {known}")
    language = language.lower()
    speaking = sorted(n for n, item in leads.items() if language and language in item.languages)
    chosen = leads.get(name or (speaking[0] if speaking else BASE), BUILT_IN)
    if isinstance(chosen, BrokenAgent):
        raise StopTheNight(chosen.complaint)
    return chosen
