"""The GraphQL documents that New Relic is asked with; values travel as variables only."""

from collections.abc import Iterable

PING = "query Ping{actor{user{id email name} accounts{id name}}}"

FIND_ENTITY = (
    "query FindEntity($q:String!,$cursor:String){actor{entitySearch(query:$q){count "
    "results(cursor:$cursor){nextCursor entities{guid name accountId "
    "... on ApmApplicationEntityOutline{language reporting}}}}}}"
)

INBOX = (
    "query ErrorGroups($guids:[EntityGuid!],$cursor:String,$states:[ErrorsInboxErrorGroupState!],"
    "$from:EpochMilliseconds!,$to:EpochMilliseconds!){actor{errorsInbox{errorGroups("
    "entityGuids:$guids,cursor:$cursor,filter:{states:$states},"
    "sortBy:[{field:OCCURRENCES,direction:DESC}],timeWindow:{startTime:$from,endTime:$to})"
    "{nextCursor totalCount results{id name message state source regressedAt "
    "assignment{email userInfo{name}}}}}}}"
)

DEPLOYMENTS = (
    "query Deployments($g:EntityGuid!,$from:EpochMilliseconds!,$to:EpochMilliseconds!){actor{"
    "entity(guid:$g){... on ApmApplicationEntity{deploymentSearch(filter:{limit:50,"
    "timeWindow:{startTime:$from,endTime:$to}}){results{version commit timestamp}}}}}}"
)


def nrql(names: Iterable[str]) -> str:
    """A document that runs several NRQL texts at once, each in a variable of its alias's name.

    >>> nrql(("whole",))[:58]
    'query Nrql($account:Int!,$timeout:Seconds!,$whole:Nrql!){a'
    """
    names = tuple(names)
    variables = "".join(f",${name}:Nrql!" for name in names)
    parts = " ".join(
        f"{name}:nrql(query:${name},timeout:$timeout){{results totalResult otherResult}}"
        for name in names
    )
    return (
        f"query Nrql($account:Int!,$timeout:Seconds!{variables})"
        f"{{actor{{account(id:$account){{{parts}}}}}}}"
    )


def frames(many: int) -> str:
    """A document that reads the stack traces of several occurrences, aliased `x0`, `x1` …"""
    variables = ",".join(f"$g{at}:EntityGuid!,$o{at}:String!" for at in range(many))
    parts = " ".join(
        f"x{at}:entity(guid:$g{at}){{... on ApmApplicationEntity{{language "
        f"exception(occurrenceId:$o{at}){{message stackTrace{{frames"
        "{filepath line name formatted}}}}}"
        for at in range(many)
    )
    return f"query Frames({variables}){{actor{{{parts}}}}}"
