"""How languages say that a name or a piece of data is not there: first match wins.

A pattern is searched in "class: message". Named groups become facts of the symptom: `name` (what is
not there), `receiver` (on what), `owner` (class or module), `key`, `keyword`, `expected`, `given`,
`neighbour` (who did not answer), `relation` (table or constraint).
"""

_Q = r"[`'\"‘’]"  # quotes around names
NAME = r"[\w$?!=]{1,100}"
_PATH = r"[\w$.:\\/]{1,200}"

NAMES_AND_DATA: tuple[tuple[str, str], ...] = (
    # --- something is None, nil, null or undefined -------------------------------------------
    (
        "none receiver",
        rf"undefined method {_Q}(?P<name>{NAME}|\[\]=?|[+*/%<>=!&|-]{{1,3}}){_Q} for nil",
    ),
    ("none receiver", rf"'NoneType' object has no attribute '(?P<name>{NAME})'"),
    ("none receiver", r"'NoneType' object is not (?P<use>subscriptable|iterable|callable)"),
    ("none receiver", r"object of type 'NoneType' has no len"),
    ("none receiver", r"cannot unpack non-(?P<use>iterable) NoneType|argument of type 'NoneType'"),
    ("none receiver", r"unsupported operand type.{1,60}'NoneType'|not supported between.*NoneType"),
    (
        "none receiver",
        rf"Cannot (?:read|set) propert(?:y|ies) (?:{_Q}(?P<old>{NAME}){_Q} )?of (?:undefined|null)"
        rf"(?: \((?:reading|setting) '(?P<name>[^']{{1,100}})'\))?",
    ),
    (
        "none receiver",
        r"(?:undefined|null) is not an object \(evaluating '(?P<receiver>[^']{1,200})"
        r"\.(?P<name>[\w$]{1,100})",
    ),
    (
        "none receiver",
        r": (?:can't access property \"(?P<name>[^\"]{1,60})\", )?(?P<receiver>[\w.$]{1,100}) is "
        r"(?:undefined|null)",
    ),
    (
        "none receiver",
        r"Cannot (?:invoke|read field|assign field|store to|load from|read the array length|enter"
        r"|throw)[^\n]{0,300}? because (?:the return value of )?\"(?P<receiver>[^\"]{1,200})\" is"
        r" null",
    ),
    ("none receiver", r"NullPointerException|NullReferenceException|invalid memory address or nil"),
    ("none receiver", rf"Call to a member function (?P<name>{NAME})\(\) on null"),
    (
        "none receiver",
        rf"(?:Attempt to read|Trying to get) property {_Q}(?P<name>{NAME}){_Q} (?:on null|of non)",
    ),
    ("none receiver", r"nil can't be coerced|no implicit conversion (?:from|of) nil"),
    # --- a name that is not there -------------------------------------------------------------
    (
        "wrong arguments",
        rf"(?P<name>[\w.]{{1,200}})\(\) got an unexpected keyword argument '(?P<keyword>{NAME})'",
    ),
    ("wrong arguments", rf"unknown keywords?: :?(?P<keyword>{NAME})"),
    ("wrong arguments", rf"Unknown named parameter \$(?P<keyword>{NAME})"),
    (
        "wrong arguments",
        r"(?P<name>[\w.]{1,200})\(\) missing \d+ required (?:positional|keyword-only) arguments?:"
        r" (?P<missing>[^\n]{1,200})",
    ),
    ("wrong arguments", r"missing keywords?: (?P<missing>[^\n]{1,200})"),
    (
        "wrong arguments",
        r"(?P<name>[\w.]{1,200})\(\) takes (?P<expected>[^\n]{1,60}) positional arguments? but"
        r" (?P<given>\d+)",
    ),
    (
        "wrong arguments",
        r"wrong number of arguments \(given (?P<given>\d+), expected (?P<expected>[^)]{1,40})",
    ),
    (
        "wrong arguments",
        r"Too few arguments to function (?P<name>[\w\\:]{1,200})\(\), (?P<given>\d+)"
        r" passed[^\n]{0,200}?(?P<expected>\d+) expected",
    ),
    ("wrong arguments", r"InvalidArgumentError: .{0,40}arity|wrong argument count"),
    (
        "import",
        rf"cannot import name '(?P<name>{NAME})' from (?:partially initialized module"
        rf" )?'(?P<owner>{_PATH})'",
    ),
    ("import", rf"does not provide an export named '(?P<name>{NAME})'"),
    ("import", r"No module named '?(?P<module>[\w.]{1,200})"),
    ("import", r"cannot load such file -- (?P<module>[\w./-]{1,200})"),
    ("import", r"Cannot find (?:module|package) '(?P<module>[^'\n]{1,200})'"),
    ("import", r"expected file (?P<file>\S{1,300}) to define constant (?P<name>[\w:]{1,200})"),
    ("import", r"(?:NoClassDefFoundError|ClassNotFoundException): (?P<owner>[\w./$]{1,200})"),
    (
        "undefined name",
        rf"NameError: (?:free variable )?{_Q}?(?:name )?'(?P<name>{NAME})' (?:is not defined"
        rf"|referenced before)",
    ),
    ("unbound local", rf"(?:local variable|cannot access local variable) '(?P<name>{NAME})'"),
    ("undefined name", r"uninitialized constant (?P<owner>(?:[A-Z]\w*::)*)(?P<name>[A-Z]\w*)"),
    ("undefined name", rf"undefined local variable or method {_Q}(?P<name>{NAME}){_Q}"),
    ("undefined name", r"(?:ReferenceError|TypeError): (?P<name>[\w$]{1,100}) is not defined"),
    ("undefined name", r"Class \"?'?(?P<owner>(?:\w+\\)*)(?P<name>\w+)\"?'? not found"),
    ("undefined name", r"Call to undefined function (?P<owner>(?:\w+\\)*)(?P<name>\w+)\(\)"),
    ("unknown member", rf"module '(?P<module>[\w.]{{1,200}})' has no attribute '(?P<name>{NAME})'"),
    (
        "unknown member",
        rf"(?:type object )?'(?P<owner>[\w.]{{1,200}})' object has no attribute"
        rf" '(?P<name>{NAME})'",
    ),
    (
        "unknown member",
        rf"type object '(?P<owner>[\w.]{{1,200}})' has no attribute '(?P<name>{NAME})'",
    ),
    (
        "unknown member",
        rf"undefined method {_Q}(?P<name>{NAME}){_Q} for (?:an instance of |class |module |#<"
        rf"|\S{{1,60}}:)?"
        r"(?P<owner>[A-Z]\w{0,80}(?:::[A-Z]\w{0,80}){0,5})",
    ),
    (
        "unknown member",
        r"(?P<receiver>[\w$.()\[\]]{1,200})\.(?P<name>[\w$]{1,100}) is not a (?:function"
        r"|constructor)",
    ),
    ("unknown member", r": (?P<name>[\w$]{1,100}) is not a (?:function|constructor)"),
    (
        "unknown member",  # as compilers write the call of an imported name
        r"\(0 ?, ?[\w$.]{1,200}\.(?P<name>[\w$]{1,100})\) is not a (?:function|constructor)",
    ),
    (
        "unknown member",
        r"Call to undefined method (?P<owner>[\w\\]{1,200})::(?P<name>\w{1,100})\(\)",
    ),
    ("unknown member", r"NoSuch(?:Method|Field)Error: [^\n]{0,200}?(?P<name>\w{1,100})(?:\(|$)"),
    # --- data that is not there ---------------------------------------------------------------
    (
        "missing record",
        r"Couldn't find (?:all )?(?P<relation>\w+)|(?P<model>\w+) matching query does not exist"
        r"|No query results for model \[(?P<class>[\w\\]+)\]",
    ),
    (
        "missing record",
        r"RecordNotFound|NoResultFound|No row was found|EntityNotFound|ObjectNotFound|sql: no rows"
        r" in result set|DoesNotExist",
    ),
    ("missing key", r"key not found: :?(?P<key>[^\n]{1,100})"),
    ("missing key", r"Undefined (?:array key|index):? ?(?P<key>[^\n]{1,100})"),
    ("missing key", r"The given key '(?P<key>[^']{1,100})' was not present"),
    ("missing key", r"KeyNotFoundException|NoSuchElementException|assignment to entry in nil map"),
    ("missing key", r"param is missing or the value is empty: (?P<key>\w{1,100})"),
    ("missing key", r"KeyError: (?P<key>[^\n]{1,100})"),
    ("missing key", r"KeyError|ParameterMissing"),
    (
        "out of range",
        r"list index out of range|string index out of range|tuple index out of range|pop from empty"
        r"|IndexError|IndexOutOfBounds|ArgumentOutOfRange|IndexOutOfRange|Undefined offset"
        r"|index out of range \[(?P<given>-?\d+)\] with length (?P<expected>\d+)"
        r"|slice bounds out of range|StopIteration|min\(\) (?:arg|iterable)|max\(\) (?:arg"
        r"|iterable)",
    ),
)
