/** `magi-code doctor`: what is wrong with this installation, and what to do. product section 1. */
import { Effect } from "effect"
import { UsageError } from "../help/errors.ts"
import { placeOf } from "../help/place.ts"
import type { Args } from "../help/readArgs.ts"
import { runEffect } from "../help/runEffect.ts"
import { err, out, plain } from "../help/Terminal.ts"
import {
  checkHome,
  checkNode,
  checkProviders,
  checkServers,
  checkSettings,
  checkStore,
  type Finding
} from "./checks.ts"

const marks = { ok: "ok   ", note: "note ", wrong: "WRONG" } as const

export const doctor = async (args: Args): Promise<number> => {
  if (args.words.length > 0) throw new UsageError("it takes no arguments")
  let wrong = 0
  const tell = ({ about, state, text, todo }: Finding): void => {
    if (state === "wrong") wrong += 1
    out(`${marks[state]}  ${about.padEnd(8)}  ${plain(text)}\n`)
    if (todo !== undefined) out(`${" ".repeat(17)}-> ${plain(todo)}\n`)
  }
  const place = placeOf(process.env)
  await runEffect(
    Effect.gen(function* () {
      tell(checkNode(process.versions.node))
      const home = checkHome(place.home)
      for (const finding of home) tell(finding)
      // A home that is not one's own is refused before anything in it is read: said once is enough.
      if (home.some(({ state }) => state === "wrong")) {
        return tell({
          about: "settings",
          state: "note",
          text: "not read, nor is anything else, until MC_HOME is right"
        })
      }
      const { findings, settings } = yield* checkSettings(place)
      for (const finding of findings) tell(finding)
      if (settings !== undefined) {
        for (const finding of checkProviders(settings)) tell(finding)
        for (const finding of yield* checkServers(settings)) tell(finding)
      }
      for (const finding of yield* checkStore(place.home)) tell(finding)
    })
  )
  err(wrong === 0 ? "nothing is wrong\n" : `${wrong} ${wrong === 1 ? "thing is" : "things are"} wrong\n`)
  return wrong === 0 ? 0 : 1
}
