"""What a night did without because somebody switched it off, and what follows for the rest."""

from nightwatch_core.models.options import NightOptions

_PHASES = (  # option, what it stands for
    ("compound_enabled", "lessons"),
    ("learnings_enabled", "notes"),
    ("patterns_enabled", "patterns and ignore suggestions"),
    ("research_enabled", "research before the analyses"),
    ("agents_enabled", "agent files"),
)


def switched_off(options: NightOptions) -> tuple[str, ...]:
    """Sentences on the phases that are off, and on what others can do without them; none: all on.

    >>> switched_off(NightOptions())
    ()
    >>> switched_off(NightOptions(research_enabled=False, agents_enabled=False))
    ('Switched off: research before the analyses, agent files.',)
    """
    off = [name for option, name in _PHASES if not getattr(options, option)]
    follows = ""
    if not options.compound_enabled and options.patterns_enabled:
        follows = " Patterns are of this night alone: what lasts over nights is known from lessons."
    return (f"Switched off: {', '.join(off)}.{follows}",) if off else ()
