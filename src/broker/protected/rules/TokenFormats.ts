/**
 * Provider token formats on which secretlint's recommended preset is blind or too strict, as data: a prefix that
 * providers print so that scanners can find it, and what follows it.
 *
 * base-protocol section 6, Redaction. `source` says where the format is documented: a scanner's rule (gitleaks,
 * detect-secrets, secretlint; all of them published under free licences) or the provider's own pages. The entries are
 * facts about formats, written down anew and on purpose a little wider than the originals: a token that grew by a few
 * characters is still one.
 */

/** Which characters a body is made of. */
export type Alphabet = "hex" | "letters" | "alnum" | "upper" | "word" | "url" | "dotted" | "base64" | "any"

export interface TokenFormat {
  readonly provider: string
  readonly prefixes: ReadonlyArray<string>
  readonly alphabet: Alphabet
  /** Fewest characters behind the prefix. */
  readonly min: number
  /** Most of them; absent: however many follow belong to the token. */
  readonly max?: number
  /** The body must hold a digit and a letter: for prefixes that are also beginnings of words. */
  readonly mixed?: true
  readonly source: string
}

const format = (
  provider: string,
  prefixes: string,
  alphabet: Alphabet,
  min: number,
  source: string,
  more: Pick<TokenFormat, "max" | "mixed"> = {}
): TokenFormat => ({ provider, prefixes: prefixes.split(" "), alphabet, min, source, ...more })

