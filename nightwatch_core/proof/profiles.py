"""Profiles of projects: read and written as documents, and applied to a kit."""

import re
import shlex

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.profiles import Profile
from nightwatch_core.models.proposals import Preparation
from nightwatch_core.ports import CodeReader, ProjectDocuments
from nightwatch_core.proof import kits
from nightwatch_core.proof.asking import prompt
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.text import frontmatter
from nightwatch_core.text.plain_text import digest, plural


def document_name(repository: str, kit: kits.Kit) -> str:
    """Return the name of a project's document.

    >>> document_name("acme/shop", kits.Kit("python", "back/"))
    'acme-shop-back-python'
    """
    return re.sub(r"[^a-z0-9]+", "-", f"{repository}-{kit.root}-{kit.language}".lower()).strip("-")


def document(profile: Profile) -> str:
    """Write a profile as a document that people read and change."""
    meta = profile.model_dump(mode="json", exclude_defaults=True)
    name = f"{profile.repository} {profile.root}".strip()
    page = prompt("profile_page").format(name=name, summary=summary(profile))
    return frontmatter.render(meta, f"\n{page}\n")


def profile_in(text: str) -> Profile:
    """Read a document; raises `GiveUp`, with the first problem, where it holds no profile."""
    meta, _ = frontmatter.read(text)
    try:
        return Profile.model_validate(meta)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise GiveUp(f"{field}: {frontmatter.problem_text(first)}") from error


def kept_profile(documents: ProjectDocuments | None, name: str) -> Profile | None:
    """Return a project's profile; None where there is none. Raises `GiveUp` for a broken one."""
    text = documents.read(name) if documents else ""
    if not text:
        return None
    try:
        return profile_in(text)
    except GiveUp as trouble:
        raise GiveUp(f"knowledge/projects/{name}.md cannot be used: {trouble}") from trouble


def summary(profile: Profile) -> str:
    """Say in a line how far the project can be tested."""
    if not profile.collected:
        return f"Its tests cannot be run: {profile.trouble or 'no test was found'}"
    count = f"{profile.passed:,} of {plural(profile.collected, 'test')} pass"
    if profile.sampled:
        count += f" (of {plural(len(profile.sampled), 'file')}: the whole suite takes too long)"
    by = f"{profile.interpreter or profile.language}, dependencies "
    by += profile.environment or "of this machine"
    by += f" as of {profile.packages_of}" if profile.packages_of else ""
    if profile.is_runnable:
        return f"Runnable: {count} in {profile.seconds:.0f} s ({by})."
    return f"Not runnable: {count} ({by}). {profile.trouble}".strip()


def digest_of(kit: kits.Kit) -> str:
    """Name what the project's manifests and lock files declare."""
    return digest(kit.preparation.model_dump_json(include={"files"})) if kit.preparation else ""


PREPARE = "run `nightwatch prepare`"


def staleness(kit: kits.Kit, profile: Profile) -> str:
    """Say so where the project has other dependencies than those it was proved with."""
    is_same = profile.digest == digest_of(kit)
    return "" if is_same else f"its dependencies have changed since {profile.date}: {PREPARE}"


EXCLUDES = ("UV_EXCLUDE_NEWER", "PIP_UPLOADED_PRIOR_TO")


def of_day(preparation: Preparation, day: str) -> Preparation:
    """Return the preparation with packages as they were on a day."""
    return preparation.model_copy(update={"environment": tuple((name, day) for name in EXCLUDES)})


def with_profile(kit: kits.Kit, profile: Profile | None) -> kits.Kit:
    """Return the kit, tested as the profile says."""
    if profile is None:
        return kit
    preparation = kit.preparation
    if profile.install:
        install = ("/bin/sh", "-c", profile.install)
        preparation = Preparation(language=kit.language, words=install, whole_tree=True)
    if preparation and profile.packages_of:
        preparation = of_day(preparation, profile.packages_of)
    if preparation:
        beside = profile.environment != "installed"
        update = {"versions": profile.versions or preparation.versions, "beside": beside}
        preparation = preparation.model_copy(update=update)
    kit = kit._replace(
        preparation=preparation,
        variables=tuple(profile.variables.items()),
        services=profile.services,
        setup=profile.setup,
        profile=profile,
        stale=staleness(kit, profile),
    )
    if not profile.test:
        return kit
    words = tuple(shlex.split(profile.test))
    one = tuple(item for item in shlex.split(profile.one_test) if item != "{test}")
    alike = [item for item in kit.runners if item.words == one]
    known = next((item for item in alike if item.whole == words), next(iter(alike), None))
    runner = known or kits.Runner(
        name=_named(words), words=one or words, form=profile.form, takes_files=bool(one)
    )
    extra = words[len(one) :] if one and one == words[: len(one)] else ()
    return kit._replace(runners=(runner.model_copy(update={"all_files": extra}),))


def kit_as_proved(
    changed: kits.Words, tree: CodeReader, options: NightOptions, cache: NightCache
) -> kits.Kit | str:
    """Find how changed files are tested, by their project's profile where there is one.

    A project is looked at once a night.
    """
    project = kits.language_of(changed, tree.paths())
    name = (tree.commit.sha, *project, options.verify, options.prepare)
    if name not in cache.detected:
        cache.detected[name] = _as_proved(project, tree, options, cache.documents)
    return cache.detected[name]


def _as_proved(
    project: tuple[str, str],
    tree: CodeReader,
    options: NightOptions,
    documents: ProjectDocuments | None,
) -> kits.Kit | str:
    kit = kits.kit_of(*project, tree.paths(), tree.read_file, options)
    if isinstance(kit, str) or kit.verify:
        return kit
    try:
        kept = kept_profile(documents, document_name(tree.commit.repository, kit))
    except GiveUp as trouble:
        return kits.explained(trouble)
    return with_profile(as_proposed(kit, tree, kept), kept)


def as_proposed(kit: kits.Kit, tree: CodeReader, kept: Profile | None) -> kits.Kit:
    """Return the kit as a model proposed it, where it was proved so."""
    return kits.with_proposal(kit, tree.paths(), tree.read_file, kept.proposed if kept else "")


def _named(words: kits.Words) -> str:
    plain = (word.split("/")[-1] for word in words if not word.startswith("-"))
    return " ".join([word for word in plain if word not in ("python3", "python", "sh")][:2])
