/**
 * Settings that a program gives as a value, for an agent embedded in it: the format of `$MC_HOME/settings.json`, checked as
 * strictly, with no file read for it. product section 2.
 */
import { realpath } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect, Result } from "effect"
import type { Json } from "../protocol/Json.ts"
import { checkSettings } from "./Check.ts"
import { type ConfigurationError, type FileName, invalid } from "./ConfigurationError.ts"
import { decodeSettings } from "./decodeSettings.ts"
import { guardedPaths } from "./GuardedPaths.ts"
import type { SettingsPlace } from "./loadSettings.ts"
import { mergeSettings } from "./Merge.ts"
import type { EffectiveSettings } from "./Settings.ts"

const GIVEN: FileName = "$MC_HOME/settings.json"

/**
 * The settings in force when `given` is all there is: defaults filled in, relative paths resolved against `home`, keys taken
 * from `env`. The workspace's own file and `trust.json` are not looked at.
 */
export const givenSettings = (
  given: Json,
  place: SettingsPlace
): Effect.Effect<EffectiveSettings, ConfigurationError> =>
  Effect.gen(function* () {
    const home = resolve(place.home)
    const workspace = yield* Effect.tryPromise({
      try: () => realpath(place.workspace),
      catch: () => invalid(GIVEN, "", "the workspace is not there or may not be entered")
    })
    const file = yield* Effect.fromResult(decodeSettings(given, GIVEN))
    const merged = mergeSettings([{ folder: home, file }], { home, workspace, env: place.env })
    const checked = checkSettings(merged, (path, message) => invalid(GIVEN, path, message))
    if (Result.isFailure(checked)) return yield* checked.failure
    return { ...checked.success, guardedPaths: yield* guardedPaths(checked.success, place.env) }
  })