export const tokenFormats: ReadonlyArray<TokenFormat> = [
  format("1Password", "ops_eyJ", "base64", 60, "gitleaks"),
  format("1Password", "A3-", "url", 33, "gitleaks", { max: 40, mixed: true }),
  format("Adafruit", "aio_", "alnum", 28, "provider"),
  format("Adobe", "p8e-", "alnum", 32, "gitleaks"),
  format("age", "AGE-SECRET-KEY-1", "alnum", 40, "gitleaks"),
  format("Airtable", "pat", "dotted", 70, "gitleaks", { max: 90, mixed: true }),
  format("Alibaba", "LTAI", "alnum", 16, "gitleaks", { max: 24, mixed: true }),
  format("Anthropic", "sk-ant-", "url", 32, "gitleaks", { mixed: true }),
  format("Artifactory", "AKC", "alnum", 10, "detect-secrets", { mixed: true }),
  format(
    "Artifactory",
    "AP0 AP1 AP2 AP3 AP4 AP5 AP6 AP7 AP8 AP9 APA APB APC APD APE APF",
    "alnum",
    20,
    "detect-secrets",
    {
      mixed: true
    }
  ),
  format("Artifactory", "cmVmdGtu cmVmd", "alnum", 50, "gitleaks"),
  format("Atlassian", "ATATT3 ATCTT3 ATBB ATTA", "any", 20, "gitleaks", { mixed: true }),
  format("AWS", "AKIA ASIA ABIA ACCA", "upper", 16, "gitleaks", { max: 16 }),
  format("AWS Bedrock", "ABSK", "base64", 100, "gitleaks"),
  format("AWS Bedrock", "bedrock-api-key-", "base64", 20, "gitleaks"),
  format("AWS MWS", "amzn.mws.", "url", 36, "detect-secrets"),
  format("AWS Cognito", "us-east-1: us-west-2: eu-west-1:", "url", 36, "provider", { max: 36, mixed: true }),
  format("Beamer", "b_", "any", 44, "gitleaks", { max: 44, mixed: true }),
  format("Buildkite", "bkua_ bkaa_ bkat_", "alnum", 32, "provider"),
  format("CircleCI", "CCIPAT_", "url", 40, "provider"),
  format("ClickHouse", "4b1d", "alnum", 38, "gitleaks", { max: 38 }),
  format("Clojars", "CLOJARS_", "hex", 60, "gitleaks"),
  format("Cloudflare", "v1.0-", "url", 100, "gitleaks"),
  format("Cloudflare", "cfat_ cfut_ cfk_", "alnum", 48, "secretlint", { max: 48 }),
  format("Contentful", "CFPAT-", "url", 40, "provider"),
  format("crates.io", "cio", "alnum", 32, "provider", { max: 32, mixed: true }),
  format("Databricks", "dapi", "hex", 32, "gitleaks"),
  format("Databricks", "dkea dose", "hex", 32, "provider"),
  format("Definednet", "dnkey-", "url", 50, "gitleaks"),
  format("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", "hex", 64, "gitleaks"),
  format("Docker", "dckr_pat_ dckr_oat_", "url", 27, "secretlint"),
  format("Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "dotted", 40, "gitleaks"),
  format("Dropbox", "sl.", "any", 100, "gitleaks"),
  format("Duffel", "duffel_test_ duffel_live_", "any", 40, "gitleaks"),
  format("Dynatrace", "dt0c01. dt0s01. dt0s16.", "dotted", 60, "gitleaks"),
  format("EasyPost", "EZAK EZTK", "alnum", 54, "gitleaks", { mixed: true }),
  format("Facebook", "EAAM EAAC EAAB EAAD EAAG EAAE", "alnum", 80, "gitleaks", { mixed: true }),
  format("Figma", "figd_ figu_ figo_ figor_", "url", 40, "secretlint"),
  format("Fireworks", "fw_", "alnum", 22, "provider", { max: 24, mixed: true }),
  format("Flutterwave", "FLWPUBK_TEST- FLWSECK_TEST- FLWPUBK- FLWSECK-", "url", 12, "gitleaks", { mixed: true }),
  format("Flutterwave", "FLWSECK_TEST", "hex", 12, "gitleaks", { max: 12 }),
  format("Fly.io", "fo1_ fm1_ fm1a_ fm1r_ fm2_", "any", 40, "gitleaks"),
  format("Frame.io", "fio-u-", "any", 60, "gitleaks"),
  format("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", "word", 36, "gitleaks"),
  format("GitHub", "github_pat_", "word", 60, "gitleaks"),
  format("GitLab", "glpat- gldt- glsoat- glwt- glft- glffct-", "dotted", 20, "gitleaks"),
  format("GitLab", "glrt- glrtr- glcbt-", "dotted", 20, "gitleaks"),
  format("GitLab", "glptt-", "url", 40, "detect-secrets", { max: 40 }),
  format("GitLab", "glagent-", "url", 50, "detect-secrets", { max: 1024 }),
  format("GitLab", "glimt-", "url", 25, "detect-secrets", { max: 25 }),
  format("GitLab", "gloas-", "url", 64, "detect-secrets", { max: 64 }),
  format("GitLab", "GR1348941", "url", 20, "detect-secrets", { max: 50, mixed: true }),
  format("GitLab", "_gitlab_session=", "alnum", 32, "gitleaks"),
  format("GoCardless", "live_", "any", 40, "gitleaks", { max: 40, mixed: true }),
  format("Google", "AIza", "url", 35, "gitleaks", { max: 35 }),
  format("Google", "ya29. 1//0", "url", 30, "provider", { mixed: true }),
  format("Google", "GOCSPX-", "url", 24, "provider"),
  format("Grafana", "eyJrIjoi", "base64", 60, "gitleaks"),
  format("Grafana", "glc_ glsa_", "base64", 32, "gitleaks", { mixed: true }),
  format("Groq", "gsk_", "alnum", 40, "secretlint"),
  format("Harness", "pat. sat.", "dotted", 60, "gitleaks", { mixed: true }),
  format("HashiCorp Vault", "hvs. hvb. hvr.", "url", 24, "gitleaks"),
  format("Heroku", "HRKU-", "url", 36, "gitleaks"),
  format("HubSpot", "pat-na1- pat-eu1- pat-na2- pat-ap1-", "url", 36, "provider"),
  format("Hugging Face", "hf_ api_org_", "letters", 34, "gitleaks", { max: 34 }),
  format("Infracost", "ico-", "alnum", 32, "gitleaks", { max: 32, mixed: true }),
  format("Intra42", "s-s4t2ud- s-s4t2af-", "hex", 64, "gitleaks"),
  format("Lakera", "lsv2_pt_ lsv2_sk_", "word", 32, "provider"),
  format("Linear", "lin_api_ lin_oauth_", "word", 32, "gitleaks"),
  format("Lob", "test_ live_ test_pub_ live_pub_", "hex", 31, "gitleaks", { max: 35, mixed: true }),
  format("Mailgun", "key- pubkey-", "hex", 32, "gitleaks", { max: 32 }),
  format("Mapbox", "pk.eyJ sk.eyJ tk.eyJ", "dotted", 40, "provider"),
  format("Mapbox", "pk. sk.", "dotted", 83, "gitleaks", { max: 90, mixed: true }),
  format("MongoDB Atlas", "mdb_sa_sk_", "url", 30, "provider"),
  format("Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", "alnum", 36, "provider"),
  format("New Relic", "NRAK- NRAA- NRJS- NRII- NRIQ- NRRA- NRBR- NRSP-", "url", 19, "gitleaks", { mixed: true }),
  format("Notion", "secret_", "alnum", 43, "provider", { max: 43, mixed: true }),
  format("npm", "npm_", "word", 36, "gitleaks"),
  format("NuGet", "oy2", "alnum", 43, "provider", { max: 43, mixed: true }),
  format("NVIDIA", "nvapi-", "url", 40, "provider"),
  format("Octopus Deploy", "API-", "alnum", 26, "gitleaks", { max: 26, mixed: true }),
  format("DeepSeek, Moonshot and others after OpenAI", "sk-", "alnum", 32, "provider", { max: 48, mixed: true }),
  format("OpenAI", "sk-proj- sk-svcacct- sk-admin- sk-None-", "url", 32, "provider", { mixed: true }),
  format("OpenRouter", "sk-or-v1- sk-lf- pk-lf- sk-kimi-", "url", 30, "provider"),
  format("OpenShift", "sha256~", "url", 40, "gitleaks", { max: 64, mixed: true }),
  format("Perplexity", "pplx-", "alnum", 40, "gitleaks"),
  format("Pinecone", "pcsk_", "word", 40, "provider"),
  format("Plaid", "access-sandbox- access-development- access-production-", "url", 36, "gitleaks"),
  format("PlanetScale", "pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_api_", "any", 32, "gitleaks"),
  format("PostHog", "phc_ phx_ phs_", "alnum", 32, "provider"),
  format("Postman", "PMAK-", "url", 50, "gitleaks"),
  format("Prefect", "pnu_ pnb_", "alnum", 36, "gitleaks"),
  format("Pulumi", "pul-", "hex", 40, "gitleaks"),
  format("PyPI", "pypi-AgE", "url", 50, "gitleaks"),
  format("ReadMe", "rdme_", "alnum", 60, "gitleaks"),
  format("Render", "rnd_", "alnum", 28, "provider", { mixed: true }),
  format("Replicate", "r8_", "alnum", 37, "provider"),
  format("Resend", "re_", "word", 30, "provider", { max: 40, mixed: true }),
  format("RubyGems", "rubygems_", "hex", 48, "gitleaks"),
  format("Scalingo", "tk-us-", "url", 40, "gitleaks"),
  format("SendGrid", "SG.", "any", 50, "detect-secrets"),
  format("Sendinblue", "xkeysib- xsmtpsib-", "url", 64, "gitleaks"),
  format("Sentry", "sntrys_eyJ", "any", 60, "gitleaks"),
  format("Sentry", "sntryu_ sntrya_ sntryi_", "hex", 64, "gitleaks", { max: 64, mixed: true }),
  format("SettleMint", "sm_pat_ sm_aat_ sm_sat_", "alnum", 16, "gitleaks"),
  format("Shippo", "shippo_live_ shippo_test_", "hex", 40, "gitleaks"),
  format("Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", "hex", 32, "gitleaks"),
  format("Slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxc- xoxd- xapp-", "url", 12, "gitleaks", {
    mixed: true
  }),
  format("Slack", "xoxe.xoxp-1- xoxe.xoxb-1-", "url", 40, "gitleaks", { mixed: true }),
  format("Sonar", "sqp_ squ_ sqa_", "alnum", 40, "gitleaks"),
  format("Sourcegraph", "sgp_ sgp_local_ slk_", "hex", 40, "gitleaks", { max: 64, mixed: true }),
  format("Sourcegraph", "sgp_", "word", 57, "gitleaks", { max: 58, mixed: true }),
  format("Square", "sq0atp- sq0csp- sq0idp-", "url", 22, "gitleaks"),
  format("Square", "EAAA", "url", 22, "gitleaks", { max: 60, mixed: true }),
  format("Stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_", "alnum", 24, "detect-secrets"),
  format("Supabase", "sbp_ sb_secret_", "url", 20, "provider"),
  format("Tailscale", "tskey-", "url", 20, "secretlint", { mixed: true }),
  format(
    "Tailscale",
    "tskey-api- tskey-auth- tskey-client- tskey-scim- tskey-webhook- tskey-future-",
    "url",
    20,
    "secretlint"
  ),
  format("Together", "tgp_v1_", "url", 40, "provider"),
  format("Twilio", "SK AC", "hex", 32, "gitleaks", { max: 32 }),
  format("Typeform", "tfp_", "any", 40, "gitleaks"),
  format("Vercel", "vcp_ vci_ vca_ vcr_ vck_", "alnum", 20, "secretlint"),
  format("WakaTime", "waka_", "url", 36, "provider"),
  format("Weights & Biases", "wandb_v1_", "word", 40, "provider"),
  format("xAI", "xai-", "alnum", 60, "provider"),
  format("Yandex", "t1.", "any", 80, "gitleaks"),
  format("Yandex", "AQVN", "url", 35, "gitleaks", { mixed: true }),
  format("Yandex", "YC", "url", 38, "gitleaks", { max: 38, mixed: true })
]
