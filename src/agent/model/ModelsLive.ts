/** The models of the settings. A provider's package is loaded when its first model is asked for. product section 2. */
import { createHash } from "node:crypto"
import { Effect, Layer } from "effect"
import type { LanguageModel } from "effect/ai"
import { stringify } from "../../protocol/CompactJson.ts"
import { type ModelSettings, type ProviderSettings, Settings } from "../../settings/Settings.ts"
import { type ModelEntry, type ModelFailure, type ModelHandle, Models } from "./Models.ts"
import * as OfflineModel from "./OfflineModel.ts"

/** The name of the embedded provider and of its one model. */
const OFFLINE = "offline"

/** What is assumed of a model of which the settings say nothing more (product section 2). */
const plainModel = (id: string): ModelSettings => ({
  id,
  context_tokens: Number.MAX_SAFE_INTEGER,
  max_output_tokens: 8192
})

const offlineProvider: ProviderSettings = {
  kind: "offline",
  base_url: null,
  api_key_env: null,
  api_key: null,
  insecure: false,
  models: [],
  script: null
}

interface Offered extends ModelEntry {
  readonly settings: ModelSettings
  readonly from: ProviderSettings
}

/** Every model in the order of the settings. The embedded one is always there. */
const offered = (providers: ReadonlyMap<string, ProviderSettings>): ReadonlyArray<Offered> => {
  const all = new Map(providers)
  if (!all.has(OFFLINE)) all.set(OFFLINE, offlineProvider)
  return [...all].flatMap(([provider, from]) => {
    const models = from.models.length === 0 && from.kind === "offline" ? [plainModel(OFFLINE)] : from.models
    return models.map((settings) => ({ provider, model: settings.id, settings, from }))
  })
}

const load = ({ from, provider, settings }: Offered): Effect.Effect<LanguageModel.LanguageModel, ModelFailure> => {
  const options = { provider: from, model: settings, name: provider }
  switch (from.kind) {
    case "offline":
      return OfflineModel.make({ script: from.script })
    case "openai":
      return Effect.flatMap(
        Effect.promise(() => import("./OpenAi.ts")),
        ({ make }) => make(options)
      )
    case "anthropic":
      return Effect.flatMap(
        Effect.promise(() => import("./Anthropic.ts")),
        ({ make }) => make(options)
      )
  }
}

export const layer: Layer.Layer<Models, never, Settings> = Layer.effect(
  Models,
  Effect.gen(function* () {
    const { model, providers } = yield* Settings
    const all = offered(providers)
    const catalog = all.map((one) => ({ provider: one.provider, model: one.model }))
    const loaded = new Map<Offered, ModelHandle>()

    return Models.of({
      catalog,
      revision: createHash("sha256").update(stringify(catalog)).digest("hex").slice(0, 32),
      initial: model,
      get: (entry) =>
        Effect.gen(function* () {
          const found = all.find((one) => one.provider === entry.provider && one.model === entry.model)
          if (!found) return undefined
          const known = loaded.get(found)
          if (known) return known
          const handle: ModelHandle = {
            provider: found.provider,
            model: found.model,
            contextTokens: found.settings.context_tokens,
            maxOutputTokens: found.settings.max_output_tokens,
            languageModel: yield* load(found)
          }
          loaded.set(found, handle)
          return handle
        })
    })
  })
)
