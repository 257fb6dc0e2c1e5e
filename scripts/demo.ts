/** The run that pictures are made of: real tools, a real agent, the built-in model following a script. Needs a build. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const cli: string = fileURLToPath(new URL("../dist/cli.js", import.meta.url))

/** Tools that take their time, as real ones do. */
const tools = `
import { setTimeout } from "node:timers/promises"
const input_schema = { type: "object", properties: { query: { type: "string" }, ms: { type: "integer" } }, required: ["query"], additionalProperties: false }
const tool = (name, description, timeout_ms, answer) => ({
  name, description, input_schema, timeout_ms,
  execute: async ({ query, ms = 300 }, { signal }) => { await setTimeout(ms, undefined, { signal }); return answer(query) }
})
export default [
  tool("search_orders", "Search the orders of a customer.", 4000, (query) => ({ found: query.length })),
  tool("exchange_rate", "The rate of a currency.", 2000, () => ({ rate: 1.08 })),
  tool("stock_level", "How many of an article there are.", 2000, (query) => { if (query === "A-9") throw new Error("no such article"); return { left: 12 } })
]
`

const call = (name: string, query: string, ms: number) => ({ name: `client__${name}`, arguments: { query, ms } })
const script = (steps: ReadonlyArray<object>): string => `script:${JSON.stringify(steps)}`
const task = (...steps: ReadonlyArray<object>) => ({ mode: "standard", intent: script(steps) })

/** What the model does: several calls at a time, two subagents, one call that fails and one that is too slow. */
export const prompt: string = script([
  {
    text: "I look at the order and its articles.",
    calls: [
      call("search_orders", "Ada", 1100),
      call("stock_level", "A-1", 450),
      call("stock_level", "A-9", 700),
      call("exchange_rate", "EUR", 2600)
    ]
  },
  {
    calls: [
      {
        name: "subagents",
        arguments: {
          tasks: [
            task(
              { calls: [call("search_orders", "Grace", 1500), call("stock_level", "B-2", 500)] },
              { text: "two orders" }
            ),
            task(
              { calls: [call("search_orders", "Alan", 800)] },
              { calls: [call("exchange_rate", "GBP", 600)] },
              { text: "one" }
            )
          ]
        }
      }
    ]
  },
  { text: "Three orders are open. One article is unknown, and the rate of the euro did not come in time." }
])

const both = `const [orders, rate] = await Promise.all([
  tools.call("client__search_orders", { query: "Grace", ms: 1300 }),
  tools.call("client__exchange_rate", { query: "GBP", ms: 700 })
])
return { orders: orders.content, rate: rate.content }`

/** The same with a prompt as somebody would write it; the script is the offline model's, from its settings. */
export const story = {
  prompt: "Which orders are open, and what are they worth?",
  steps: [
    {
      text: "I look at the orders and the stock.",
      calls: [
        call("search_orders", "Ada", 1200),
        call("stock_level", "A-1", 500),
        call("stock_level", "A-9", 800),
        call("exchange_rate", "EUR", 2600)
      ]
    },
    { calls: [{ name: "code_mode", arguments: { code: both } }] },
    {
      text: "Three orders are open, worth 412 pounds.\nArticle A-9 is unknown, and the rate of the euro came too late."
    }
  ],
  /** Milliseconds that a recording of it may take. */
  mostMs: 30_000
}

/** Gives a folder with the tools in `tools.mjs`, and a home, to a function; takes it away afterwards. */
export const withDemo = async <A>(use: (folder: string, env: NodeJS.ProcessEnv) => A): Promise<Awaited<A>> => {
  const folder = mkdtempSync(join(tmpdir(), "magi-demo-"))
  try {
    writeFileSync(join(folder, "tools.mjs"), tools)
    return await use(folder, { ...process.env, MC_HOME: join(folder, "home") })
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The output of `magi-code run --json`. */
export const runDemo = (): Promise<string> =>
  withDemo((cwd, env) => {
    const args = [cli, "run", "--json", "--tools", "tools.mjs", prompt]
    const { status, stderr, stdout } = spawnSync(process.execPath, args, {
      cwd,
      env,
      encoding: "utf8",
      timeout: 60_000
    })
    if (status !== 0) throw new Error(`the run failed: ${stderr}`)
    return stdout
  })
