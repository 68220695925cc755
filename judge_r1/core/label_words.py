"""The words that people write for good and bad, and for the sides of a pair, in lower case."""

GOOD = ("pass", "passed", "yes", "true", "1", "good", "correct")
BAD = ("fail", "failed", "no", "false", "0", "bad", "incorrect")
SIDES = {
    "A": ("a", "1", "left", "model_a", "response_a", "a>b", "first"),
    "B": ("b", "2", "right", "model_b", "response_b", "a<b", "b>a", "second"),
    "tie": ("tie", "0", "equal", "both", "same", "tie (bothbad)", "a=b", "c"),
}
