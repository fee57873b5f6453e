"""The parsers of programming languages, and the tag queries that find names in their trees.

A tag query captures names: `@function` and `@class` where one is defined, `@value` where a
constant, an attribute or a variable gets its value (`@variable`: surely a local one), `@use` where
code uses a name that may stand for one of these. `@_name` only serves a condition.
"""

from collections.abc import Callable
from functools import cache

import tree_sitter
import tree_sitter_c_sharp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_php
import tree_sitter_python
import tree_sitter_ruby
import tree_sitter_typescript

from nightwatch_core.code.limits import PARSED_FILE, QUERY_DEPTH, QUERY_WIDTH

_PYTHON = """
(function_definition name: (_) @function)
(class_definition name: (_) @class)
(assignment left: (identifier) @value)
(assignment left: (attribute object: (identifier) @_self) @value (#any-of? @_self "self" "cls"))
(call function: (identifier) @use)
(attribute attribute: (_) @use)
"""
_RUBY = """
(method name: (_) @function)
(singleton_method name: (_) @function)
(class name: (_) @class)
(module name: (_) @class)
(assignment left: (constant) @value)
(assignment left: (identifier) @variable)
(call method: (identifier) @_macro arguments: (argument_list (simple_symbol) @value)
  (#match? @_macro "^(attr_|has_|scope$|belongs_to$|delegate$|enum$|alias_method$|attribute$)"))
(call method: (identifier) @_macro arguments: (argument_list . (simple_symbol) @function)
  (#match? @_macro "^(define_method|store_accessor)$"))
[(identifier) (constant)] @use
"""
_JAVASCRIPT = """
(function_declaration name: (_) @function)
(generator_function_declaration name: (_) @function)
(method_definition name: (_) @function)
(class_declaration name: (_) @class)
(variable_declarator name: (identifier) @function
  value: [(arrow_function) (function_expression) (generator_function)])
(variable_declarator name: (identifier) @value)
(assignment_expression left: (member_expression) @function
  right: [(arrow_function) (function_expression) (generator_function)])
(assignment_expression left: (member_expression object: (this)) @value)
(assignment_expression left: (member_expression object: (_) @_exports) @value
  (#match? @_exports "^(module[.])?exports$"))
(pair key: (_) @function value: [(arrow_function) (function_expression) (generator_function)])
(call_expression function: (identifier) @use)
(new_expression constructor: (identifier) @use)
(member_expression property: (_) @use)
"""
_TYPESCRIPT = (
    _JAVASCRIPT
    + """
(abstract_class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(type_alias_declaration name: (_) @class)
(internal_module name: (_) @class)
(function_signature name: (_) @function)
(abstract_method_signature name: (_) @function)
(method_signature name: (_) @function)
(public_field_definition name: (_) @value)
"""
)
_JAVA = """
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(annotation_type_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(record_declaration name: (_) @class)
(method_declaration name: (_) @function)
(constructor_declaration name: (_) @function)
(variable_declarator name: (_) @value)
(enum_constant name: (_) @value)
(method_invocation name: (_) @use)
(object_creation_expression type: (_) @use)
(field_access field: (_) @use)
"""
_GO = """
(function_declaration name: (_) @function)
(method_declaration name: (_) @function)
(type_spec name: (_) @class)
(type_alias name: (_) @class)
(const_spec name: (_) @value)
(var_spec name: (_) @value)
(call_expression function: (identifier) @use)
(selector_expression field: (_) @use)
"""
_PHP = """
(function_definition name: (_) @function)
(method_declaration name: (_) @function)
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(trait_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(property_element name: (_) @value)
(property_promotion_parameter name: (_) @value)
(const_element (name) @value)
(function_call_expression function: (_) @use)
(member_call_expression name: (_) @use)
(nullsafe_member_call_expression name: (_) @use)
(scoped_call_expression name: (_) @use)
(object_creation_expression [(name) (qualified_name)] @use)
(member_access_expression name: (_) @use)
"""
_C_SHARP = """
(class_declaration name: (_) @class)
(interface_declaration name: (_) @class)
(struct_declaration name: (_) @class)
(record_declaration name: (_) @class)
(enum_declaration name: (_) @class)
(delegate_declaration name: (_) @class)
(method_declaration name: (_) @function)
(constructor_declaration name: (_) @function)
(local_function_statement name: (_) @function)
(property_declaration name: (_) @value)
(variable_declarator name: (_) @value)
(enum_member_declaration name: (_) @value)
(invocation_expression function: (identifier) @use)
(member_access_expression name: (_) @use)
(member_binding_expression name: (_) @use)
(object_creation_expression type: (_) @use)
"""

# Endings of files, the grammar that parses them, its tag query.
GRAMMARS: tuple[tuple[tuple[str, ...], Callable[[], object], str], ...] = (
    ((".py", ".pyi"), tree_sitter_python.language, _PYTHON),
    ((".rb", ".rake", ".ru", ".jbuilder"), tree_sitter_ruby.language, _RUBY),
    ((".js", ".jsx", ".mjs", ".cjs"), tree_sitter_javascript.language, _JAVASCRIPT),
    ((".ts", ".mts", ".cts"), tree_sitter_typescript.language_typescript, _TYPESCRIPT),
    ((".tsx",), tree_sitter_typescript.language_tsx, _TYPESCRIPT),
    ((".java",), tree_sitter_java.language, _JAVA),
    ((".go",), tree_sitter_go.language, _GO),
    ((".php",), tree_sitter_php.language_php, _PHP),
    ((".cs",), tree_sitter_c_sharp.language, _C_SHARP),
)
_BY_ENDING = {end: (make, query) for ends, make, query in GRAMMARS for end in ends}


def ending_of(path: str) -> str:
    """Give a file's last ending in small letters, with its dot; empty where it has none."""
    return "." + path.rsplit(".", 1)[-1].lower() if "." in path else ""


def has_grammar(path: str) -> bool:
    """Tell whether a grammar parses files of this name."""
    return ending_of(path) in _BY_ENDING


def parsed(path: str, text: str) -> tree_sitter.Node | None:
    """Parse a file and give its root; None where no grammar knows its ending, or it is too long.

    A parser of its own for every text: they are cheap, and not made for several threads.
    """
    if not has_grammar(path) or len(text) > PARSED_FILE:
        return None
    parser = tree_sitter.Parser(_language(ending_of(path)))
    return parser.parse(text.encode("utf-8", "replace")).root_node


def is_readable(root: tree_sitter.Node) -> bool:
    """Tell whether a tree is worth a query: a file with errors is, a text without any code not."""
    return root.type != "ERROR" or root.child_count <= QUERY_WIDTH


def captured(path: str, root: tree_sitter.Node) -> dict[str, list[tree_sitter.Node]]:
    """Find the names that the tag query of the file's language captures, by capture."""
    cursor = tree_sitter.QueryCursor(_query(ending_of(path)))
    cursor.set_max_start_depth(QUERY_DEPTH)
    return cursor.captures(root)


@cache
def _language(ending: str) -> tree_sitter.Language:
    return tree_sitter.Language(_BY_ENDING[ending][0]())


@cache
def _query(ending: str) -> tree_sitter.Query:
    return tree_sitter.Query(_language(ending), _BY_ENDING[ending][1])
