/**
 * A process that holds sessions of a real store and does what it is told, one JSON line a command, one a result. What it
 * reports as done was acknowledged by the store, so a test may kill it at any moment and knows what must be there.
 */
import { createInterface } from "node:readline"
import { Cause, Effect, Exit, Scope } from "effect"
import type { DelegatedPermissions } from "../../../src/store/DelegatedPermissions.ts"
import type { SessionRecord } from "../../../src/store/SessionRecord.ts"
import { type SessionHandle, SessionStore } from "../../../src/store/SessionStore.ts"
import { SqliteSessionStore } from "../../../src/store/SqliteSessionStore.ts"

export type Command =
  | { readonly op: "create"; readonly id: string; readonly delegated?: DelegatedPermissions }
  | { readonly op: "open"; readonly id: string; readonly workspace?: string }
  | { readonly op: "append"; readonly id: string; readonly records: ReadonlyArray<SessionRecord> }
  | { readonly op: "title"; readonly id: string; readonly title: string }
  | { readonly op: "records" | "close" | "revision"; readonly id: string }
  | { readonly op: "list" }

const home = process.argv[2] ?? ""
const uid = Number(process.argv[3] ?? "0")
// Before the store's worker starts: users belong to the whole process.
if (uid > 0) {
  process.setgid?.(uid)
  process.setuid?.(uid)
}

const sessions = new Map<string, { readonly handle: SessionHandle; readonly scope: Scope.Closeable }>()

const hold = <E>(id: string, make: Effect.Effect<SessionHandle, E, Scope.Scope>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.provide(make, scope))
    if (Exit.isFailure(exit)) {
      yield* Scope.close(scope, Exit.void)
      return yield* exit
    }
    sessions.set(id, { handle: exit.value, scope })
    return yield* exit.value.revision
  })

const run = (command: Command) =>
  Effect.gen(function* () {
    const store = yield* SessionStore
    if (command.op === "list") return yield* store.list({ workspace: "/w", revision: null, cursor: null, limit: 100 })
    if (command.op === "create") {
      const delegated = command.delegated === undefined ? {} : { delegated: command.delegated }
      return yield* hold(command.id, store.create({ sessionId: command.id, workspace: "/w", ...delegated }))
    }
    if (command.op === "open") {
      return yield* hold(command.id, store.open({ sessionId: command.id, workspace: command.workspace ?? "/w" }))
    }
    const session = sessions.get(command.id)
    if (session === undefined) return yield* Effect.die(new Error("no such session here"))
    switch (command.op) {
      case "append":
        return yield* session.handle.append(command.records)
      case "title":
        return yield* session.handle.setTitle(command.title)
      case "records":
        return yield* session.handle.records
      case "revision":
        return yield* session.handle.revision
      case "close":
        sessions.delete(command.id)
        return yield* Scope.close(session.scope, Exit.void)
    }
  })

const reply = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const main = Effect.gen(function* () {
  for (;;) {
    const next = yield* Effect.promise(() => lines.next())
    if (next.done === true) return
    const command: Command = JSON.parse(next.value)
    const exit = yield* Effect.exit(run(command))
    if (Exit.isSuccess(exit)) reply({ ok: true, value: exit.value ?? null })
    else reply({ ok: false, error: Cause.squash(exit.cause), text: String(Cause.squash(exit.cause)) })
  }
})

await Effect.runPromise(main.pipe(Effect.provide(SqliteSessionStore.layer({ home }))))
