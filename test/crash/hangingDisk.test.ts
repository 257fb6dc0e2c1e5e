/**
 * The backend ends in its two seconds although the disk does not answer: a thread that waits in the kernel cannot be
 * ended, and the process must not wait for it. base-protocol section 3, Closing ("At 2 s exit regardless").
 */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Built, type Ended } from "../process/support/Built.ts"
import { until } from "../process/support/processes.ts"
import { temporary } from "../store/support.ts"
import { notesIn } from "./points.ts"
import { checkFiles } from "./support/checks.ts"
import { initialize } from "./support/life.ts"
import { GO_ON, makeModel } from "./support/model.ts"
import { withHangingDisk } from "./support/setting.ts"
import { openShown, withBackend } from "./support/shown.ts"

/** The two seconds, and what a process needs to end. */
const BOUND_MS = 2000 + 300
/** Later than any end that is only late: it does not come. */
const NEVER_MS = 6000

const setting = Effect.all({ binary: withHangingDisk, model: makeModel, root: temporary })

const hangs = (backend: Built): boolean => notesIn(backend.stderr).some((note) => "hangs" in note)

/** A turn, and the end of the input at some moment of it, with a disk that hangs; how the backend ended. */
const closeHanging = async (
  { binary, model, root }: Effect.Success<typeof setting>,
  place: "commit" | "close",
  moment: (backend: Built) => Promise<unknown>
) => {
  execFileSync("mkfifo", [join(root, "disk")])
  writeFileSync(join(root, "hangs"), place)
  const backend = new Built({ root, settings: model.settings, entry: [binary, "serve", "--stdio"] })
  try {
    await initialize(backend)
    await backend.create()
    backend.send("turn.start", { session_id: backend.session, prompt: GO_ON })
    await moment(backend)
    backend.child.stdin.end()
    const closing = performance.now()
    let ended: Ended | undefined
    void backend.ended.then((end) => (ended = end))
    await until("the end of the backend", () => ended !== undefined, NEVER_MS)
    assert.isTrue(hangs(backend))
    assert.deepInclude(ended, { code: 4, signal: null })
    assert.isBelow((ended?.t ?? 0) - closing, BOUND_MS)
    return backend
  } finally {
    backend.child.kill("SIGKILL")
    await backend.ended
  }
}

/** The texts of the session's history, as the next backend shows it. */
const textsAfter = (stage: Effect.Success<typeof setting>, { session }: Built) =>
  Effect.gen(function* () {
    const shown = yield* Effect.promise(() => withBackend(stage, (next) => openShown(next, session)))
    yield* checkFiles(stage.root, [])
    return shown?.entries.map(({ text }) => text)
  })

describe("a disk that hangs", () => {
  it.live(
    "in a commit of a run: the run's end is said, exit code 4 in time, and what was saved is there",
    () =>
      Effect.gen(function* () {
        const stage = yield* setting
        const saved = (backend: Built) => until("the disk to hang", () => hangs(backend))
        const backend = yield* Effect.promise(() => closeHanging(stage, "commit", saved))
        const last = backend.frames.findLast(({ event }) => event !== undefined)
        assert.strictEqual(last?.event, "run.finished")
        assert.deepInclude(last?.data, { status: "cancelled", persistence: "degraded" })
        assert.deepStrictEqual(yield* textsAfter(stage, backend), [GO_ON])
      }),
    30_000
  )

  it.live(
    "while the session is closed, after its run: exit code 4 in time, and all of it is there",
    () =>
      Effect.gen(function* () {
        const stage = yield* setting
        const finished = (backend: Built) => backend.frame("run.finished", ({ event }) => event === "run.finished")
        const backend = yield* Effect.promise(() => closeHanging(stage, "close", finished))
        assert.deepStrictEqual(yield* textsAfter(stage, backend), [GO_ON, "gone on"])
      }),
    30_000
  )
})
