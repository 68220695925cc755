"""The rules by which secrets are found: those of detect-secrets for the keys of services, and ours for what commands,
headers, URLs and settings call a secret."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from judge_r1.core.errors import JudgeError

_PACKAGE_RULES = {
    "aws": "AWSKeyDetector", "azure_storage_key": "AzureStorageKeyDetector", "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector", "gitlab_token": "GitLabTokenDetector",
    "ibm_cloud_iam": "IbmCloudIamDetector", "jwt": "JwtTokenDetector", "mailchimp": "MailchimpDetector",
    "openai": "OpenAIDetector", "pypi_token": "PypiTokenDetector", "sendgrid": "SendGridDetector",
    "slack": "SlackDetector", "square_oauth": "SquareOAuthDetector", "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector", "twilio": "TwilioKeyDetector",
}  # fmt: skip
"""Modules and classes of detect-secrets. Its rules of entropy and of keywords also match hashes, ids and code."""

KNOWN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bsk-[\w-]{16,}|\b(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|pypi-|whsec_|dop_v1_|GOCSPX-)\w[\w-]{15,}"
    r"|\bxox[abeoprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\b[rs]k_(?:live|test)_\w{16,}"
    r"|\bhv[sb]\.[\w-]{20,}|\b(?:key-|dapi)[0-9a-f]{32}\b|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|https://(?:hooks\.slack\.com/(?:services|workflows|triggers)|(?:\w+\.)?discord(?:app)?\.com/api/webhooks"
    r"|[\w.-]+\.webhook\.office\.com)/[\w/@-]+|(?<=/bot)\d{8,10}:[\w-]{35}"
)
_PASSWORD = r"pass(?:word|wd|phrase)|pwd"
_QUOTE = r"\\*[\"']"
_CODE = (
    r"(?![A-Za-z_][\w.]*[(\[])(?!\[masked\])(?![$<{]|%[({])"
    r"(?!(?:str|string|bytes|int|bool|any|none|null|nil|true|false|undefined|SecretStr)\b(?:[^\w]|$))"
    r"(?![a-z_]+(?:\.[a-z_]+)+(?:[^\w.]|$))(?!password (?:is|was|has|must|updated|changed|unchanged|expired)\b)"
)
"""What is called, indexed or named in place of a value, a type and an attribute are no secrets."""
_SENTENCE = r"(?![^\n]*\b(?:is|was|has|does|must|should|cannot|required|updated|changed|expired|invalid)\b)"
_NAME = (
    r"(?:api|access|account|shared[_-]?access|private|secret(?:[_-]?access)?|auth|client)[_-]?key"
    r"|secret|(?<!max)(?<!max[_-])token|authorization|session[_-]?id"
)
AFTER: Sequence[re.Pattern[str]] = (
    # a line that holds a password and nothing else: it may have spaces
    re.compile(rf"(?im)^([ \t]*[\w.-]*(?:{_PASSWORD})(?::[ \t]+|[ \t]+=[ \t]+)){_CODE}{_SENTENCE}(?!{_QUOTE})\S[^\n]*"),
    # a password inside a line: to its closing quote, or else to a space
    re.compile(
        rf"(?i)((?:{_PASSWORD})(?:{_QUOTE})?[ \t]*(?:=>|[:=]=?)[ \t]*|--(?:[\w-]+-)?(?:{_PASSWORD})[ \t]+"
        rf"|\blogin[ \t]+\S+[ \t]+(?:{_PASSWORD})[ \t]+|\s-pass(?:in|out)?[ \t]+[\"']?pass:)"
        rf"(?:(?P<quote>{_QUOTE})(?!\[masked\]|[$<]|\{{\{{)(?:(?!(?P=quote))(?:\\.|[^\n]))+|{_CODE}(?!{_QUOTE})[^\s\"'&;\\]+)"
    ),
    # a value in the settings' own words: <add key="Password" value="…">, name: PASSWORD value: …, default = "…"
    re.compile(
        rf"(?i)([\w-]*(?:{_PASSWORD}|{_NAME}){_QUOTE}?(?:\s*\{{[^{{}}]*?\bdefault|[\s,]+{_QUOTE}?value{_QUOTE}?)"
        rf"\s*[:=]\s*(?:{_QUOTE})?){_CODE}[^\s\"'\\<>]+"
    ),
    # in a sentence: what has letters and digits behind "password … is" or "key … to"
    re.compile(
        rf"(?i)(\b(?:{_PASSWORD}|{_NAME})\b[^\n.:=]{{0,40}}?\s(?:is|to|as|was)\s+[\"'`]?)"
        rf"{_CODE}(?=[^\s\"'`]*\d)(?=[^\s\"'`]*[A-Za-z])[^\s\"'`]{{8,}}"
    ),
    # user and password as two arguments, and at the end of a line of .pgpass and of htpasswd -b
    re.compile(
        r"(?i)(\b(?:auth\s*=\s*|\w*basicauth|login)\(\s*[\"'][^\"'\n]*[\"']\s*,\s*(?:password\s*=\s*)?[\"'])"
        r"(?!\[masked\]|[$<{])[^\"'\n]+"
    ),
    re.compile(
        r"(?m)(^[\w.*-]+:(?:\d{2,5}|\*):[\w*-]+:[\w*-]+:|\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+)(?!\[masked\]|\$)\S+"
    ),
    re.compile(r"(?i)(\"auth\\*\"\s*:\s*\\*\"|\bkey-data:\s*)(?!\[masked\])[A-Za-z0-9+/]{12,}={0,2}"),
    # a whole header of cookies, if one of them is longer than a setting
    re.compile(
        r"(?i)(\b(?:set-)?cookie2?(?:\\*[\"'])?\s*:\s*(?:\\*[\"'])?)(?!\[masked\])"
        r"(?=(?:[^\n\"'\\]*[\s;])?(?!expires|max-age|domain|path|samesite)[^\s\"'=:;]+=[^\s;\"'\\]{8,})[^\n\"'\\]+"
    ),
    # headers such as X-Auth-Token, and names such as api_key, with an escaped quote or none
    re.compile(
        rf"(?i)((?:\bx-[\w-]*(?:token|key|auth|secret|session)|{_NAME})(?:{_QUOTE})?\s*(?:[:=]|=>)\s*(?:{_QUOTE})?"
        rf"(?:(?:bearer|basic|token)\s+)?|\bbearer\s+){_CODE}[^\s\"'\\@,;&]{{8,}}"
    ),
    # options: --token VALUE, and the value of npm's _authToken
    re.compile(
        r"(?i)((?:(?<=\s)|(?<=^))--?[\w-]*(?:token|secret|api-?key|access-?key|auth)[ \t]+[\"']?|:_authToken[ \t]+)"
        rf"{_CODE}(?!-)[^\s\"'\\]{{8,}}"
    ),
    re.compile(r"(?i)(\bcurl\b[^\n|;]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'\\]+:)(?!\[masked\]|\$)[^\s\"'\\]+"),
    re.compile(
        r"(\b(?:sshpass|docker login|podman login|twine upload)\b[^\n|;]*?\s-p\s*|\bmysql(?:dump|admin)?\b[^\n|;]*?\s-p"
        r"|\bredis-cli\b[^\n|;]*?\s-a\s+)(?!\[masked\]|\$)[^\s\"'\\]+"
    ),
    # URLs: a password with or without a user, and signed ones
    re.compile(r"(://[^\s:/@]*:)(?!\[masked\]|\$)[^\s@/]{4,}(?=@)"),
    re.compile(r"(?i)([?&](?:sig|signature|x-amz-signature|x-goog-signature|key|code)=)(?!\[masked\])[^\s&\"'\\]{16,}"),
)
"""Each has what stands before a secret as its first group, and in `quote` the mark that opens it."""
PASSWORD_FIELD = re.compile(rf"(?i)(?:{_PASSWORD})$")


@cache
def package_rules() -> Sequence[Callable[[str], Any]]:
    """Functions that yield the secrets in a line. Raises: JudgeError if detect-secrets is not installed."""
    from importlib import import_module

    try:
        modules = {name: import_module(f"detect_secrets.plugins.{name}") for name in _PACKAGE_RULES}
    except ModuleNotFoundError as error:
        raise JudgeError(
            f"masking secrets needs the rules of detect-secrets ({error}): pip install 'judge-r1[mask]'"
        ) from None
    return [getattr(modules[name], kind)().analyze_string for name, kind in _PACKAGE_RULES.items()]
