/** The single looks of `magi-code doctor`. None changes anything; none shows a key. */
import { randomUUID } from "node:crypto"
import { statSync } from "node:fs"
import { join } from "node:path"
import { Clock, Effect, Result } from "effect"
import { checkConfigured } from "../../agent/model/Configured.ts"
import { Children } from "../../platform/Children.ts"
import { ownUid } from "../../platform/Owner.ts"
import { loadSettings, type SettingsPlace } from "../../settings/loadSettings.ts"
import type { EffectiveSettings } from "../../settings/Settings.ts"
import { SCHEMA_VERSION } from "../../store/sqlite/Schema.ts"
import { type FileReport, verify } from "../../store/Verify.ts"
import { ALL_START_MS, startMcp } from "../../tools/mcp/startMcp.ts"

export interface Finding {
  readonly about: string
  readonly state: "ok" | "note" | "wrong"
  readonly text: string
  /** What to do about it. */
  readonly todo?: string
}

/** The oldest Node, as package.json has it. */
export const checkNode = (version: string): Finding => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > 22 || (major === 22 && minor >= 19)
    ? { about: "node", state: "ok", text: version }
    : { about: "node", state: "wrong", text: `${version} is too old`, todo: "install Node 22.19 or newer" }
}

/** Whose MC_HOME is, and who may read and write it. */
export const checkHome = (home: string): ReadonlyArray<Finding> => {
  const about = "MC_HOME"
  const found = statSync(home, { throwIfNoEntry: false })
  if (found === undefined) return [{ about, state: "note", text: `${home} does not exist yet; it is made when needed` }]
  const wrong = (text: string, todo: string): ReadonlyArray<Finding> => [{ about, state: "wrong", text, todo }]
  if (!found.isDirectory()) return wrong(`${home} is not a folder`, "name a folder in MC_HOME, or move the file away")
  const mode = (found.mode & 0o777).toString(8).padStart(4, "0")
  const uid = ownUid()
  if (uid !== undefined && found.uid !== uid) {
    return wrong(`${home} belongs to user ${found.uid}, not to you (${uid})`, "set MC_HOME to a folder of your own")
  }
  if ((found.mode & 0o022) !== 0) {
    return wrong(`${home} can be written by others (mode ${mode})`, `chmod go-w '${home}'`)
  }
  const readable: ReadonlyArray<Finding> =
    (found.mode & 0o055) === 0
      ? []
      : [{ about, state: "note", text: "others may look into it", todo: `chmod go-rwx '${home}'` }]
  return [{ about, state: "ok", text: `${home} (owner ${found.uid}, mode ${mode})` }, ...readable]
}

export const checkSettings = (
  place: SettingsPlace
): Effect.Effect<{ readonly findings: ReadonlyArray<Finding>; readonly settings: EffectiveSettings | undefined }> =>
  Effect.map(Effect.result(loadSettings(place)), (read) => {
    if (Result.isSuccess(read)) {
      const { model } = read.success
      const text = `valid; model ${model.provider}/${model.model}`
      return { findings: [{ about: "settings", state: "ok", text }], settings: read.success }
    }
    const { code, message, path } = read.failure
    const todo = code === "configuration_untrusted" ? "look at the file, then run magi-code trust" : "correct the file"
    const text = path === "" ? message : `${message} (at ${path})`
    return { findings: [{ about: "settings", state: "wrong", text, todo }], settings: undefined }
  })

/** Of the chosen provider a missing key is wrong; of another it is only told. */
export const checkProviders = (settings: EffectiveSettings): ReadonlyArray<Finding> =>
  [...settings.providers].map(([name, provider]): Finding => {
    const about = "key"
    const lacking = checkConfigured(provider)
    const chosen = name === settings.model.provider
    if (lacking !== undefined) {
      return {
        about,
        state: chosen ? "wrong" : "note",
        text: `provider ${name}${chosen ? " (chosen)" : ""}: ${lacking}`
      }
    }
    const has = provider.api_key_env === null ? "needs none" : `${provider.api_key_env} is set`
    return { about, state: "ok", text: `provider ${name}${chosen ? " (chosen)" : ""}: ${has}` }
  })

/** Each server is started as at initialize, within the same bounds (its own, and that of all), and ended. */
export const checkServers = (settings: EffectiveSettings): Effect.Effect<ReadonlyArray<Finding>> => {
  const about = "mcp"
  const check = (
    server: EffectiveSettings["mcp"][number],
    until: number
  ): Effect.Effect<ReadonlyArray<Finding>, never, Children> =>
    Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) =>
        startMcp(
          { mcp: [{ ...server, required: true }] },
          { allStartMs: Math.max(0, until - now), notice: () => Effect.void }
        )
      ),
      Effect.map(
        ({ notices, tools }): ReadonlyArray<Finding> => [
          { about, state: "ok", text: `${server.name}: starts, ${tools.length} tools` },
          ...notices.map((text): Finding => ({ about, state: "note", text }))
        ]
      ),
      Effect.catchTag("McpFailed", ({ message }) =>
        Effect.succeed<ReadonlyArray<Finding>>([
          {
            about,
            state: server.required ? "wrong" : "note",
            text: message,
            todo: `run its command by hand, or correct /mcp/servers/${server.name} in the settings`
          }
        ])
      ),
      Effect.scoped
    )
  if (settings.mcp.length === 0) return Effect.succeed([{ about, state: "ok", text: "no servers in the settings" }])
  return Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.forEach(settings.mcp, (server) => check(server, now + ALL_START_MS), { concurrency: 4 })
  ).pipe(
    Effect.map((found) => found.flat()),
    Effect.provide(Children.layer({ mark: randomUUID(), home: settings.home, secretEnv: settings.secretEnv }))
  )
}

const ofFile = ({ openCalls, path, problems, version }: FileReport): ReadonlyArray<Finding> => {
  const about = "store"
  const bad = problems.map(
    (text): Finding => ({
      about,
      state: "wrong",
      text: text.includes(path) ? text : `${path}: ${text}`,
      todo: "restore the file from a backup, or delete the session with magi-code sessions delete"
    })
  )
  const open: ReadonlyArray<Finding> =
    openCalls === 0
      ? []
      : [{ about, state: "note", text: `${path}: ${openCalls} calls were cut off; the next opening closes them` }]
  const old: ReadonlyArray<Finding> =
    version !== null && version < SCHEMA_VERSION
      ? [{ about, state: "note", text: `${path}: version ${version}; the next opening brings it to ${SCHEMA_VERSION}` }]
      : []
  return [...bad, ...old, ...open]
}

/** Every stored session of every workspace: its version, and whether it is sound. */
export const checkStore = (home: string): Effect.Effect<ReadonlyArray<Finding>> => {
  const about = "store"
  const folder = join(home, "sessions")
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) {
    return Effect.succeed([{ about, state: "ok", text: "no sessions are stored yet" }])
  }
  return Effect.map(Effect.result(verify(home)), (read): ReadonlyArray<Finding> => {
    if (Result.isFailure(read)) {
      return [{ about, state: "wrong", text: read.failure.message, todo: "see docs/operations.md" }]
    }
    const files = read.success
    const bad = files.filter(({ problems }) => problems.length > 0).length
    const busy = files.filter((file) => file.busy).length
    const counted = `${files.length} sessions, version ${SCHEMA_VERSION}${busy === 0 ? "" : `, ${busy} in use (not looked at)`}`
    const summary: Finding = {
      about,
      state: bad === 0 ? "ok" : "note",
      text: `${counted}, ${files.length - bad - busy} sound`
    }
    return [summary, ...files.flatMap(ofFile)]
  })
}
