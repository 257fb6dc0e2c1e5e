/** A home and a workspace on disk, and what `loadSettings` makes of them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Result } from "effect"
import { loadSettings } from "../../src/settings/loadSettings.ts"

export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "mc-settings-")))
  readonly home = join(this.root, "home")
  readonly workspace = join(this.root, "work")
  readonly env: { [name: string]: string | undefined } = { PATH: process.env["PATH"] }

  constructor() {
    mkdirSync(this.workspace)
  }

  get homeFile(): string {
    return join(this.home, "settings.json")
  }

  get workspaceFile(): string {
    return join(this.workspace, ".magi-code", "settings.json")
  }

  /** Writes the home file: a value, or text as it is. */
  atHome(value: unknown): this {
    mkdirSync(this.home, { recursive: true })
    writeFileSync(this.homeFile, typeof value === "string" ? value : JSON.stringify(value))
    return this
  }

  atWorkspace(value: unknown): this {
    mkdirSync(join(this.workspace, ".magi-code"), { recursive: true })
    writeFileSync(this.workspaceFile, typeof value === "string" ? value : JSON.stringify(value))
    return this
  }

  get options() {
    return { home: this.home, workspace: this.workspace, env: this.env }
  }

  /** The effective settings. */
  get load() {
    return loadSettings(this.options)
  }

  /** What is wrong: code and place; `undefined` when nothing is. */
  get fault() {
    return Effect.map(Effect.result(this.load), (result) =>
      Result.isFailure(result) ? ([result.failure.code, result.failure.path] as const) : undefined
    )
  }
}

/** A fresh place, gone at the end of the scope. */
export const place = Effect.acquireRelease(
  Effect.sync(() => new Place()),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

/** `body` in a fresh place. */
export const inPlace = <A, E>(body: (place: Place) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.scoped(Effect.flatMap(place, body))
