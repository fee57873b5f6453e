"""Small groups, cases, analyses and answers for the tests of what is decided about them."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from twins.reading import MemoryClock, MemoryCode

from nightwatch_core.analysis.analyst import Briefing, analyse, analyse_led, look_again
from nightwatch_core.analysis.analyst import plan as planned
from nightwatch_core.analysis.second_look import left_of
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance, Edit, Evidence
from nightwatch_core.models.code import Commit
from nightwatch_core.models.conversation import (
    AgentSpec,
    AssistantTurn,
    Conversation,
    Reply,
    ToolCall,
    UserTurn,
)
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.research import ResearchContext

DAY = datetime(2026, 11, 20, 22, tzinfo=UTC)
COMMIT = Commit(repository="shop/shop", sha="c" * 40, branch="main")
CART = "def total(lines):\n    return sum(line.price for line in lines)\n"
FILES = {"shop/cart.py": CART, "shop/pay.py": "def pay(card):\n    return gateway.charge(card)\n"}
AGENT = AgentSpec(name="base-analyzer", prompt="Find the cause.")
FIX = Edit(path="shop/cart.py", old="line.price", new="line.cost", description="Rename.")


def tree(files=None):
    return MemoryCode(FILES if files is None else files, COMMIT)


def group(fingerprint="v1:a", error_class="AttributeError", transaction="cart/show", **more):
    told = {"occurrences": 5, "first_seen": DAY, "last_seen": DAY, "message": "it broke"}
    told |= {"source": "memory", "app": "shop", **more}
    return ErrorGroup(
        fingerprint=fingerprint, error_class=error_class, transaction=transaction, **told
    )


def trace(path="shop/cart.py", line=2, error_class="AttributeError", raw="Traceback"):
    frame = Frame(path=f"/srv/{path}", line=line, function="total", in_app=True, repo_path=path)
    link = ExceptionLink(error_class=error_class, message="it broke", frames=(frame,))
    return Trace(language="python", links=(link,), raw=raw)


def case(leader=None, others=(), traced=True, **more):
    return Case(
        leader=leader or group(**more), others=others, trace=trace() if traced else None,
        signature="sig:a",
    )  # fmt: skip


def analysis(of=None, **more):
    told = {
        "title": "Lines have no price",
        "root_cause": "shop/cart.py:2 asks lines for a price.",
        "confidence": "high",
        "evidence": (Evidence(path="shop/cart.py", line=2, quote="line.price", verified=True),),
        "read": ("shop/cart.py",),
        "commit": COMMIT.sha,
        **more,
    }
    return Analysis(case=of or case(), **told)


def answer(**more):
    """An answer's JSON, as a model says it."""
    told = {
        "title": "Lines have no price",
        "root_cause": "shop/cart.py:2 asks lines for a price.",
        "confidence": "high",
        "evidence": [{"path": "shop/cart.py", "line": 2, "quote": "line.price for line in lines"}],
        **more,
    }
    return json.dumps(told)


def asks(*calls, stop="tools", usage=None, text=""):
    """A reply that asks for tools: names and arguments."""
    made = tuple(
        ToolCall(id=f"c{n}", name=name, arguments=given) for n, (name, given) in enumerate(calls)
    )
    told = {"usage": usage} if usage else {}
    return Reply(turn=AssistantTurn(text=text, calls=made), stop=stop, **told)


def says(text, stop="answer", usage=None, detail=""):
    told = {"usage": usage} if usage else {}
    return Reply(turn=AssistantTurn(text=text), stop=stop, detail=detail, **told)


def allowance(**more):
    return Allowance(**{"iterations": 5, "tokens": 100_000, "cost": 1.0, "seconds": 600, **more})


def analysed(model, of=None, agent=AGENT, clock=None, code=None, plan=None, lead=None, **more):
    """What the analyst finds with that model; `more` is traces and research, or the allowance."""
    given = {
        name: more.pop(name) for name in ("traces", "research", "runs", "records") if name in more
    }
    of = of or case()
    briefing = Briefing(
        case=of, code=code or tree(), model=model, agent=agent, clock=clock or MemoryClock(),
        plan=plan or planned(of, agent, NightOptions()), allowance=allowance(**more),
        **{"traces": (), "research": ResearchContext(), **given},
    )  # fmt: skip
    first = analyse_led(replace(briefing, model=lead), briefing) if lead else analyse(briefing)
    left = left_of(briefing.allowance, first.usage)
    return look_again(replace(briefing, allowance=left), first)


OPENING = Conversation(system="Find it.", turns=(UserTurn(text="It broke."),), case=case())
