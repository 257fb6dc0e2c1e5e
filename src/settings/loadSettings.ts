/**
 * Reads, checks, merges. Nothing is read before this is run, which is after `initialize` is admitted.
 *
 * product section 2; base-protocol section 3 (preflight before any effect).
 */
import { realpath, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { Effect, Layer, Result } from "effect"
import { ownUid } from "../platform/Owner.ts"
import { checkSettings } from "./Check.ts"
import { type ConfigurationError, type FileName, invalid, untrusted } from "./ConfigurationError.ts"
import { decodeSettings } from "./decodeSettings.ts"
import { guardedPaths } from "./GuardedPaths.ts"
import { mergeSettings, type Place, type Source } from "./Merge.ts"
import { type EffectiveSettings, Settings } from "./Settings.ts"
import { readSettingsFile, WRITABLE_BY_OTHERS } from "./SettingsFile.ts"
import type { SettingsFile } from "./SettingsSchema.ts"
import { type NeedsTrust, needsTrust } from "./Tighten.ts"
import { readTrust } from "./Trust.ts"

const HOME: FileName = "$MC_HOME/settings.json"
const WORKSPACE: FileName = ".magi-code/settings.json"

export interface SettingsPlace {
  /** `$MC_HOME`; need not exist. */
  readonly home: string
  readonly workspace: string
  /** The environment that keys are taken from. */
  readonly env: Place["env"]
}

/** The settings in force, or the first thing that is wrong with them. */
export const loadSettings = (place: SettingsPlace): Effect.Effect<EffectiveSettings, ConfigurationError> =>
  Effect.gen(function* () {
    const { env, files, own } = yield* readFiles(place)
    if (own !== undefined && own.needs[0] !== undefined && !own.trusted) {
      return yield* untrusted(own.needs[0].path, own.needs[0].message)
    }
    const sources = own === undefined ? files.home : [...files.home, own.source]
    const merged = mergeSettings(sources, { ...files.place, env })
    const checked = checkSettings(merged, (path, message) =>
      invalid(own === undefined ? HOME : WORKSPACE, path, message)
    )
    if (Result.isFailure(checked)) {
      // The same fault without the workspace's file is the home file's.
      const alone = checkSettings(mergeSettings(files.home, files.place), (path, message) =>
        invalid(HOME, path, message)
      )
      const isHomes = Result.isFailure(alone) && alone.failure.path === checked.failure.path
      return yield* isHomes ? alone.failure : checked.failure
    }
    return { ...checked.success, guardedPaths: yield* guardedPaths(checked.success, env) }
  })

/** `Settings` as a layer, for programs that need no answer to a client about what is wrong. */
export const settingsLayer = (place: SettingsPlace): Layer.Layer<Settings, ConfigurationError> =>
  Layer.effect(Settings, loadSettings(place))

export interface TrustStatus {
  /** The real path of the workspace. */
  readonly workspace: string
  /** The hash of the workspace's settings file; `undefined`: it has none, or it is the home file itself. */
  readonly sha256: string | undefined
  readonly trusted: boolean
  /** What in it needs trust. Empty: it is in force as it is. */
  readonly needs: ReadonlyArray<NeedsTrust>
}

/** What `magi-code trust` shows and asks about. */
export const trustStatus = (place: SettingsPlace): Effect.Effect<TrustStatus, ConfigurationError> =>
  Effect.map(readFiles(place), ({ files, own }) => ({
    workspace: files.place.workspace,
    sha256: own?.sha256,
    trusted: own?.trusted ?? false,
    needs: own?.needs ?? []
  }))

const readFiles = Effect.fnUntraced(function* (place: SettingsPlace) {
  const home = resolve(place.home)
  const workspace = yield* realWorkspace(place.workspace)
  yield* checkHome(home)
  const homePath = join(home, "settings.json")
  const workspacePath = join(workspace, ".magi-code", "settings.json")
  const homeFile = yield* readDecoded(homePath, HOME)
  const files = {
    place: { home, workspace, env: place.env },
    home: homeFile === undefined ? [] : [{ folder: home, file: homeFile.file } satisfies Source]
  }
  // Started in the folder that holds MC_HOME, the two files are one.
  const same = yield* isSameFile(homePath, workspacePath)
  const found = same ? undefined : yield* readDecoded(workspacePath, WORKSPACE)
  if (found === undefined) return { env: place.env, files, own: undefined }
  const needs = needsTrust(found.file, {
    effective: mergeSettings(files.home, files.place),
    providers: new Set(Object.keys(homeFile?.file.providers ?? {}))
  })
  const trusted = needs.length > 0 && (yield* readTrust(home)).get(workspace) === found.sha256
  const source: Source = { folder: join(workspace, ".magi-code"), file: found.file }
  return { env: place.env, files, own: { source, needs, trusted, sha256: found.sha256 } }
})

const readDecoded = (
  path: string,
  name: FileName
): Effect.Effect<{ readonly file: SettingsFile; readonly sha256: string } | undefined, ConfigurationError> =>
  Effect.gen(function* () {
    const raw = yield* readSettingsFile(path, name)
    if (raw === undefined) return undefined
    const decoded = decodeSettings(raw.json, name)
    return { file: yield* Effect.fromResult(decoded), sha256: raw.sha256 }
  })

const realWorkspace = (workspace: string): Effect.Effect<string, ConfigurationError> =>
  Effect.tryPromise({
    try: () => realpath(workspace),
    catch: () => invalid(WORKSPACE, "", "the workspace is not there or may not be entered")
  })

const isSameFile = (one: string, other: string): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)))
    return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
  })

/** Settings that someone else may write are someone else's settings: they name commands that run. */
const checkHome = (home: string): Effect.Effect<void, ConfigurationError> =>
  Effect.gen(function* () {
    const uid = ownUid()
    const found = yield* Effect.promise(() => stat(home).catch(() => undefined))
    if (found === undefined || uid === undefined) return
    if (!found.isDirectory()) return yield* invalid(HOME, "", "$MC_HOME is not a folder")
    if (found.uid !== uid) return yield* invalid(HOME, "", "$MC_HOME belongs to another user; use one of your own")
    if ((found.mode & WRITABLE_BY_OTHERS) !== 0) {
      return yield* invalid(HOME, "", "$MC_HOME can be written by other users; run chmod go-w on it")
    }
  })
