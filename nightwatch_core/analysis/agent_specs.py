"""Agent files: front matter that says how an analysis is led, and the prompt below it."""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import TOOLS, Agents, AgentSpec, BrokenAgent, Effort
from nightwatch_core.models.value import Value
from nightwatch_core.ports import AgentStore
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import digest, text_table

PROMPT = 60_000  # characters of a prompt, with everything inherited
EXAMPLES, EXAMPLE = 10, 10_000  # examples; characters of each

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
    """An agent file: its front matter, its prompt, and what is wrong with it."""

    meta: dict[str, Any] = {}
    body: str = ""
    problem: str = ""

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages, also where other fields are wrong."""
        named = self.meta.get("languages")
        named = named if isinstance(named, list) else []
        return tuple(language for language in named if isinstance(language, str))


class BrokenFile(StopTheNight):
    """An agent file that cannot be used; names file and key, and what is allowed."""

    def __init__(self, said: str, languages: tuple[str, ...] = ()) -> None:
        super().__init__(said)
        self.languages = languages


@lru_cache(maxsize=32)  # YAML is slow, and every analysis reads all agents
def read_agent_file(text: str) -> AgentFile:
    """Read an agent file: a text without front matter is all prompt.

    >>> file = read_agent_file("---\\nname: a\\ntools:\\n- blame\\n---\\nFind it.\\n")
    >>> file.meta["name"], file.body
    ('a', 'Find it.\\n')
    >>> read_agent_file("---\\nname: a\\nname: b\\n---\\n").problem
    "line 3: key 'name' comes twice"
    """
    try:
        meta, body = frontmatter.read(text)
    except frontmatter.BrokenFrontMatter as broken:
        where = f"line {broken.line}: {broken.problem}" if broken.line else str(broken)
        return AgentFile(problem=where[:200])
    try:
        FrontMatter.model_validate(meta)
    except ValidationError as wrong:
        error = wrong.errors(include_url=False, include_input=False)[0]
        known = f"it is not known, only {', '.join(FrontMatter.model_fields)}"
        is_unknown = error["type"] == "extra_forbidden"
        reason = known if is_unknown else line(frontmatter.problem_text(error))
        return AgentFile(
            meta=meta, body=body, problem=f"{line(str(error['loc'][0]), 60)}: {reason}"
        )
    return AgentFile(meta=meta, body=body)


def inherited(name: str, text_of: Callable[[str], str | None]) -> AgentSpec:
    """Build an agent with the prompts of its bases before its own, and their fields as defaults.

    Name, description and languages are its own; examples replace a base's. `text_of` gives the text
    of an agent's file (the name is the file's, without `.md`), None where there is none; a base
    analyser without a file is the built-in one. Raises `StopTheNight` naming file, key and
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
        raise BrokenFile(f"agents/{name}.md: {wrong}", chain[0][1].languages)
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
        before = [item for item, _ in chain]
        text = text_of(current)
        if text is None and current == BASE and chain:
            return [*chain, (BASE, AgentFile(body=BUILT_IN.prompt))]
        file = read_agent_file(text or "")
        base, problem = file.meta.get("extends"), file.problem
        if text is None:
            problem = "there is no such file"
        elif not problem and file.meta.get("name") not in (None, current):
            problem = f"name: it has to be {current!r}, as the file is called"
        elif not problem and base in (*before, current):
            problem = f"extends: it leads back to itself: {' → '.join((*before, current, base))}"
        if problem:
            asked = "".join(f", which agents/{item}.md extends" for item in reversed(before))
            why = f"agents/{line(current, 60)}.md: {problem}{asked}"
            raise BrokenFile(why, own or file.languages)
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
