"""The small table of vectors that tests of vectors and of searches share."""

import numpy as np

from recall_assets.vectors import VectorTable

# Four chunks of three cards in two locales; the query (1, 0) has the cosines 1, 0.6, 0.8 and 0 with them.
TABLE = VectorTable(
    chunk_ids=["a@en#0", "a@en#1", "b@en#0", "c@pt#0"],
    card_ids=["a", "a", "b", "c"],
    locales=["en", "en", "en", "pt"],
    vectors=np.array([[2.0, 0.0], [0.6, 0.8], [0.8, -0.6], [0.0, 3.0]]),
)
QUERY = np.array([[1.0, 0.0]])
