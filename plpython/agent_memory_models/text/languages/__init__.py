"""The languages that the built-in model reads, by their words in lists/languages/. docs/languages.md adds one."""

from .language import LANGUAGES, Language
from .recognise import Recognised, recognise, recognise_all

__all__ = ["LANGUAGES", "Language", "Recognised", "recognise", "recognise_all"]
