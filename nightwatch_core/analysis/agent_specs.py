"""Agent files: front matter that says how an analysis is led, and the prompt below it."""

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, StringConstraints, ValidationError

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import TOOLS, Agents, AgentSpec, BrokenAgent, Effort
from nightwatch_core.models.value import Value
from nightwatch_core.ports import AgentStore
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import digest, text_table

PROMPT = 60_000  # characters of a prompt, with everything inherited
MOST_BASES = 5  # files that extend each other
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


class AgentFile(NamedTuple):
    """An agent file: its front matter, its prompt, and what is wrong with it."""

    meta: dict[str, Any]
    body: str = ""
    problem: str = ""

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages, also where other fields are wrong."""
        named = self.meta.get("languages")
        return tuple(map(str, named)) if isinstance(named, list) else ()


class BrokenFile(StopTheNight):
    """An agent file that cannot be used; names file and key, and what is allowed."""

    def __init__(self, complaint: str, languages: tuple[str, ...] = ()) -> None:
        super().__init__(complaint)
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
        return AgentFile({}, "", where[:200])
    try:
        FrontMatter.model_validate(meta)
    except ValidationError as wrong:
        error = wrong.errors(include_url=False, include_input=False)[0]
        reason = line(frontmatter.problem_text(error))
        if error["type"] == "extra_forbidden":
            reason = f"it is not known, only {', '.join(FrontMatter.model_fields)}"
        return AgentFile(meta, body, f"{line(str(error['loc'][0]), 60)}: {reason}")
    return AgentFile(meta, body)


def inherited(name: str, text_of: Callable[[str], str | None]) -> AgentSpec:
    """Build an agent with the prompts of its bases before its own, and their fields as defaults.

    Name, description and languages are its own; examples replace a base's. `text_of` gives the text
    of an agent's file (the name is the file's, without `.md`), None where there is none; a base
    analyser without a file is the built-in one. Raises `BrokenFile` naming file, key and
    what is allowed.

    >>> text = "---\\nlanguages: [go]\\n---\\nFind the cause.\\n"
    >>> inherited("go-services", {"go-services": text}.get).languages
    ('go',)
    """
    fields: dict[str, Any] = {}
    bodies, texts = list[str](), list[str]()
    languages: tuple[str, ...] = ()
    current: str | None = name
    while current is not None:
        text = text_of(current)
        if text is None and current == BASE and texts:
            text = BUILT_IN.prompt
        file = read_agent_file(text or "")
        problem = "there is no such file" if text is None else file.problem
        if len(texts) == MOST_BASES:
            problem = "extends: it leads back to itself, or too many files extend each other"
        languages = languages if texts else file.languages
        if problem:
            raise BrokenFile(f"agents/{line(current, 60)}.md: {problem}", languages)
        not_inherited = _OWN if texts else ()
        for key, value in file.meta.items():
            if value is not None and key not in not_inherited:
                fields.setdefault(key, value)
        bodies.insert(0, file.body.strip())
        texts.append(text or "")
        current = file.meta.get("extends")
    examples = [f"<example>\n{text.strip()}\n</example>" for text in fields.get("examples") or ()]
    heading = ["# Worked examples"] if examples else []
    prompt = "\n\n".join(filter(None, (*bodies, *heading, *examples)))
    if not 0 < len(prompt) <= PROMPT:
        wrong = f"the prompt below the front matter must have 1 to {PROMPT} characters"
        raise BrokenFile(f"agents/{name}.md: {wrong}", languages)
    update = {"name": name, "prompt": prompt, "digest": digest("\0".join(texts))}
    return AgentSpec.model_validate({**fields, **update})


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
    complaints = tuple(agent.complaint for agent in broken)
    return Agents(specs=tuple(specs), broken=tuple(broken), complaints=complaints)


def choose(agents: Agents, language: str, name: str = "") -> AgentSpec:
    """Choose the agent of that name, else the first for the language, the base, the built-in.

    Raises `StopTheNight` with the existing names where the named one is missing, and with the
    problem where the chosen one is broken; a broken file that nobody chose does not matter.
    """
    leads: dict[str, AgentSpec | BrokenAgent] = {spec.name: spec for spec in agents.specs}
    leads |= {agent.name: agent for agent in agents.broken}
    if name and name not in leads and name != BASE:
        choice = ", ".join(dict.fromkeys((*sorted(leads), BASE)))
        raise StopTheNight(f"there is no agent {line(name, 60)!r}: choose {choice}")
    language = language.lower()
    speaking = sorted(n for n, item in leads.items() if language and language in item.languages)
    chosen = leads.get(name or (speaking[0] if speaking else BASE), BUILT_IN)
    if isinstance(chosen, BrokenAgent):
        raise StopTheNight(chosen.complaint)
    return chosen
