"""Masks secrets in events: keys of known services, private keys, tokens, and values that are called a secret.

The rules are those of detect-secrets for the keys of services, and ours for what commands, headers, URLs and settings
call a secret.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.traces.trace import Event

MASK = "[masked]"
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
    r"|\bsk-(?:proj-|ant-|(?=[\w-]{0,200}\d))[\w-]{16,}|\b(?:hf|npm)_[A-Za-z\d]{16,}|\bpypi-[\w-]{50,}"
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|whsec_|dop_v1_|GOCSPX-)\w[\w-]{15,}"
    r"|\bxox[abeoprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\b[rs]k_(?:live|test)_\w{16,}"
    r"|\bhv[sb]\.[\w-]{20,}|\b(?:key-|dapi)[0-9a-f]{32}\b|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|https://(?:hooks\.slack\.com/(?:services|workflows|triggers)|(?:\w+\.)?discord(?:app)?\.com/api/webhooks"
    r"|[\w.-]+\.webhook\.office\.com|hooks\.zapier\.com/hooks/catch|maker\.ifttt\.com/trigger"
    r"|hook\.(?:\w+\.)?make\.com|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook)/[\w/@-]+|(?<=/bot)\d{8,10}:[\w-]{35}"
    r"|\b(?:lin_(?:api|oauth)_|gl(?:sa|c|dt|rt|ptt|agent)[_-]|xai-|gsk_|r8_|pplx-|nvapi-|tvly-|jina_|lsv2_[ps][tk]_|ntn_|figd_"
    r"|shp(?:at|ca|pa|ss)_|dckr_pat_|sntry[su]_|PMAK-|NRAK-|AT(?:ATT|CTT)3|CFPAT-|pul-|rubygems_|sbp_|sb_secret_"
    r"|ya29\.|sq0csp-|xapp-|dp\.[sp]t\.|AGE-SECRET-KEY-1|v\d+\.[\w-]{14}\.atlasv1\.)(?=[\w.-]*\d)\w[\w.=-]{19,}"
)
_PASSWORD = r"pass(?:word|wd|phrase)|pwd"
_QUOTE = r"\\*[\"']"
_CODE = (
    r"(?![A-Za-z_][\w.]*[(\[])(?!\[masked\])(?![$<{]|%[({])"
    r"(?!(?:str|string|bytes|int|bool|any|none|null|nil|true|false|undefined|SecretStr)\b(?:[^\w]|$))"
    r"(?![a-z_]+(?:\.[a-z_]+)+(?:[^\w.]|$))(?!(?:the|an?|expected|optional) )"
    r"(?!password (?:is|was|has|must|updated|changed|unchanged|expired)\b)"
    r"(?![*•.x]{3,}(?:[^\w*•.]|$))(?!your[_-]|(?:[a-z]+_)*(?:password|passwd|pass|pwd|token|secret|key|credentials?|sentinel)\b(?:[^\w-]|$))"
    r"(?!(?-i:\.{0,2}/?[a-z][a-z_-]*/[\w.-]+/|/[a-z]+/[a-z]))"
)
"""What is called, indexed or named in place of a value, types, attributes, paths and placeholders are no secrets."""
_SENTENCE = (
    r"(?![^\n]*\b(?:is|was|has|does|must|should|cannot|required|updated|changed|expired|invalid|expected|the|for|of)\b)"
)
_NAME = (
    r"(?:api|access|account|shared[_-]?access|private|secret(?:[_-]?access)?|auth|client|master|encryption|signing|hmac)"
    r"[_-]?key"
    r"|secret|(?<!max)(?<!max[_-])token|session[_-]?id"
    r"|authorization(?=\W{1,8}(?:bearer|basic|token)\s|\W{1,8}\S*\d)"
)
AFTER: Sequence[re.Pattern[str]] = (
    # a line that holds a password and nothing else: it may have spaces
    re.compile(rf"(?im)^([ \t]*[\w.-]*(?:{_PASSWORD})(?::[ \t]+|[ \t]+=[ \t]+)){_CODE}{_SENTENCE}(?!{_QUOTE})\S[^\n]*"),
    # a password inside a line: to its closing quote, or else to a space
    re.compile(
        rf"(?i)((?:{_PASSWORD})(?:{_QUOTE})?[ \t]*(?:=>|[:=]=?)[ \t]*|--(?:[\w-]{{1,40}}-)?(?:{_PASSWORD})[ \t]+"
        rf"|\blogin[ \t]+\S+[ \t]+(?:{_PASSWORD})[ \t]+|\s-pass(?:in|out)?[ \t]+[\"']?pass:)"
        rf"(?:(?P<quote>{_QUOTE})(?!\[masked\]|[$<]|\{{\{{|[*•.x]{{3,}}{_QUOTE}|[)\],;]+(?:\s|$))(?:(?!(?P=quote))(?:\\.|[^\n]))+|{_CODE}(?!{_QUOTE})[^\s\"'&;\\]{{3,}})"
    ),
    # a value in the settings' own words: <add key="Password" value="…">, name: PASSWORD value: …, default = "…"
    re.compile(
        rf"(?i)((?:{_PASSWORD}|{_NAME}){_QUOTE}?(?:\s*\{{[^{{}}]*?\bdefault|[\s,]+{_QUOTE}?value{_QUOTE}?)"
        rf"\s*[:=]\s*(?:{_QUOTE})?){_CODE}[^\s\"'\\<>]+"
    ),
    # in a sentence: what has letters and digits behind "password … is" or "key … to"
    re.compile(
        rf"(?i)(\b(?:{_PASSWORD}|{_NAME})\b[^\n.:=]{{0,40}}?\s(?:is|to|as|was)\s+[\"'`]?)"
        rf"{_CODE}(?=[^\s\"'`]*\d)(?=[^\s\"'`]*[A-Za-z])[^\s\"'`]{{8,}}"
    ),
    # a line that holds a secret and nothing else: no mark ends it
    re.compile(
        rf"(?im)^([ \t]*(?:export )?[\w.-]*(?:{_NAME})[ \t]*[:=][ \t]*){_CODE}(?!{_QUOTE})(?=\S*\d)\S{{8,}}(?=\s*$)"
    ),
    # in quotes behind its name, with a digit or a mark in it
    re.compile(
        rf"(?i)(\b(?:{_PASSWORD}|{_NAME})[ \t]+(?P<quote_>[`\"']))(?!\[masked\]|[$<{{])"
        r"(?=[\w-]*[^\s\w`\"'-]|[^\s`\"']*\d)[^\s`\"'()=]{6,}=*(?=(?P=quote_))"
    ),
    # behind its name alone, if it looks like a password
    re.compile(
        rf"(?i)((?:{_PASSWORD})[ \t]+){_CODE}(?-i:(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z!#$%&*+?@^~]))"
        r"[^\s`\"'()<>{}=\\]{6,}(?=[\s.,;]|$)"
    ),
    re.compile(
        r"(?i)(\b(?:\w*(?:api|access|secret|auth|client)[ _-]?(?:access[ _-]?)?(?:key|token|secret)|token)"
        rf"(?:[ \t]+(?:is|was))?:?[ \t]+[\"'`]?){_CODE}(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])[\w+/-]{{20,}}={{0,2}}"
        r"(?![\w.:(/])"
    ),
    # in SQL, and what is typed into a field for a password
    re.compile(r"(?i)(\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?\\*[\"'])(?!\[masked\]|[$<{:])[^\"'\\\n]+"),
    re.compile(
        rf"(?i)((?:{_PASSWORD})\w{{0,20}}\]?{_QUOTE}?\]?\)?"
        rf"(?:\.(?:\w{{0,20}}?(?:send_?keys|fill|type|set_?value)\w{{0,20}})\(|[ \t]*,)"
        rf"(?:[ \t]*{_QUOTE}(?:text|value){_QUOTE}[ \t]*:)?[ \t]*(?P<quote>{_QUOTE}))(?!\[masked\]|[$<{{])"
        r"(?=[^\s\"'\\]*\d|[^\s\"'\\]*[^\w\s\"'\\])[^\s\"'\\]{6,}(?=(?P=quote))"
    ),
    # what a name that ends in "pass" has, if it looks like a password
    re.compile(
        rf"(?im)((?:\w[_-]|^[ \t]*|[\"'])pass{_QUOTE}?[ \t]*[:=][ \t]*(?:{_QUOTE})?){_CODE}"
        r"(?-i:(?=[^\s\"']*\d)(?=[^\s\"']*[a-z])(?=[^\s\"']*[^\sa-z\d\"'_]))[^\s\"'\\]{6,}"
    ),
    # elements of XML
    re.compile(
        rf"(?i)(<(?:[\w:.-]{{0,60}}?|\w{{1,40}}[^<>]{{0,100}}?\bname=\"[\w.-]{{0,60}}?)(?:{_PASSWORD}|{_NAME})(?:[\s\"][^<>]*)?>\s*)(?!\[masked\]|\$)[^<>\s][^<>]*(?=</)"
    ),
    # user and password as two arguments, and at the end of a line of .pgpass and of htpasswd -b
    re.compile(
        r"(?i)(\b(?:auth\s*=\s*|\w*basicauth|login)\(\s*[\"'][^\"'\n]*[\"']\s*,\s*(?:password\s*=\s*)?[\"'])"
        r"(?!\[masked\]|[$<{])[^\"'\n]+"
    ),
    re.compile(
        r"(?m)(^[\w.*-]+:(?:\d{2,5}|\*):[\w*-]+:[\w*-]+:|\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+)(?!\[masked\]|\$)\S+"
    ),
    re.compile(r"(?i)(\"auth\\*\"\s*:\s*\\*\"|:_auth\s*[= ]\s*|\bkey-data:\s*)(?!\[masked\])[A-Za-z0-9+/]{12,}={0,2}"),
    # a whole header of cookies, if one of them is longer than a setting
    re.compile(
        r"(?i)(\b(?:set-)?cookie2?(?:\\*[\"'])?\s*:\s*(?:\\*[\"'])?)(?!\[masked\])"
        r"(?=(?:[^\n\"'\\]{0,400}[\s;])?(?!expires|max-age|domain|path|samesite)[^\s\"'=:;]+=[^\s;\"'\\]{8,})[^\n\"'\\]+"
    ),
    # headers such as X-Auth-Token, and names such as api_key, with an escaped quote or none
    re.compile(
        rf"(?i)((?:\bx-[\w-]{{0,40}}?(?:token|key|auth|secret|session)|{_NAME})(?:{_QUOTE})?\s*(?:[:=]|=>)\s*(?:{_QUOTE})?"
        rf"(?:(?:bearer|basic|token)\s+)?|\bbearer\s+)"
        rf"{_CODE}(?:(?<=[\"'])|(?=[^\s\"'\\@,;&]*\d))[^\s\"'\\@,;&]{{8,}}"
    ),
    # what signs a request, in a header of another scheme than Bearer
    re.compile(
        r"(?i)(\bauthorization[^\n]{0,20}\s(?:digest|oauth|hawk|mac|aws4-[\w-]+)\s[^\n]{0,800}?"
        r"\b(?:response|(?:oauth_)?signature|mac)=\\*[\"']?)(?!\[masked\])[^\s\"'\\,]{16,}"
    ),
    # options: --token VALUE, and the value of npm's _authToken
    re.compile(
        r"(?i)((?:(?<=\s)|(?<=^))--?[\w-]*(?:token|secret|auth"
        r"|(?:api|access|account|master|private|client|service)-?key)[ \t]+[\"']?|:_authToken[ \t]+)"
        rf"{_CODE}(?!-)[^\s\"'\\]{{8,}}"
    ),
    re.compile(r"(?i)(\bcurl\b[^\n|;]{0,400}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'\\]+:)(?!\[masked\]|\$)[^\s\"'\\]+"),
    # commands by their own option, and by their own order
    re.compile(
        r"(\b(?:(?:sshpass|(?:docker|podman|oc) login|twine upload|mongo\w*|cqlsh)\b[^\n|;]{0,400}?\s-p[ \t]*"
        r"|(?:mysql\w*|mariadb\w*)\b[^\n|;]{0,400}?\s-p|redis-cli\b[^\n|;]{0,400}?\s-a[ \t]+"
        r"|ldap\w+\b[^\n|;]{0,400}?\s-w[ \t]+"
        r"|mc (?:alias set|config host add)(?:[ \t]+\S+){3}[ \t]+"
        r"|(?:sqlcmd|bcp|ipmitool|mosquitto_\w+|(?:un)?zip)\b[^\n|;]{0,400}?\s-P[ \t]*"
        r"|keytool\b[^\n|;]{0,400}?\s-(?:store|key)pass[ \t]+|(?:plink|pscp)\b[^\n|;]{0,400}?\s-pw[ \t]+"
        r"|smbclient\b[^\n|;]{0,400}?\s-U[ \t]*[\w\\.-]+%|xfreerdp\b[^\n|;]{0,400}?\s/p:"
        r"|net use\b[^\n|;]{0,400}?/user:\S+[ \t]+))"
        r"(?:(?P<quote>[\"'])(?!\[masked\]|\$)(?:(?!(?P=quote))[^\n])+|(?!\[masked\]|[$\"'-])[^\s\"'\\]+)"
    ),
    # URLs: a password with or without a user, and signed ones
    re.compile(r"(://[^\s:/@\[<{]{0,200}:)(?!\[masked\]|\$|(?i:password|token)@)[^\s@/]{4,}(?=@)"),
    re.compile(r"(\b(?:sqlplus[ \t]+|jdbc:oracle:\w+:)[\w.-]+/)(?!\[masked\]|\$)[^\s@\"'/]+(?=@)"),
    re.compile(r"(://)(?=[\w-]*\d)[\w-]{20,}(?=@)"),
    re.compile(
        r"(?i)([?&](?:sig|signature|x-amz-signature|x-goog-signature|key|code|appid|app_key|subscription-key|auth)=)(?!\[masked\])[^\s&\"'\\]{16,}"
    ),
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


class Masked:
    """Masks texts, and counts the secrets that it found. Raises: JudgeError if detect-secrets is not installed."""

    def __init__(self) -> None:
        self.count = 0
        self._package = package_rules()

    def text(self, text: str) -> str:
        for rule in AFTER[:2]:  # a password may look like a key: it is masked to its end
            text = self._after(rule, text)
        text, known = KNOWN.subn(MASK, text)
        self.count += known
        for rule in AFTER[2:]:
            text = self._after(rule, text)
        return "\n".join(self._line(line) for line in text.split("\n"))

    def _after(self, rule: re.Pattern[str], text: str) -> str:
        def masked(found: re.Match[str]) -> str:
            return found[1] + (found.groupdict().get("quote") or "") + MASK

        text, count = rule.subn(masked, text)
        self.count += count
        return text

    def _line(self, line: str) -> str:
        """A line without the secrets that detect-secrets finds in it. Parts of longer words are none."""
        secrets = {secret for find in self._package for secret in find(line) if secret and MASK not in secret}
        for secret in sorted(secrets, key=len, reverse=True):
            line, count = re.subn(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, line)
            self.count += count
        return line

    def value(self, value: Any) -> Any:
        """A JSON value with all its texts masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self._field(name, own) for name, own in value.items()}
        return [self.value(own) for own in value] if isinstance(value, list | tuple) else value

    def _field(self, name: str, value: Any) -> Any:
        """The value of a field, whose name may say that it is a secret."""
        if PASSWORD_FIELD.search(name) and type(value) in (str, int) and value not in ("", MASK):
            self.count += 1
            return MASK
        if not isinstance(value, str):
            return self.value(value)
        mark = "" if re.search(r"[\s\"'\\]", value) else '"'
        return self.text(f"{name}={mark}{value}{mark}").removeprefix(f"{name}={mark}").removesuffix(mark)


def masked_events(events: Iterator[Event], masked: Masked) -> Iterator[Event]:
    for event in events:
        yield event.model_copy(update={"text": masked.text(event.text), "meta": masked.value(event.meta)})
