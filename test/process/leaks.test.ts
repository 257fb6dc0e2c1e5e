/**
 * Nothing is left by a call, on either side: the small run of bench/memory.ts, in a process of its own so that collections
 * can be forced. docs/performance.md tells the figures of the whole run and what of them is remembered on purpose.
 */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"

const bench = fileURLToPath(new URL("../../bench/memory.ts", import.meta.url))

/**
 * Bytes a call, compiled code left out. A run this short is mostly warm-up, and gives about 40; what it must tell apart is a
 * fiber, a timer or a result kept for each call, which are several hundred and more.
 */
const BOUND = 200

describe("what a call leaves behind", { timeout: 60_000 }, () => {
  it("is no heap to speak of, no pending call, no timer, pipe, listener or process, in one child and in many", async () => {
    const args = ["--expose-gc", bench, "--brief", "--calls", "980", "--children", "1"]
    const { stdout } = await promisify(execFile)(process.execPath, args, { encoding: "utf8" })
    const { many_children, one_child } = JSON.parse(stdout)
    // bench/memory.ts itself fails where a run did not complete or `pending_client_calls` is not 0 after it.
    assert.isAtLeast(one_child.child.calls, 980)
    for (const side of [one_child.parent, one_child.child]) {
      assert.isBelow(side.without_code, BOUND)
      assert.deepStrictEqual(side.left, [])
    }
    assert.deepStrictEqual(many_children.parent.left, [])
    assert.deepInclude(many_children, { listeners_left: 0, processes_left: 0 })
  })
})
