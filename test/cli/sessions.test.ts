/** product section 1: `sessions`, and `trace` of a stored session. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshHome, turn, withStore } from "../store/support.ts"
import { folder, magi } from "./support.ts"

/** A home with one session of a workspace. */
const stored = (sessionId: string, workspace: string) =>
  Effect.gen(function* () {
    const home = yield* freshHome
    yield* withStore(home, (store) =>
      Effect.gen(function* () {
        const handle = yield* store.create({ sessionId, workspace })
        yield* handle.append(turn("k1"))
        yield* handle.setTitle("a title\u001b[31m")
      })
    )
    return home
  })

describe("sessions", () => {
  it("without any, says so on stderr", () => {
    const { status, stderr, stdout } = magi(["sessions"])
    assert.deepStrictEqual([status, stdout], [0, ""])
    assert.include(stderr, "no sessions")
  })

  it.effect(
    "are listed, shown, exported and traced; deleting needs --yes without a terminal",
    () =>
      Effect.gen(function* () {
        const cwd = folder()
        const home = yield* stored("s1", cwd)
        const run = (...args: ReadonlyArray<string>) => magi(args, { cwd, home })
        const list = run("sessions")
        assert.match(list.stdout, /^ID .*\ns1 .* a title\\u001b\[31m\n$/)
        assert.include(run("sessions", "show", "s1").stdout, "1 success")
        const exported: { readonly format?: unknown } = JSON.parse(run("sessions", "export", "s1").stdout)
        assert.strictEqual(exported.format, "magi-code.session")
        assert.include(run("trace", "s1").stdout, "client__a")

        const asked = magi(["sessions", "delete", "s1"], { cwd, home, input: "y\n" })
        assert.deepStrictEqual([asked.status, asked.stdout], [1, ""])
        assert.match(asked.stderr, /^magi-code sessions: [^\n]*--yes[^\n]*\n$/)
        assert.isTrue(existsSync(join(home, "sessions", "s1.db")))

        assert.match(
          run("sessions", "show", "gone").stderr,
          /^magi-code sessions: no session of this id is stored; magi-code sessions lists [^\n]*\n$/
        )
        assert.match(run("trace", "gone").stderr, /^magi-code trace: there is no file gone, and no session [^\n]*\n$/)

        const gone = run("sessions", "delete", "gone")
        assert.deepStrictEqual([gone.status, gone.stdout], [1, ""])
        assert.match(gone.stderr, /^magi-code sessions: gone was not deleted: [^\n]*no session[^\n]*\n$/)

        const some = run("sessions", "delete", "gone", "s1", "--yes")
        assert.deepStrictEqual([some.status, some.stdout], [1, "deleted s1\n"])
        assert.include(some.stderr, "gone was not deleted")
        assert.isFalse(existsSync(join(home, "sessions", "s1.db")))
      }),
    60_000
  )

  it.effect(
    "of another workspace are not shown, not exported and not deleted",
    () =>
      Effect.gen(function* () {
        const home = yield* stored("s1", folder())
        for (const args of [
          ["show", "s1"],
          ["export", "s1"],
          ["delete", "s1", "--yes"]
        ]) {
          const { status, stderr, stdout } = magi(["sessions", ...args], { home })
          assert.deepStrictEqual([status, stdout], [1, ""], args.join(" "))
          assert.match(stderr, /^magi-code sessions: [^\n]*workspace[^\n]*\n$/)
        }
        assert.isTrue(existsSync(join(home, "sessions", "s1.db")))
      }),
    60_000
  )
})
