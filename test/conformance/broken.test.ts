/**
 * product section 1, `conformance`: against a backend with one defect exactly the cases fail whose rule it breaks, and
 * they say what is wrong. The same cases pass through the same proxy without the defect.
 */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import type { CaseResult } from "../../src/conformance/index.ts"
import { cli } from "../process/support/Built.ts"
import { type DefectName, defects } from "./broken/defects.ts"

const proxy = fileURLToPath(new URL("broken/proxy.ts", import.meta.url))

const conformance = async (defect: DefectName, filter: string) => {
  const backend = [process.execPath, "--no-warnings", proxy, defect, process.execPath, cli, "serve", "--stdio"]
  const args = [cli, "conformance", "--json", "--filter", filter, "--", ...backend]
  const { status, stdout } = await new Promise<{ status: unknown; stdout: string }>((resolve) =>
    execFile(process.execPath, args, { timeout: 30_000 }, (error, stdout) =>
      resolve({ status: error === null ? 0 : error.code, stdout })
    )
  )
  const results = stdout.split("\n").flatMap((line): ReadonlyArray<CaseResult> => (line ? [JSON.parse(line)] : []))
  return { status, results }
}

interface Row {
  readonly defect: DefectName
  /** Cases that must fail, each with a part of what it must say. All others of the filter must pass. */
  readonly fails: { readonly [id: string]: string }
}

const filters: { readonly [filter: string]: ReadonlyArray<Row> } = {
  "framing.cr": [{ defect: "unknown-code", fails: { "framing.cr-no-separator": "unknown error code parse_error" } }],
  "framing.size": [
    {
      defect: "exit-code",
      fails: { "framing.size-over": "exit code 0, wanted 2", "framing.size-no-lf": "exit code 0, wanted 2" }
    },
    // The other two have ended before the end of their input.
    { defect: "process-left", fails: { "framing.size-at-bound": "processes left behind: " } }
  ],
  "lifecycle.e": [
    { defect: "not-compact", fails: { "lifecycle.eof": "white space between tokens" } },
    { defect: "sequence-repeated", fails: { "lifecycle.eof": "sequence 1, expected 2" } },
    { defect: "home-created-early", fails: { "lifecycle.eof-at-once": "MC_HOME: wanted [0,false], got [0,true]" } }
  ],
  "calls.event": [
    { defect: "argument-lost", fails: { "calls.event-shape": "arguments: wanted" } },
    { defect: "answer-behind-event", fails: { "calls.event-order": "order of turn.start's response" } },
    { defect: "run-finished-twice", fails: { "calls.event-order": "behind run.finished: wanted 0, got 1" } }
  ],
  "calls.s": [
    { defect: "seventeenth-call", fails: { "calls.sixteen": "events, pending calls: wanted [16,16], got [17,16]" } }
  ],
  "results.re": [
    { defect: "stale-accepted", fails: { "results.repeat": "wanted stale_client_tool_call, got success" } }
  ],
  "history-": [{ defect: "arguments-in-activity", fails: { "results.history-clean": "frames that hold raw values" } }],
  "cancel.t": [
    {
      defect: "cancel-swallowed",
      fails: {
        "cancel.turn": "data of the notice: wanted",
        "cancel.twice": "notices: wanted 1, got 0",
        "cancel.timeout": "event client.tool.cancel: nothing within 3000 ms"
      }
    },
    { defect: "timeout-late", fails: { "cancel.timeout": "ms after the call" } }
  ]
}

it("every defect has its row", () => {
  const rows = Object.values(filters).flatMap((of) => of.map(({ defect }) => defect))
  assert.deepStrictEqual(["none", ...rows].sort(), Object.keys(defects).sort())
})

describe.concurrent("a broken backend", { timeout: 60_000 }, () => {
  for (const [filter, rows] of Object.entries(filters)) {
    it(`${filter}*: passes without a defect`, async () => {
      const { results, status } = await conformance("none", filter)
      assert.deepStrictEqual(
        results.filter((one) => one.status !== "passed"),
        []
      )
      assert.isAbove(results.length, 1)
      assert.strictEqual(status, 0)
    })

    for (const { defect, fails } of rows) {
      it(`${defect}: ${filter}*`, async () => {
        const { results, status } = await conformance(defect, filter)
        const failed = results.filter((one) => one.status === "failed")
        assert.deepStrictEqual(failed.map(({ id }) => id).sort(), Object.keys(fails).sort())
        for (const { id, problems } of failed) assert.include(problems.join("\n"), String(fails[id]), id)
        assert.isBelow(failed.length, results.length, "others pass")
        assert.strictEqual(status, 1)
      })
    }
  }
})
