/**
 * `kill -9` of the whole backend at every point of a run: real pipes, the real store, a provider over HTTP. Whatever
 * was acknowledged is there, each call has one outcome, nothing is replayed, and the session goes on.
 * base-protocol section 5 (required appends); concurrency.md.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Place, places } from "./points.ts"
import { checkFiles, goOn } from "./support/checks.ts"
import { dieOpening, type Life, live, type Stage } from "./support/life.ts"
import { CLIENT_TOOLS } from "./support/model.ts"
import { setting } from "./support/setting.ts"
import { openShown, type Shown, withBackend } from "./support/shown.ts"

const MAX_POINTS = 100

/** Goes on with every session in one backend, and looks at them again in another one. */
const goOnWithAll = async (stage: Stage, lives: ReadonlyArray<Life>): Promise<ReadonlyArray<Life>> => {
  const shown = new Map<Life, Shown>()
  await withBackend(stage, async (backend) => {
    for (const life of lives) {
      const after = await goOn(stage, backend, life)
      if (after !== undefined) shown.set(life, after)
    }
    const replayed = backend.frames.filter(({ event }) => event === "client.tool.call")
    assert.deepStrictEqual(replayed, [], "no call is replayed")
  })
  await withBackend(stage, async (backend) => {
    for (const [life, before] of shown) {
      assert.deepStrictEqual(await openShown(backend, life.session), before, `${life.name}: in another backend`)
    }
  })
  return [...shown.keys()]
}

describe("kill -9", () => {
  it.live(
    "at every append, publishing and acceptance, and at the end: one outcome a call, nothing lost, nothing replayed",
    () =>
      Effect.gen(function* () {
        const stage = yield* setting
        /** A life for each time that the place is reached, and a whole one. */
        const livesOf = async (place: Place): Promise<ReadonlyArray<Life>> => {
          const lives: Array<Life> = []
          while (lives.length < MAX_POINTS) {
            const life = await live(stage, { place, nth: lives.length + 1 })
            lives.push(life)
            if (life.diedAt === undefined) return lives
          }
          throw new Error(`${place}: ${MAX_POINTS} deaths, and no end of them`)
        }
        const lives = yield* Effect.forEach(places, (place) => Effect.promise(() => livesOf(place)), { concurrency: 3 })
        const died = lives.map((all) => all.flatMap(({ diedAt }) => diedAt ?? []))
        const [saying = [], heard = [], written = [], committed = []] = died
        const frames = [...CLIENT_TOOLS.flatMap(() => ["client.tool.call", "accepted"]), "run.finished"]
        for (const points of [saying, heard]) assert.sameMembers(points, frames)
        // Prompt and answer, two responses, a start and an outcome for each of five calls; what waits together is one commit.
        for (const points of [written, committed]) assert.isAtLeast(points.length, 8)
        // One of them dies twice more while it is recovered: before that commit, and after it.
        const session = lives[places.indexOf("heard")]?.[0]?.session ?? ""
        for (const place of ["written", "committed"] as const) {
          yield* Effect.promise(() => dieOpening(stage, session, place))
        }
        const halves = [lives.slice(0, 2).flat(), lives.slice(2).flat()]
        const goOnWith = (all: ReadonlyArray<Life>) => Effect.promise(() => goOnWithAll(stage, all))
        const stored = yield* Effect.forEach(halves, goOnWith, { concurrency: 2 })
        yield* checkFiles(stage.root, stored.flat())
      }),
    240_000
  )
})
