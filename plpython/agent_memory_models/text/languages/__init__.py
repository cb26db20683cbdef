"""The languages that the built-in model reads, a module with a table of words for each. docs/languages.md adds one."""

from .recognise import Recognised, recognise, recognise_all
from .tables import LANGUAGES, Language

__all__ = ["LANGUAGES", "Language", "Recognised", "recognise", "recognise_all"]
