"""Secrets that tell what they are: a prefix or another fixed part that their issuer gave them.

Each rule names the letters to look for (in lower case, as the search for them ignores case) and the whole shape. A
shape starts at its letters, or, where they are inside or at the end of the secret, up to `back` characters before.
Bodies are given as the shortest length the issuer has used; what follows of the same characters belongs to the secret.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from clew.text.redaction.values import Cut, is_stand_in

_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtf]))"
"""Where a secret may start: not inside a word, but behind what joins words, and directly behind an escaped line end."""
_OWN_EDGE = r"(?:(?<![A-Za-z0-9_+\-])|(?<=\\[nrtf]))"
_WORDY_ANCHORS = frozenset(
    "s. sk yc t1. q~ pat pat. sat. ext_ sc_ api- sdk- mob- key- pubkey- apikey- access- secret_ live_ test_ re_ fc- "
    "dp. 1//0 4b1d 0| -us1".split()
)
"""Letters that words and ids end in as well: behind a joiner they are only that."""

_ESCAPED_LINE_END = re.compile(r"\\[nrtf]")
_JOINERS = "_-.~"
_SECRET_CHARS = string.ascii_letters + string.digits + "_-~."


@dataclass(frozen=True, slots=True)
class Rule:
    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    back: int = 0
    joins: bool = True
    """Whether it is known behind a joiner, too: `my-ghp_…`."""

    def cuts(self, text: str, start: int, end: int) -> Iterator[Cut]:
        for first in self._starts(text, start):
            found = self.pattern.match(text, first)
            if found and found.end() >= end:
                yield from self._cut(text, found)
                return

    def _cut(self, text: str, found: re.Match[str]) -> Iterator[Cut]:
        first, last = found.span("secret") if "secret" in self.pattern.groupindex else found.span()
        if last > first and not is_stand_in(text[first:last]):
            yield Cut(first, last, self.kind)

    def _starts(self, text: str, start: int) -> Iterator[int]:
        """Where a secret with its letters at this place may begin."""
        first = start - self._before(text, start) if self.back else start
        yield first
        if self.joins:
            yield from (place + 1 for place in range(first, start) if text[place] in _JOINERS)

    def _before(self, text: str, start: int) -> int:
        """How many characters of a secret come directly before its letters."""
        head = text[max(0, start - self.back) : start]
        size = len(head) - len(head.rstrip(_SECRET_CHARS))
        return size - 1 if _ESCAPED_LINE_END.match(text, start - size - 1) else size


def _rule(kind: str, anchors: str, shape: str, back: int = 0) -> Rule:
    """Spells out the shorthand of the table: a group of characters, and `{n,}` of it taken to its end."""
    letters = tuple(anchors.split())
    joins = not _WORDY_ANCHORS.intersection(letters)
    edge = _EDGE if joins else _OWN_EDGE
    spelt = shape.replace("@.", _SHUT if joins else _OWN_SHUT)
    for short, characters in _GROUPS.items():
        spelt = spelt.replace(short, characters)
    greedy = re.sub(r"(\{\d+,\d*\})(?!\?)", r"\1+", spelt)
    return Rule(kind, letters, re.compile(f"{edge}(?:{greedy})", re.ASCII), back, joins)


_SHUT, _OWN_SHUT = r"(?![A-Za-z0-9])", r"(?![A-Za-z0-9_\-])"
"""`@.` in a shape: where a secret ends that has one length only."""
_GROUPS = {
    "@h": "[0-9a-f]",
    "@H": "[0-9a-fA-F]",
    "@a": "[0-9a-z]",
    "@A": "[0-9A-Z]",
    "@n": "[0-9A-Za-z]",
    "@w": r"[\w\-]",
    "@b": r"[\w\-+/]",
    "@u": r"@h{8}-@h{4}-@h{4}-@h{4}-@h{12}".replace("@h", "[0-9a-fA-F]"),
}

RULES: tuple[Rule, ...] = (
    # clouds and hosting
    _rule("aws-key", "akia asia abia acca a3t", r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}@."),
    _rule("aws-key", "absk", r"ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    _rule("aws-key", "bedrock-api-key-", r"bedrock-api-key-@b{40,}={0,2}"),
    _rule("gcp-key", "aiza", r"AIza@w{35}@."),
    _rule("gcp-key", "gocspx-", r"GOCSPX-@w{20,}"),
    _rule("gcp-key", "ya29.", r"ya29\.[\w\-.]{20,}"),
    _rule("gcp-key", "1//0", r"1//0@w{30,}"),
    _rule("azure-key", "q~", r"@n[\w.~\-]{2}\dQ~[\w.~\-]{31,34}@.", 4),
    _rule("azure-key", "azdo", r"@n{40,76}?AZDO@n{4}@.", 76),
    _rule("alibaba-key", "ltai", r"LTAI@n{12,}"),
    _rule("tencent-key", "akid", r"AKID@n{28,}"),
    _rule("yandex-token", "aqvn", r"AQVN@w{32,}"),
    _rule("yandex-token", "t1. y0_", r"(?:t1\.[A-Z0-9a-z\-_]{1,400}={0,2}\.@w{60,}={0,2}|y0_@w{50,})"),
    _rule("yandex-token", "yc", r"YC@w{38}@."),
    _rule("digitalocean-token", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_@h{40,}"),
    _rule("heroku-key", "hrku-", r"HRKU-@w{30,}"),
    _rule("fly-token", "fo1_ fm1a_ fm1r_ fm2_", r"f(?:o1|m1[ar]|m2)_[\w\-+/,]{36,}={0,3}"),
    _rule("cloudflare-key", "v1.0-", r"v1\.0-@h{24}-@h{100,}"),
    _rule("cloudflare-key", "cfut_ cfat_ cfk_", r"cf(?:ut|at|k)_@n{30,}"),
    _rule("netlify-token", "nfp_", r"nfp_@n{30,}"),
    _rule("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"vc[piarck]_@n{24,}"),
    _rule("render-key", "rnd_", r"rnd_@n{24,}"),
    _rule("scalingo-token", "tk-us-", r"tk-us-@w{40,}"),
    _rule("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth|app_secret)_[\w\-.=]{30,}"),
    _rule("supabase-key", "sbp_ sb_secret_", r"sb(?:p|_secret)_@w{20,}"),
    _rule("neon-key", "napi_", r"napi_@n{40,}"),
    _rule("databricks-token", "dapi", r"dapi@h{32}(?:-\d)?@."),
    _rule("clickhouse-key", "4b1d", r"4b1d@n{38}@."),
    _rule("tailscale-key", "tskey-", r"tskey-[a-z]{2,20}-@w{12,}"),
    _rule("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.@w{20,}"),
    _rule("vault-token", "s.", r"s\.(?=\D{0,23}\d)(?=[^A-Z]{0,23}[A-Z])@n{24}@."),
    _rule("terraform-token", ".atlasv1.", r"@n{14}\.atlasv1\.[\w\-=]{40,}", 14),
    _rule("pulumi-token", "pul-", r"pul-@h{40}@."),
    _rule("doppler-token", "dp.", r"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[\w\-]{1,40}\.)?@n{40,}"),
    _rule("openshift-token", "sha256~", r"sha256~@w{43}@."),
    _rule("ibm-key", "apikey-", r"ApiKey-@u"),
    _rule("harness-token", "pat. sat.", r"[ps]at\.@w{22}\.@H{24}\.@n{20}@."),
    _rule("infracost-key", "ico-", r"ico-@n{32}@."),
    _rule("defined-networking-token", "dnkey-", r"dnkey-[\w\-=]{20,}"),
    _rule("octopus-key", "api-", r"API-@A{26}@."),
    _rule("launchdarkly-key", "api- sdk- mob-", r"(?:api|sdk|mob)-@u"),
    # code, packages, builds
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_@n{30,}"),
    _rule("github-token", "github_pat_", r"github_pat_\w{20,}"),
    _rule(
        "gitlab-token",
        "glpat- gldt- glcbt- glft- glimt- glrt- glrtr- glptt- glsoat- glffct- glagent- gloas- glwt-",
        r"gl(?:pat|dt|cbt|ft|imt|rtr?|ptt|soat|ffct|agent|oas|wt)-@w{18,}(?:\.@w{2,})*",
    ),
    _rule("gitlab-token", "gr1348941", r"GR1348941@w{20,}"),
    _rule("gitlab-token", "_gitlab_session=", r"_gitlab_session=(?P<secret>@h{32,})"),
    _rule("bitbucket-token", "atbb", r"ATBB@n{24,}"),
    _rule("atlassian-token", "atatt3 atctt3 atst", r"AT(?:ATT3|CTT3|ST[A-Z]?)[\w\-=]{60,}"),
    _rule("trello-token", "atta", r"ATTA@H{60,}"),
    _rule("sourcegraph-token", "sgp_ slk_", r"(?:sgp_(?:@H{16}_|local_)?@H{40}|slk_@H{64})@."),
    _rule("npm-token", "npm_", r"npm_@n{36}@."),
    _rule("pypi-token", "pypi-", r"pypi-@w{50,}"),
    _rule("rubygems-key", "rubygems_", r"rubygems_@h{48}@."),
    _rule("crates-token", "cio", r"cio@n{32}@."),
    _rule("nuget-key", "oy2", r"oy2@a{43}@."),
    _rule("clojars-token", "clojars_", r"(?i:CLOJARS_)@H{60}@."),
    _rule("docker-token", "dckr_", r"dckr_[op]at_@w{20,}"),
    _rule("artifactory-key", "akcp", r"AKCp@n{56,}"),
    _rule("artifactory-token", "cmvmdgtu", r"cmVmdGtu@n{40,}"),
    _rule("circleci-token", "ccipat_ ccipra_", r"CCIP(?:AT|RA)_@n{10,}_@H{30,}"),
    _rule("buildkite-token", "bkua_ bkct_", r"bk(?:ua|ct)_@n{24,}"),
    _rule("sonar-token", "squ_ sqp_ sqa_", r"sq[upa]_@n{40}@."),
    _rule("snyk-token", "snyk_", r"snyk_(?:uat|sat)\.@w{6,}\.[\w\-.]{20,}"),
    _rule("postman-key", "pmak-", r"PMAK-@H{24}-@H{34}@."),
    _rule("readme-token", "rdme_", r"rdme_@a{40,}"),
    _rule("prefect-token", "pnu_ pnb_", r"pn[ub]_@n{30,}"),
    _rule("deno-token", "ddp_ ddw_", r"dd[pw]_@n{30,}"),
    _rule("endor-key", "endr+", r"endr\+@w{16}@."),
    _rule("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", r"sm_[aps]at_@n{12,}"),
    # models
    _rule("anthropic-key", "sk-ant-", r"sk-ant-@w{24,}"),
    _rule("openai-key", "sk-", r"sk-(?=@w{0,60}?[\dA-Z])(?:[a-z]{1,12}-(?:v1-)?)?@w{20,}"),
    _rule("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_(?=[a-z]{0,33}[A-Z0-9])@n{30,}"),
    _rule("perplexity-key", "pplx-", r"pplx-@w{32,}"),
    _rule("groq-key", "gsk_", r"gsk_@n{40,}"),
    _rule("xai-key", "xai-", r"xai-@n{60,}"),
    _rule("replicate-token", "r8_", r"r8_@n{30,}"),
    _rule("nvidia-key", "nvapi-", r"nvapi-@w{40,}"),
    _rule("pinecone-key", "pcsk_", r"pcsk_@n{4,}_@n{40,}"),
    _rule("langsmith-key", "lsv2_ ls__", r"ls(?:v2_[a-z]{2}_|__)@n{20,}"),
    _rule("model-key", "csk- tvly- fc- tgp_v1_ jina_", r"(?:csk|tvly|fc)-@w{30,}|(?:tgp_v1|jina)_@w{30,}"),
    # messages and people
    _rule(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-",
        r"xox[a-eopr-s]-(?=@w{0,80}?\d)[\w\-%]{16,}",
    ),
    _rule("slack-token", "xoxe.xox", r"xoxe\.xox[bp]-@w{40,}"),
    _rule("slack-token", "xapp- xwfp-", r"x(?:app|wfp)-@w{20,}"),
    _rule("webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w\-/]{20,})"),
    _rule(
        "webhook",
        "discord.com/api discordapp.com/api",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/(?P<secret>\d{5,}/@w{20,})",
    ),
    _rule("webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/(?P<secret>[\w\-@/]{30,})"),
    _rule("webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/(?P<secret>[\w/]{10,})"),
    _rule("telegram-token", ":a", r"\d{5,16}:A@w{34}@.", 16),
    _rule("telegram-token", "bot1 bot2 bot3 bot4 bot5 bot6 bot7 bot8 bot9", r"bot(?P<secret>\d{5,16}:A@w{34})@."),
    _rule("discord-token", "mfa.", r"mfa\.@w{60,}"),
    _rule("twilio-key", "sk", r"SK@h{32}@."),
    _rule("sendgrid-key", "sg.", r"SG\.[\w\-.=]{40,}"),
    _rule("brevo-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-@h{40,}-@w{8,}"),
    _rule("mailgun-key", "key- pubkey-", r"(?:pub)?key-@h{32}@."),
    _rule("mailersend-key", "mlsn.", r"mlsn\.@h{40,}"),
    _rule("mailchimp-key", "-us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9", r"@h{32}-us\d{1,2}@.", 32),
    _rule("resend-key", "re_", r"re_@n{6,12}_@n{20,}"),
    _rule("intra-secret", "s-s4t2", r"s-s4t2(?:ud|af)-@h{64}@."),
    _rule("facebook-token", "eaa", r"EAA[A-Z]@n{80,}"),
    _rule("hubspot-token", "pat-", r"pat-(?:na|eu|ap)\d-@u"),
    _rule("facebook-token", "0| 1| 2| 3| 4| 5| 6| 7| 8| 9|", r"\d{15,16}\|@w{27,40}@.", 16),
    _rule("linkedin-token", "wpl_ap", r"WPL_AP\d\.@n{10,}\.@n{4,}={0,2}"),
    _rule("frameio-token", "fio-u-", r"fio-u-[\w\-=]{60,}"),
    _rule("typeform-token", "tfp_", r"tfp_[\w\-.=]{50,}"),
    _rule("figma-token", "figd_ figdr_ figoh_ figor_", r"fig(?:dr?|o[hr])_@w{30,}"),
    _rule("notion-token", "ntn_", r"ntn_@n{46}@."),
    _rule("notion-token", "secret_", r"secret_@n{43}@."),
    _rule("linear-token", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_@n{32,}"),
    _rule("airtable-token", "pat", r"pat@n{14}\.@h{64}@."),
    _rule("contentful-token", "cfpat-", r"CFPAT-@w{40,}"),
    _rule("adobe-secret", "p8e-", r"(?i:p8e-)@n{32}@."),
    _rule("adafruit-key", "aio_", r"aio_@n{28}@."),
    _rule("duffel-token", "duffel_", r"duffel_(?:test|live)_[\w\-=]{40,}"),
    _rule(
        "authress-key",
        "sc_ ext_ scauth_ authress_",
        r"(?:sc|ext|scauth|authress)_@a{5,30}\.@a{4,6}\.(?:acc[_-])?@a{10,40}\.[\w+/=\-]{30,}",
    ),
    _rule("dropbox-token", "sl.", r"sl\.(?:u\.)?@w{100,}"),
    _rule("onepassword-key", "a3-", r"A3-@A{6}-(?:@A{11}|@A{6}-@A{5})-@A{5}-@A{5}-@A{5}@."),
    _rule("onepassword-token", "ops_", r"ops_eyJ@b{200,}={0,3}"),
    # money
    _rule("stripe-key", "sk_ rk_ whsec_", r"(?:[sr]k_(?:live|test|prod)_|whsec_)[\w+/=\-]{10,}"),
    _rule("elevenlabs-key", "sk_", r"sk_@h{40,}"),
    _rule("square-token", "sq0", r"sq0[a-z]{3}-@w{22,}"),
    _rule("square-token", "eaaa", r"EAAA@w{56,}"),
    _rule("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", r"shp(?:at|ca|pa|ss|ua)_@H{32}@."),
    _rule("plaid-token", "access-", r"access-(?:sandbox|development|production)-@u"),
    _rule("flutterwave-key", "flwseck flwpubk", r"FLW(?:SECK|PUBK)(?:_TEST)?-@H{12,}(?:-X)?"),
    _rule("easypost-key", "ezak eztk", r"EZ[AT]K@n{54}@."),
    _rule("shippo-token", "shippo_", r"shippo_(?:live|test)_@H{40}@."),
    _rule("lob-key", "live_ test_", r"(?:live|test)_(?:pub_)?@h{30,}"),
    _rule("gocardless-token", "live_", r"live_[\w\-=]{40}@."),
    _rule("paddle-key", "pdl_", r"pdl_(?:live|sdbx|ntfset)_\w{20,}"),
    # measuring and watching
    _rule("grafana-token", "glc_ glsa_", r"gl(?:c_[A-Za-z0-9+/]{32,}={0,3}|sa_@n{32}_@H{8})"),
    _rule("grafana-token", "eyjrijoi", r"eyJrIjoi@b{60,}={0,3}"),
    _rule("dynatrace-token", "dt0", r"dt0[a-z]\d{2}\.@n{24}\.@n{64}@."),
    _rule("newrelic-key", "nrak- nrjs- nrii- nraa- nrra-", r"NR(?:AK|JS|II|AA|RA)-[\w\-+=]{16,}"),
    _rule("newrelic-key", "ffffnral", r"@h{32}FFFFNRAL", 40),
    _rule("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", r"sntry[suai]_(?:@h{64}@.|eyJ[\w+/=\-]{60,})"),
    _rule("posthog-key", "phx_ phc_ phs_", r"ph[xcs]_@n{32,}"),
    _rule("honeycomb-key", "hcaik_ hcbik_ hcxik_", r"hc[abx]ik_@n{40,}"),
    _rule("axiom-token", "xaat- xapt-", r"x(?:aa|ap)t-@u"),
    _rule("maxmind-key", "_mmk", r"@n{6}_@n{29}_mmk@.", 40),
    # forms of several issuers
    _rule("age-key", "age-secret-key-", r"AGE-SECRET-KEY-1@A{40,}"),
    _rule("jwt", "eyj", r"eyJ@w{8,}\.(?:eyJ@w{8,}|@w{4,}(?=\.)|(?=\.@w{8}))(?:\.[\w\-+/=]{0,9999}){0,3}"),
    _rule("jwt", "zxlk", r"ZXlK@b{60,}={0,2}"),
)
