/** What the merged settings must hold beyond the form of each file. product section 2; base-protocol section 4 (catalogue). */
import { isIPv4 } from "node:net"
import { Result } from "effect"
import { byteLength } from "../protocol/CompactJson.ts"
import { join } from "../protocol/JsonPointer.ts"
import { CATALOG_BYTES, CATALOG_MODELS } from "../protocol/Limits.ts"
import type { ConfigurationError } from "./ConfigurationError.ts"
import {
  DEFAULT_MAX_OUTPUT_TOKENS,
  type MergedProvider,
  type MergedServer,
  type MergedSettings,
  OFFLINE,
  OFFLINE_CONTEXT_TOKENS
} from "./Merge.ts"
import type { EffectiveSettings, McpServerSettings, ProviderSettings } from "./Settings.ts"

export type Checked = Omit<EffectiveSettings, "guardedPaths">

/** Makes the error of a place; the file is the one that was read last. */
export type Fail = (path: string, message: string) => ConfigurationError

type Check<A> = Result.Result<A, ConfigurationError>

/** The settings, complete: every provider has its kind, every server its command, the selected model exists. */
export const checkSettings = (settings: MergedSettings, fail: Fail): Check<Checked> =>
  Result.gen(function* () {
    const providers = new Map<string, ProviderSettings>()
    for (const [name, provider] of settings.providers) providers.set(name, yield* checkProvider(name, provider, fail))
    yield* addOffline(providers, settings.model.provider, fail)
    yield* checkModel(settings.model, providers, fail)
    const mcp: Array<McpServerSettings> = []
    for (const server of settings.mcp) mcp.push(yield* checkServer(server, fail))
    return { ...settings, providers, mcp }
  })

const checkProvider = (name: string, provider: MergedProvider, fail: Fail): Check<ProviderSettings> => {
  const at = (...segments: ReadonlyArray<string | number>): string => join("/providers", name, ...segments)
  const wrong = (path: string, message: string): Check<never> => Result.fail(fail(path, `${path} ${message}`))
  const { kind } = provider
  if (kind === undefined) return wrong(at("kind"), "is missing")
  if (kind === "offline") {
    if (provider.base_url !== null) return wrong(at("base_url"), "is not for the kind offline")
    if (provider.api_key_env !== null) return wrong(at("api_key_env"), "is not for the kind offline")
  } else if (provider.script !== null) return wrong(at("script"), "is only for the kind offline")
  const seen = new Set<string>()
  for (const [index, { id }] of provider.models.entries()) {
    if (seen.has(id)) return wrong(at("models", index), "names a model a second time")
    seen.add(id)
  }
  if (provider.base_url !== null) {
    const problem = addressProblem(provider.base_url, provider.api_key_env !== null && !provider.insecure)
    if (problem !== undefined) return wrong(at("base_url"), problem)
  }
  return Result.succeed({ ...provider, kind })
}

const addressProblem = (text: string, keyNeedsCover: boolean): string | undefined => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return "must be an http or https address"
  if (url.username !== "" || url.password !== "")
    return "must not hold credentials: keys come from the environment only"
  if (keyNeedsCover && url.protocol === "http:" && !isLoopback(url.hostname)) {
    return 'would send the key over http to another host: use https, or set "insecure": true'
  }
  return undefined
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))

/** The embedded default, where the files have no provider of its name. */
const offlineProvider: ProviderSettings = {
  kind: "offline",
  base_url: null,
  api_key_env: null,
  api_key: null,
  insecure: false,
  models: [{ id: OFFLINE, context_tokens: OFFLINE_CONTEXT_TOKENS, max_output_tokens: DEFAULT_MAX_OUTPUT_TOKENS }],
  script: null
}

/** It comes last, and only if the catalogue has room for it or it is the selected one. */
const addOffline = (providers: Map<string, ProviderSettings>, selected: string, fail: Fail): Check<void> => {
  const own = catalogProblem(providers)
  if (own !== undefined) return Result.fail(fail("/providers", own))
  if (providers.has(OFFLINE)) return Result.void
  providers.set(OFFLINE, offlineProvider)
  const problem = catalogProblem(providers)
  if (problem === undefined) return Result.void
  if (selected === OFFLINE) return Result.fail(fail("/providers", problem))
  providers.delete(OFFLINE)
  return Result.void
}

const catalogProblem = (providers: ReadonlyMap<string, ProviderSettings>): string | undefined => {
  const entries = [...providers].flatMap(([provider, { models }]) => models.map(({ id }) => ({ provider, model: id })))
  if (entries.length > CATALOG_MODELS) {
    return `/providers offers ${entries.length} models; at most ${CATALOG_MODELS} are possible`
  }
  return byteLength(entries) > CATALOG_BYTES
    ? `/providers offers a catalogue of more than ${CATALOG_BYTES} bytes`
    : undefined
}

const checkModel = (
  { model, provider }: EffectiveSettings["model"],
  providers: ReadonlyMap<string, ProviderSettings>,
  fail: Fail
): Check<void> => {
  const offered = providers.get(provider)?.models
  if (offered === undefined)
    return Result.fail(fail("/model/provider", "/model/provider names no provider of the settings"))
  return offered.some(({ id }) => id === model)
    ? Result.void
    : Result.fail(fail("/model/model", "/model/model names no model that its provider offers"))
}

const checkServer = (server: MergedServer, fail: Fail): Check<McpServerSettings> => {
  const { command } = server
  const path = join("/mcp/servers", server.name, "command")
  return command === undefined ? Result.fail(fail(path, `${path} is missing`)) : Result.succeed({ ...server, command })
}
