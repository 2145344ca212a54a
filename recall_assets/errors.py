"""Errors that a command explains in a line instead of a traceback. Wrong input is in `recall_assets.problems`."""


class StoreUnavailableError(Exception):
    """The vector store cannot be reached or does not hold what it should."""


class ModelUnavailableError(Exception):
    """A model that cannot be loaded; the message says what was looked for and what would work."""


class SweepFailedError(Exception):
    """A sweep that ended without figures; the message says why, a line a cause."""


class NotPromotedError(Exception):
    """Results that make no baseline; the message says why and what to do."""
