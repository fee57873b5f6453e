"""Templates, parsed by what renders them, in the sandbox: Django's engine, Jinja, ERB."""

from nightwatch_core.proof.kit import Inspection

_DJANGO = """\
import os, re, sys
sys.path[:0] = ["src", "."]
named = re.search(r"DJANGO_SETTINGS_MODULE\\W+([\\w.]+)", open("manage.py").read())
os.environ.setdefault("DJANGO_SETTINGS_MODULE", named[1] if named else "settings")
try:
    import django
    django.setup()
    from django.template import TemplateSyntaxError, engines
    engine = engines["django"]
except Exception:
    sys.exit()
for path in sys.argv[1:]:
    try:
        if "templates" in path.split("/"):
            engine.from_string(open(path, encoding="utf-8").read())
    except TemplateSyntaxError as wrong:
        print(f"{path}: {wrong}")
"""
_JINJA = """\
import re, sys
try:
    import jinja2
except ImportError:
    sys.exit()
kinds = ["jinja2.ext.do", "jinja2.ext.loopcontrols", "jinja2.ext.i18n"]
engine = jinja2.Environment(extensions=kinds)
for path in sys.argv[1:]:
    try:
        if "templates" in path.split("/"):
            engine.parse(open(path, encoding="utf-8").read())
    except jinja2.TemplateSyntaxError as wrong:
        if not re.search(r"unknown tag '(?!end|el)", wrong.message):  # of another extension
            print(f"{path}: {wrong.message}")
"""
# Blocks that print (`<%= form do |f| %>`) are Rails' own: for the parser they only run.
_ERB = """\
require "erb"
block = /<%=(?=(?:(?!%>).)*(?:\\bdo|\\{)\\s*(?:\\|[^|]*\\|)?\\s*-?%>)/m
ARGV.each do |path|
  code = ERB.new(File.read(path).gsub(block, "<%"), trim_mode: "-").src
  RubyVM::InstructionSequence.compile(code)
rescue SyntaxError => wrong
  puts "#{path}: #{wrong.message.lines.first}"
end
"""

DJANGO = Inspection(
    "syntax", lambda files: ("python3", "-c", _DJANGO, *files), (".html", ".txt", ".xml")
)
JINJA = Inspection("syntax", lambda files: ("python3", "-c", _JINJA, *files), (".html", ".txt"))
ERB = Inspection("syntax", lambda files: ("ruby", "-e", _ERB, *files), (".erb",))
