/** product section 1: `sessions`, and `trace` of a stored session. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assistant, freshHome, outcome, started, user, WORKSPACE, withSession } from "../store/support.ts"
import { magi } from "./support.ts"

describe("sessions", () => {
  it("without any, says so on stderr", () => {
    const { status, stderr, stdout } = magi(["sessions"])
    assert.deepStrictEqual([status, stdout], [0, ""])
    assert.include(stderr, "no sessions")
  })

  it.effect("of another workspace are not shown, not exported and not deleted", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      yield* withSession(home, "s1", (handle) =>
        handle.append([user("hello"), assistant("", ["k1"]), started("k1"), outcome("k1")])
      )
      for (const args of [
        ["show", "s1"],
        ["export", "s1"],
        ["delete", "s1", "--yes"]
      ]) {
        const { status, stderr, stdout } = magi(["sessions", ...args], { home })
        assert.strictEqual(status, 1, WORKSPACE)
        assert.strictEqual(stdout, "")
        assert.match(stderr, /^magi-code sessions: [^\n]*workspace[^\n]*\n$/)
      }
      assert.isTrue(existsSync(join(home, "sessions", "s1.db")))
    })
  )
})
