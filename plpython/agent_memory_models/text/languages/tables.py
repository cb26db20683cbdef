"""The languages that the built-in model reads."""

from .de import GERMAN
from .en import ENGLISH
from .es import SPANISH
from .fr import FRENCH
from .it import ITALIAN
from .language import Language
from .nl import DUTCH
from .pt import PORTUGUESE

LANGUAGES = (ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE, ITALIAN, DUTCH)

__all__ = ["LANGUAGES", "Language"]
