/**
 * The record of trusted workspace settings: `$MC_HOME/trust.json`. What is trusted is one file's exact bytes at one real
 * path; any change of it needs trust again.
 *
 * product section 1 (`magi-code trust`) and section 2 (trust).
 */
import { randomUUID } from "node:crypto"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { join as joinPath } from "node:path"
import { Effect, Result, Schema, SchemaIssue } from "effect"
import { join } from "../protocol/JsonPointer.ts"
import { type ConfigurationError, type FileName, invalid } from "./ConfigurationError.ts"
import { readSettingsFile } from "./SettingsFile.ts"

const TRUST: FileName = "$MC_HOME/trust.json"

const Record = Schema.Struct({
  version: Schema.Literal(1),
  workspaces: Schema.Record(Schema.String, Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)))
})

const decode = Schema.decodeUnknownResult(Record, { onExcessProperty: "error", errors: "first" })

/** SHA-256 of each trusted workspace's settings file, by the workspace's real path. */
export type TrustRecord = ReadonlyMap<string, string>

export const trustPath = (home: string): string => joinPath(home, "trust.json")

/** The record; empty when there is none. A damaged one is an error: it must not silently trust less, or more, than it says. */
export const readTrust = (home: string): Effect.Effect<TrustRecord, ConfigurationError> =>
  Effect.gen(function* () {
    const raw = yield* readSettingsFile(trustPath(home), TRUST)
    if (raw === undefined) return new Map()
    const decoded = decode(raw.json)
    if (Result.isSuccess(decoded)) return new Map(Object.entries(decoded.success.workspaces))
    const [issue] = SchemaIssue.makeFormatterStandardSchemaV1()(decoded.failure.issue).issues
    const path = join("", ...(issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)))
    return yield* invalid(TRUST, path, "is not a record of trust; repair it, or delete it and trust anew")
  })

/** Trusts exactly these bytes of the workspace's settings file from now on. */
export const recordTrust = (options: {
  readonly home: string
  /** The real path of the workspace. */
  readonly workspace: string
  /** Of the bytes that were shown to the person who trusts them. */
  readonly sha256: string
}): Effect.Effect<void, ConfigurationError> =>
  Effect.flatMap(readTrust(options.home), (record) =>
    writeTrust(options.home, new Map([...record, [options.workspace, options.sha256]]))
  )

/** Takes the trust of a workspace away. `false`: there was none. */
export const revokeTrust = (options: {
  readonly home: string
  readonly workspace: string
}): Effect.Effect<boolean, ConfigurationError> =>
  Effect.gen(function* () {
    const record = new Map(yield* readTrust(options.home))
    if (!record.delete(options.workspace)) return false
    yield* writeTrust(options.home, record)
    return true
  })

/** Replaced in one step, so that a reader sees the old record or the new one; readable by its owner alone. */
const writeTrust = (home: string, record: TrustRecord): Effect.Effect<void, ConfigurationError> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(home, { recursive: true, mode: 0o700 })
      const temporary = `${trustPath(home)}.${randomUUID()}`
      const file = await open(temporary, "wx", 0o600)
      try {
        await file.writeFile(`${JSON.stringify({ version: 1, workspaces: Object.fromEntries(record) }, null, 2)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      try {
        await rename(temporary, trustPath(home))
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
    catch: () => invalid(TRUST, "", "cannot be written: make $MC_HOME writable for you")
  })
